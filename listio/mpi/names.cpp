// MPI's functions for files but for transfers: those on files of a volume are done here, all others by the MPI below.
// Under both prefixes, since Fortran and libraries call the one or the other.
#include "listio/mpi/names.hpp"

#include <cstdio>

#include "listio/mpi/below.hpp"
#include "listio/mpi/request.hpp"
#include "listio/mpi/table.hpp"
#include "listio/mpi/version.hpp"
#include "listio/mpi/view.hpp"

namespace strider::listio::mpi {
namespace {

/// Before MPI ends: files that the program has not closed, and all connections.
void end() {
  for (const auto& file : remove_all()) {
    std::fprintf(stderr, "strider-mpiio: listio:%s was not closed before MPI_Finalize\n", file->name.c_str());
    static_cast<void>(outcome_of([&] { finish_all(*file); }));
    below().File_close(&file->carrier);
  }
  disconnect_all();
}

int open(MPI_Comm communicator, const std::string& name, int mode, MPI_Info info, MPI_File* handle) {
  *handle = MPI_FILE_NULL;
  at_finalize(end);
  const Outcome outcome = outcome_of([&] {
    const auto file = open_file(communicator, name, mode, info);
    *handle = file->carrier;
    add(file);
  });
  return raise_without_file(outcome);
}

int close(OpenFile& file, MPI_File* handle) {
  const Outcome outcome = close_file(file);
  release_view(file);
  // The handler of errors goes with the carrier.
  const int code = raise(*handle, outcome);
  remove(*handle);
  const int closed = below().File_close(handle);
  return code != MPI_SUCCESS ? code : closed;
}

MPI_Info info_of(OpenFile& file) {
  Hints hints;
  {
    const std::scoped_lock lock(file.mutex);
    hints = file.hints;
  }
  auto all = in_force(hints, file.file.striping, file.ranks->count());
  all["listio_transport"] = file.connection->transport();
  all["listio_progress"] = progress_of_requests();
  return as_info(all);
}

}  // namespace
}  // namespace strider::listio::mpi

using namespace strider::listio::mpi;

extern "C" {

/// For programs that need to know whether the layer is there.
STRIDER_MPI_EXPORT const char* strider_listio_mpi_layer() { return layer_version; }

/// Connects to the volume of these hints now, not at the first open: for programs that measure what follows.
STRIDER_MPI_EXPORT int strider_listio_mpi_connect(MPI_Info info) {
  at_finalize(end);
  return raise_without_file(outcome_of([&] { connection_of(hints_of(info)); }));
}

STRIDER_MPI_EXPORT int MPI_File_open(MPI_Comm communicator, const char* name, int mode, MPI_Info info,
                                     MPI_File* handle) {
  if (const auto own = name_in_volume(name)) return open(communicator, *own, mode, info, handle);
  return below().File_open(communicator, name, mode, info, handle);
}
STRIDER_MPI_ALIAS(File_open)

STRIDER_MPI_EXPORT int MPI_File_close(MPI_File* handle) {
  if (const auto file = find(*handle)) return close(*file, handle);
  return below().File_close(handle);
}
STRIDER_MPI_ALIAS(File_close)

STRIDER_MPI_EXPORT int MPI_File_delete(const char* name, MPI_Info info) {
  const auto own = name_in_volume(name);
  if (!own) return below().File_delete(name, info);
  at_finalize(end);
  return raise_without_file(outcome_of([&] { delete_file(*own, info); }));
}
STRIDER_MPI_ALIAS(File_delete)

STRIDER_MPI_EXPORT int MPI_File_create_errhandler(MPI_File_errhandler_function* function, MPI_Errhandler* handler) {
  const int code = below().File_create_errhandler(function, handler);
  if (code == MPI_SUCCESS) remember_handler(*handler, function);
  return code;
}
STRIDER_MPI_ALIAS(File_create_errhandler)

STRIDER_MPI_EXPORT int MPI_Error_string(int code, char* text, int* length) {
  return describe_error(code, text, length);
}
STRIDER_MPI_ALIAS(Error_string)

// Collective ones: all have an outcome.

STRIDER_MPI_EXPORT int MPI_File_set_size(MPI_File handle, MPI_Offset bytes) {
  if (const auto file = find(handle)) return raise(handle, set_size(*file, bytes));
  return below().File_set_size(handle, bytes);
}
STRIDER_MPI_ALIAS(File_set_size)

STRIDER_MPI_EXPORT int MPI_File_preallocate(MPI_File handle, MPI_Offset bytes) {
  if (const auto file = find(handle)) return raise(handle, preallocate(*file, bytes));
  return below().File_preallocate(handle, bytes);
}
STRIDER_MPI_ALIAS(File_preallocate)

STRIDER_MPI_EXPORT int MPI_File_sync(MPI_File handle) {
  if (const auto file = find(handle)) return raise(handle, sync(*file));
  return below().File_sync(handle);
}
STRIDER_MPI_ALIAS(File_sync)

STRIDER_MPI_EXPORT int MPI_File_set_atomicity(MPI_File handle, int atomic) {
  if (const auto file = find(handle)) return raise(handle, set_atomicity(*file, atomic != 0));
  return below().File_set_atomicity(handle, atomic);
}
STRIDER_MPI_ALIAS(File_set_atomicity)

STRIDER_MPI_EXPORT int MPI_File_set_info(MPI_File handle, MPI_Info info) {
  if (const auto file = find(handle)) return raise(handle, set_info(*file, info));
  return below().File_set_info(handle, info);
}
STRIDER_MPI_ALIAS(File_set_info)

STRIDER_MPI_EXPORT int MPI_File_set_view(MPI_File handle, MPI_Offset displacement, MPI_Datatype etype,
                                         MPI_Datatype filetype, const char* representation, MPI_Info info) {
  if (const auto file = find(handle))
    return raise(handle, set_view(*file, displacement, etype, filetype, representation, info));
  return below().File_set_view(handle, displacement, etype, filetype, representation, info);
}
STRIDER_MPI_ALIAS(File_set_view)

STRIDER_MPI_EXPORT int MPI_File_seek_shared(MPI_File handle, MPI_Offset offset, int whence) {
  if (const auto file = find(handle)) return raise(handle, seek_shared(*file, offset, whence));
  return below().File_seek_shared(handle, offset, whence);
}
STRIDER_MPI_ALIAS(File_seek_shared)

// Those of a rank alone.

STRIDER_MPI_EXPORT int MPI_File_seek(MPI_File handle, MPI_Offset offset, int whence) {
  if (const auto file = find(handle)) return raise(handle, outcome_of([&] { seek(*file, offset, whence); }));
  return below().File_seek(handle, offset, whence);
}
STRIDER_MPI_ALIAS(File_seek)

STRIDER_MPI_EXPORT int MPI_File_get_size(MPI_File handle, MPI_Offset* bytes) {
  if (const auto file = find(handle)) return raise(handle, outcome_of([&] { *bytes = file->size(); }));
  return below().File_get_size(handle, bytes);
}
STRIDER_MPI_ALIAS(File_get_size)

STRIDER_MPI_EXPORT int MPI_File_get_group(MPI_File handle, MPI_Group* group) {
  if (const auto file = find(handle)) return below().Comm_group(file->ranks->communicator(), group);
  return below().File_get_group(handle, group);
}
STRIDER_MPI_ALIAS(File_get_group)

STRIDER_MPI_EXPORT int MPI_File_get_amode(MPI_File handle, int* mode) {
  const auto file = find(handle);
  if (!file) return below().File_get_amode(handle, mode);
  *mode = file->mode;
  return MPI_SUCCESS;
}
STRIDER_MPI_ALIAS(File_get_amode)

STRIDER_MPI_EXPORT int MPI_File_get_info(MPI_File handle, MPI_Info* info) {
  const auto file = find(handle);
  if (!file) return below().File_get_info(handle, info);
  *info = info_of(*file);
  return MPI_SUCCESS;
}
STRIDER_MPI_ALIAS(File_get_info)

STRIDER_MPI_EXPORT int MPI_File_get_view(MPI_File handle, MPI_Offset* displacement, MPI_Datatype* etype,
                                         MPI_Datatype* filetype, char* representation) {
  const auto file = find(handle);
  if (!file) return below().File_get_view(handle, displacement, etype, filetype, representation);
  get_view(*file, displacement, etype, filetype, representation);
  return MPI_SUCCESS;
}
STRIDER_MPI_ALIAS(File_get_view)

STRIDER_MPI_EXPORT int MPI_File_get_position(MPI_File handle, MPI_Offset* offset) {
  const auto file = find(handle);
  if (!file) return below().File_get_position(handle, offset);
  const std::scoped_lock lock(file->mutex);
  *offset = file->position;
  return MPI_SUCCESS;
}
STRIDER_MPI_ALIAS(File_get_position)

STRIDER_MPI_EXPORT int MPI_File_get_position_shared(MPI_File handle, MPI_Offset* offset) {
  if (const auto file = find(handle)) return raise(handle, outcome_of([&] { *offset = file->shared.get(); }));
  return below().File_get_position_shared(handle, offset);
}
STRIDER_MPI_ALIAS(File_get_position_shared)

STRIDER_MPI_EXPORT int MPI_File_get_byte_offset(MPI_File handle, MPI_Offset offset, MPI_Offset* byte) {
  const auto file = find(handle);
  if (!file) return below().File_get_byte_offset(handle, offset, byte);
  return raise(handle, outcome_of([&] {
                 if (offset < 0) throw Failure(MPI_ERR_ARG, "the offset is negative");
                 *byte = file->current_view()->byte_offset(offset);
               }));
}
STRIDER_MPI_ALIAS(File_get_byte_offset)

STRIDER_MPI_EXPORT int MPI_File_get_atomicity(MPI_File handle, int* atomic) {
  const auto file = find(handle);
  if (!file) return below().File_get_atomicity(handle, atomic);
  *atomic = file->is_atomic() ? 1 : 0;
  return MPI_SUCCESS;
}
STRIDER_MPI_ALIAS(File_get_atomicity)

}  // extern "C"
