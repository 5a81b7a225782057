#include "listio/mpi/view.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "listio/mpi/below.hpp"
#include "listio/mpi/external32.hpp"

namespace strider::listio::mpi {
namespace {

constexpr const char* external32 = "external32";

bool is_named(MPI_Datatype type) {
  int combiner = MPI_COMBINER_NAMED;
#if MPI_VERSION >= 4
  if (below().Type_get_envelope_c != nullptr) {
    MPI_Count integers = 0, addresses = 0, counts = 0, types = 0;
    below().Type_get_envelope_c(type, &integers, &addresses, &counts, &types, &combiner);
    return combiner == MPI_COMBINER_NAMED;
  }
#endif
  int integers = 0, addresses = 0, types = 0;
  below().Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  return combiner == MPI_COMBINER_NAMED;
}

MPI_Datatype duplicate(MPI_Datatype type) {
  MPI_Datatype same = type;
  if (!is_named(type)) below().Type_dup(type, &same);
  return same;
}
void release(MPI_Datatype& type) {
  if (!is_named(type)) below().Type_free(&type);
  type = MPI_BYTE;
}

/// With the error class of ROMIO, which MPICH's tests require.
void check_filetype(const OpenFile& file, const FlatType& etype, const FlatType& filetype) {
  if (etype.size > 0 && filetype.size % etype.size != 0)
    throw Failure(MPI_ERR_IO, "the file type has " + std::to_string(filetype.size) +
                                  " bytes of data, which is no multiple of the elementary type's " +
                                  std::to_string(etype.size));
  if (filetype.size == 0) return;
  if (!filetype.is_ascending())
    throw Failure(MPI_ERR_IO, "the displacements of a file type must not be negative, and must not decrease");
  if ((file.mode & MPI_MODE_RDONLY) == 0 && filetype.overlaps())
    throw Failure(MPI_ERR_IO, "the file type has bytes that lie twice in the file, which is open for writing");
}

/// Failure for arguments that cannot be.
std::shared_ptr<const View> make_view(OpenFile& file, std::int64_t displacement, MPI_Datatype etype,
                                      MPI_Datatype filetype, const std::string& representation) {
  if (representation != "native" && representation != external32)
    throw Failure(MPI_ERR_UNSUPPORTED_DATAREP, "the data representation is neither \"native\" nor \"external32\"");
  if (etype == MPI_DATATYPE_NULL || filetype == MPI_DATATYPE_NULL)
    throw Failure(MPI_ERR_TYPE, "a type of the view is MPI_DATATYPE_NULL");
  const bool is_current = displacement == MPI_DISPLACEMENT_CURRENT;
  if ((file.mode & MPI_MODE_SEQUENTIAL) != 0) {
    if (!is_current)
      throw Failure(MPI_ERR_ARG, "the displacement of a sequential file has to be MPI_DISPLACEMENT_CURRENT");
    displacement = file.current_view()->byte_offset(file.shared.get());
  } else if (displacement < 0) {
    throw Failure(MPI_ERR_ARG, is_current ? "MPI_DISPLACEMENT_CURRENT is for sequential files only"
                                          : "the displacement is negative: " + std::to_string(displacement));
  }
  const auto elements = flatten(etype), data = flatten(filetype);
  check_filetype(file, *elements, *data);
  if (representation == external32) static_cast<void>(values_of(etype)), static_cast<void>(values_of(filetype));
  return std::make_shared<const View>(displacement, elements->size, data);
}

/// A place in the view, in etypes.
std::int64_t place_of(OpenFile& file, std::int64_t offset, int whence, std::int64_t now) {
  std::int64_t from = 0;
  if (whence == MPI_SEEK_CUR) from = now;
  else if (whence == MPI_SEEK_END) from = file.current_view()->etypes_at_or_after(file.size());
  else if (whence != MPI_SEEK_SET) throw Failure(MPI_ERR_ARG, "whence is none of MPI_SEEK_SET, _CUR and _END");
  std::int64_t place = 0;
  if (__builtin_add_overflow(from, offset, &place) || place < 0)
    throw Failure(MPI_ERR_ARG, "the place lies before the begin of the view");
  return place;
}

/// Brings the ranks together; whether all of them can have their views, and the hints of the first one.
Outcome agree_on(OpenFile& file, Outcome mine, std::int64_t etype_bytes, bool is_external32, Hints& hints) {
  std::array<std::int64_t, 3 + agreed_hints> words{mine.error_class, etype_bytes, is_external32 ? 1 : 0};
  std::ranges::copy(words_of(hints), words.begin() + 3);
  try {
    const auto all = file.ranks->gather(words);
    take_words(std::span(all).subspan<3, agreed_hints>(), hints);
    for (std::size_t at = 0; at < all.size(); at += words.size())
      if (all[at] != MPI_SUCCESS) mine.add({static_cast<int>(all[at]), "the call failed on another rank"});
    for (std::size_t at = 0; at < all.size(); at += words.size())
      if (all[at + 1] != all[1] || all[at + 2] != all[2])
        mine.add(
            {MPI_ERR_NOT_SAME, "the ranks give elementary types of different sizes, or different representations"});
  } catch (const Failure& failure) {
    mine.add({failure.error_class(), failure.what()});
  }
  return mine;
}

}  // namespace

Outcome set_view(OpenFile& file, std::int64_t displacement, MPI_Datatype etype, MPI_Datatype filetype, const char* name,
                 MPI_Info info) {
  const std::string representation = name == nullptr ? "" : name;
  std::shared_ptr<const View> view;
  Outcome outcome = outcome_of([&] { view = make_view(file, displacement, etype, filetype, representation); });
  Hints hints = file.hints;
  apply(info, hints);
  outcome = agree_on(file, outcome, view ? view->etype_bytes() : 0, representation == external32, hints);
  if (outcome.failed()) return outcome;
  const MPI_Datatype new_etype = duplicate(etype), new_filetype = duplicate(filetype);
  release_view(file);
  {
    const std::scoped_lock lock(file.mutex);
    file.view = std::move(view);
    file.etype = new_etype;
    file.filetype = new_filetype;
    file.representation = representation;
    file.position = 0;
    file.hints = std::move(hints);
  }
  if (file.ranks->is_first()) outcome = outcome_of([&] { file.shared.set(0); });
  return file.ranks->agree(outcome);
}

void get_view(OpenFile& file, MPI_Offset* displacement, MPI_Datatype* etype, MPI_Datatype* filetype,
              char* representation) {
  const std::scoped_lock lock(file.mutex);
  *displacement = file.view->displacement();
  *etype = duplicate(file.etype);
  *filetype = duplicate(file.filetype);
  std::strcpy(representation, file.representation.c_str());
}

void release_view(OpenFile& file) {
  release(file.etype);
  release(file.filetype);
}

void seek(OpenFile& file, std::int64_t offset, int whence) {
  if ((file.mode & MPI_MODE_SEQUENTIAL) != 0)
    throw Failure(MPI_ERR_UNSUPPORTED_OPERATION, "a file opened with MPI_MODE_SEQUENTIAL has no individual pointer");
  std::int64_t now = 0;
  {
    const std::scoped_lock lock(file.mutex);
    now = file.position;
  }
  const std::int64_t place = place_of(file, offset, whence, now);
  const std::scoped_lock lock(file.mutex);
  file.position = place;
}

Outcome seek_shared(OpenFile& file, std::int64_t offset, int whence) {
  const std::array<std::int64_t, 2> mine{offset, whence};
  Outcome outcome = outcome_of([&] {
    const auto all = file.ranks->gather(mine);
    for (std::size_t at = 0; at < all.size(); at += 2)
      if (all[at] != mine[0] || all[at + 1] != mine[1])
        throw Failure(MPI_ERR_ARG, "the ranks give different offsets or whences");
  });
  if (outcome.failed()) return outcome;
  if (file.ranks->is_first())
    outcome = outcome_of([&] {
      const std::int64_t now = whence == MPI_SEEK_CUR ? file.shared.get() : 0;
      file.shared.set(place_of(file, offset, whence, now));
    });
  return file.ranks->agree(outcome);
}

}  // namespace strider::listio::mpi
