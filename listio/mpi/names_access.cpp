// MPI's functions that move data: those on files of a volume are done here, all others by the MPI below.
#include "listio/mpi/below.hpp"
#include "listio/mpi/names.hpp"
#include "listio/mpi/request.hpp"
#include "listio/mpi/split.hpp"
#include "listio/mpi/table.hpp"

namespace strider::listio::mpi {
namespace {

using File = std::shared_ptr<OpenFile>;

/// Memory to write from is not changed.
Ask ask_of(Direction direction, Pointer pointer, std::int64_t offset, const void* memory, std::int64_t count,
           MPI_Datatype type) {
  return {direction, pointer, offset, const_cast<void*>(memory), count, type};
}

int blocking(const File& file, const Ask& ask, Participation participation, MPI_Status* status) {
  std::int64_t moved = 0;
  const Outcome outcome =
      participation == Participation::collective ? access_together(file, ask, moved) : access_alone(file, ask, moved);
  describe(status, moved);
  return raise(file->carrier, outcome);
}

int nonblocking(const File& file, const Ask& ask, Participation participation, MPI_Request* request) {
  return raise(file->carrier, NonblockingAccess::start(file, ask, participation, request));
}

int begin(const File& file, const Ask& ask) { return raise(file->carrier, SplitAccess::begin(file, ask)); }

int end(const File& file, Direction direction, Pointer pointer, MPI_Status* status) {
  std::int64_t moved = 0;
  const Outcome outcome = SplitAccess::end(*file, direction, pointer, moved);
  describe(status, moved);
  return raise(file->carrier, outcome);
}

/// Functions of MPI 4 that the MPI below, which is older, does not have: no program that is linked with it calls them.
template <typename Function, typename... Arguments>
int call_below(Function function, Arguments... arguments) {
  return function == nullptr ? MPI_ERR_UNSUPPORTED_OPERATION : function(arguments...);
}

}  // namespace
}  // namespace strider::listio::mpi

using namespace strider::listio::mpi;
using strider::Direction;

// Tables of functions.
// clang-format off

// With an offset, and without.
#define STRIDER_PARAMETER_offset MPI_Offset offset,
#define STRIDER_ARGUMENT_offset offset,
#define STRIDER_VALUE_offset offset
#define STRIDER_PARAMETER_none
#define STRIDER_ARGUMENT_none
#define STRIDER_VALUE_none 0

#define STRIDER_ASK(direction, pointer, At) \
  ask_of(Direction::direction, Pointer::pointer, STRIDER_VALUE_##At, memory, count, type)

#define STRIDER_BLOCKING(name, direction, Memory, Count, At, pointer, participation)                        \
  STRIDER_MPI_EXPORT int MPI_##name(MPI_File handle, STRIDER_PARAMETER_##At Memory memory, Count count,     \
                                    MPI_Datatype type, MPI_Status* status) {                                \
    if (const auto file = find(handle))                                                                     \
      return blocking(file, STRIDER_ASK(direction, pointer, At), Participation::participation, status);     \
    return call_below(below().name, handle, STRIDER_ARGUMENT_##At memory, count, type, status);             \
  }                                                                                                         \
  STRIDER_MPI_ALIAS(name)

#define STRIDER_NONBLOCKING(name, direction, Memory, Count, At, pointer, participation)                     \
  STRIDER_MPI_EXPORT int MPI_##name(MPI_File handle, STRIDER_PARAMETER_##At Memory memory, Count count,     \
                                    MPI_Datatype type, MPI_Request* request) {                              \
    if (const auto file = find(handle))                                                                     \
      return nonblocking(file, STRIDER_ASK(direction, pointer, At), Participation::participation, request); \
    return call_below(below().name, handle, STRIDER_ARGUMENT_##At memory, count, type, request);            \
  }                                                                                                         \
  STRIDER_MPI_ALIAS(name)

#define STRIDER_BEGIN(name, direction, Memory, Count, At, pointer)                                          \
  STRIDER_MPI_EXPORT int MPI_##name(MPI_File handle, STRIDER_PARAMETER_##At Memory memory, Count count,     \
                                    MPI_Datatype type) {                                                    \
    if (const auto file = find(handle)) return begin(file, STRIDER_ASK(direction, pointer, At));            \
    return call_below(below().name, handle, STRIDER_ARGUMENT_##At memory, count, type);                     \
  }                                                                                                         \
  STRIDER_MPI_ALIAS(name)

#define STRIDER_END(name, direction, Memory, pointer)                                                       \
  STRIDER_MPI_EXPORT int MPI_##name(MPI_File handle, Memory memory, MPI_Status* status) {                   \
    if (const auto file = find(handle)) return end(file, Direction::direction, Pointer::pointer, status);   \
    return below().name(handle, memory, status);                                                            \
  }                                                                                                         \
  STRIDER_MPI_ALIAS(name)

// `c`: nothing, or _c.
#define STRIDER_ACCESS(verb, Memory, Count, c)                                                              \
  STRIDER_BLOCKING(File_##verb##_at##c, verb, Memory, Count, offset, given, independent)                    \
  STRIDER_BLOCKING(File_##verb##_at_all##c, verb, Memory, Count, offset, given, collective)                 \
  STRIDER_BLOCKING(File_##verb##c, verb, Memory, Count, none, own, independent)                             \
  STRIDER_BLOCKING(File_##verb##_all##c, verb, Memory, Count, none, own, collective)                        \
  STRIDER_BLOCKING(File_##verb##_shared##c, verb, Memory, Count, none, shared, independent)                 \
  STRIDER_BLOCKING(File_##verb##_ordered##c, verb, Memory, Count, none, shared, collective)                 \
  STRIDER_NONBLOCKING(File_i##verb##_at##c, verb, Memory, Count, offset, given, independent)                \
  STRIDER_NONBLOCKING(File_i##verb##_at_all##c, verb, Memory, Count, offset, given, collective)             \
  STRIDER_NONBLOCKING(File_i##verb##c, verb, Memory, Count, none, own, independent)                         \
  STRIDER_NONBLOCKING(File_i##verb##_all##c, verb, Memory, Count, none, own, collective)                    \
  STRIDER_NONBLOCKING(File_i##verb##_shared##c, verb, Memory, Count, none, shared, independent)             \
  STRIDER_BEGIN(File_##verb##_at_all_begin##c, verb, Memory, Count, offset, given)                          \
  STRIDER_BEGIN(File_##verb##_all_begin##c, verb, Memory, Count, none, own)                                 \
  STRIDER_BEGIN(File_##verb##_ordered_begin##c, verb, Memory, Count, none, shared)

#define STRIDER_ENDS(verb, Memory)                                                                          \
  STRIDER_END(File_##verb##_at_all_end, verb, Memory, given)                                                \
  STRIDER_END(File_##verb##_all_end, verb, Memory, own)                                                     \
  STRIDER_END(File_##verb##_ordered_end, verb, Memory, shared)

extern "C" {

STRIDER_ACCESS(read, void*, int, )
STRIDER_ACCESS(write, const void*, int, )
STRIDER_ENDS(read, void*)
STRIDER_ENDS(write, const void*)
#if MPI_VERSION >= 4
STRIDER_ACCESS(read, void*, MPI_Count, _c)
STRIDER_ACCESS(write, const void*, MPI_Count, _c)
#endif

}  // extern "C"
// clang-format on
