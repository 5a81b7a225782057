#include "interfaces/mpi/handle.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "interfaces/mpi/error.hpp"
#include "interfaces/mpi/hints.hpp"
#include "interfaces/mpi/volume.hpp"
#include "interfaces/mpi_group.hpp"

namespace strider {
namespace {

int mode_of(const OpenRequest& request) {
  // Data sieving reads what is in the holes of a noncontiguous write.
  const int writing = request.shape.contiguous ? MPI_MODE_WRONLY : MPI_MODE_RDWR;
  const int access = request.access == Access::write  ? writing
                     : request.access == Access::read ? MPI_MODE_RDONLY
                                                      : MPI_MODE_RDWR;
  return access | (request.creation == Creation::create ? MPI_MODE_CREATE : 0);
}

/// The driver that a text names before its colon, in small letters: "UFS: Generic ROMIO driver …", "ufs:/scratch/file".
std::string driver_before_colon(const std::string& text) {
  std::string driver = text.substr(0, text.find(':'));
  if (driver.size() == text.size() || driver.find('/') != std::string::npos) return "";
  std::ranges::transform(driver, driver.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return driver;
}

}  // namespace

MpiHandle::MpiHandle(const OpenRequest& request, std::string name, MpiOptions options, MPI_Info hints)
    : name_(std::move(name)), path_(request.path), options_(options), place_(request.place) {
  check_mpi(MPI_File_open(request.group->communicator, name_.c_str(), mode_of(request), hints, &file_), "MPI_File_open",
            name_);
  try {
    if (name_.starts_with(volume_prefix)) require_served_by_layer(hints_in_force(file_), name_);
    prepare(request);
  } catch (...) {
    MPI_File_close(&file_);
    throw;
  }
}

MpiHandle::~MpiHandle() {
  if (file_ != MPI_FILE_NULL) MPI_File_close(&file_);
}

void MpiHandle::prepare(const OpenRequest& request) {
  if (options_.preallocation == Preallocation::yes && request.creation == Creation::create) preallocate(request);
  // ROMIO's data sieving and collective buffering write whatever their buffers held into holes beyond the file's end.
  if (request.verified && request.creation == Creation::create)
    check_mpi(MPI_File_set_size(file_, static_cast<MPI_Offset>(request.file_size)), "MPI_File_set_size", name_);
  if (options_.atomicity == Atomicity::yes)
    check_mpi(MPI_File_set_atomicity(file_, 1), "MPI_File_set_atomicity", name_);
  lists_ = !request.shape.contiguous && options_.method != Method::multiple;
  size_tells_ = lists_ || options_.participation == Participation::collective || options_.atomicity == Atomicity::yes;
  if (lists_ && options_.method == Method::view && request.shape.regular) view_all(request.regular);
}

/// ROMIO writes by one rank and reports an error there alone: all have to leave, since what follows is collective.
void MpiHandle::preallocate(const OpenRequest& request) {
  const int code = MPI_File_preallocate(file_, static_cast<MPI_Offset>(request.file_size));
  int failed = code == MPI_SUCCESS ? 0 : 1;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, request.group->communicator);
  check_mpi(code, "MPI_File_preallocate", name_);
  if (failed != 0)
    throw IoError({"MPI_File_preallocate", name_, 0, request.file_size, 0}, "the call failed on another rank");
}

void MpiHandle::sync() { check_mpi(MPI_File_sync(file_), "MPI_File_sync", name_); }

std::uint64_t MpiHandle::size() const {
  MPI_Offset size = 0;
  check_mpi(MPI_File_get_size(file_, &size), "MPI_File_get_size", name_);
  return static_cast<std::uint64_t>(size);
}

void MpiHandle::check_end(const char* call, const Piece& piece) {
  if (!size_tells_ || piece.end <= known_size_) return;
  known_size_ = size();
  if (piece.end > known_size_)
    throw IoError({call, name_, piece.file_offset, piece.end - piece.file_offset, 0},
                  "the file ends at " + std::to_string(known_size_));
}

void MpiHandle::close() {
  const int code = MPI_File_close(&file_);
  file_ = MPI_FILE_NULL;
  check_mpi(code, "MPI_File_close", name_);
}

void MpiHandle::release_locks() const { Descriptor(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)).close(); }

Facts MpiHandle::facts() const {
  Facts facts = hints_in_force(file_);
  std::string driver = driver_before_colon(name_);
  if (const auto reported = facts.find("hint.romio_filesystem_type"); driver.empty() && reported != facts.end())
    driver = driver_before_colon(reported->second);
  if (!driver.empty()) facts["driver"] = driver;
  // Of a list-I/O volume, as the interface listio says it.
  if (const auto carried = facts.find("hint.listio_transport"); carried != facts.end())
    facts["transport"] = carried->second;
  return facts;
}

Piece MpiHandle::piece_of(const Extent& extent, std::byte* memory) {
  return {.offset = static_cast<MPI_Offset>(extent.file_offset),
          .memory = memory + extent.memory_offset,
          .count = static_cast<int>(extent.length),
          .file_offset = extent.file_offset,
          .bytes = extent.length,
          .end = extent.file_offset + extent.length};
}

Piece MpiHandle::piece_of(const Request& request, std::optional<ExtentType>& memory_type) {
  if (view_bytes_ == 0) view_request(request);
  if (request.extents.empty()) return {};
  Piece piece;
  if (view_bytes_ > 0) piece.offset = static_cast<MPI_Offset>(request.number * view_bytes_);
  piece.file_offset = request.extents[0].file_offset;
  piece.bytes = bytes_of(request.extents);
  piece.end = request.extents.back().file_offset + request.extents.back().length;
  if (is_dense(request.extents, Side::memory)) {
    piece.memory = request.memory + request.extents[0].memory_offset;
    piece.count = static_cast<int>(piece.bytes);
    return piece;
  }
  memory_type.emplace(request.extents, Side::memory);
  piece.memory = request.memory;
  piece.count = 1;
  piece.type = memory_type->get();
  return piece;
}

void MpiHandle::go_to(const Piece& piece) {
  if (options_.pointer == Pointer::ordered) return follow_order(piece);
  if (options_.pointer != Pointer::individual || piece.bytes == 0) return;
  if (position_ != piece.offset) check_mpi(MPI_File_seek(file_, piece.offset, MPI_SEEK_SET), "MPI_File_seek", name_);
  position_ = piece.offset + static_cast<MPI_Offset>(piece.bytes);
}

/// Ordered transfers of equal size take turns through the file; what is wanted elsewhere would go astray in silence.
void MpiHandle::follow_order(const Piece& piece) {
  if (piece.bytes == 0) return;
  const auto mine = position_ + static_cast<MPI_Offset>(place_.rank * piece.bytes);
  if (mine != piece.offset)
    throw IoError({"MPI_File_write_ordered", name_, piece.file_offset, piece.bytes, 0},
                  "the shared file pointer is at offset " + std::to_string(mine) + ", not at this request's offset");
  position_ += static_cast<MPI_Offset>(place_.ranks * piece.bytes);
}

void MpiHandle::view_all(const RegularRequests& regular) {
  const ExtentType once(regular.first, Side::file);
  const ResizedType repeated(once.get(), regular.shift);
  set_view(repeated.get());
  view_bytes_ = bytes_of(regular.first);
}

/// Collective over the group, like every change of the view.
void MpiHandle::view_request(const Request& request) {
  if (request.extents.empty()) return set_view(MPI_BYTE);
  const ExtentType type(request.extents, Side::file);
  set_view(type.get());
}

void MpiHandle::set_view(MPI_Datatype type) {
  position_ = 0;
  check_mpi(MPI_File_set_view(file_, 0, MPI_BYTE, type, "native", MPI_INFO_NULL), "MPI_File_set_view", name_);
}

std::uint64_t bytes_moved(MPI_Status& status) {
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  return static_cast<std::uint64_t>(count > 0 ? count : 0);
}

}  // namespace strider
