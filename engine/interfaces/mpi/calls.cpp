#include "interfaces/mpi/calls.hpp"

#include <stdexcept>

namespace strider {
namespace {

template <auto function, typename... Last>
int at_offset(MPI_File file, MPI_Offset offset, void* memory, int count, MPI_Datatype type, Last... last) {
  return function(file, offset, memory, count, type, last...);
}
template <auto function, typename... Last>
int at_pointer(MPI_File file, MPI_Offset, void* memory, int count, MPI_Datatype type, Last... last) {
  return function(file, memory, count, type, last...);
}
template <auto function>
int ending(MPI_File file, void* memory, MPI_Status* status) {
  return function(file, memory, status);
}

/// The calls of a form, by direction.
template <typename Call>
struct Pair {
  Call read, write;
  const Call& of(Direction direction) const { return direction == Direction::read ? read : write; }
};

constexpr Pair<BlockingCall> at_own_offset{{"MPI_File_read_at", at_offset<MPI_File_read_at>},
                                           {"MPI_File_write_at", at_offset<MPI_File_write_at>}};
constexpr Pair<BlockingCall> at_offset_together{{"MPI_File_read_at_all", at_offset<MPI_File_read_at_all>},
                                                {"MPI_File_write_at_all", at_offset<MPI_File_write_at_all>}};
constexpr Pair<BlockingCall> at_own_pointer{{"MPI_File_read", at_pointer<MPI_File_read>},
                                            {"MPI_File_write", at_pointer<MPI_File_write>}};
constexpr Pair<BlockingCall> at_own_pointer_together{{"MPI_File_read_all", at_pointer<MPI_File_read_all>},
                                                     {"MPI_File_write_all", at_pointer<MPI_File_write_all>}};
constexpr Pair<BlockingCall> at_shared_pointer{{"MPI_File_read_shared", at_pointer<MPI_File_read_shared>},
                                               {"MPI_File_write_shared", at_pointer<MPI_File_write_shared>}};
constexpr Pair<BlockingCall> at_shared_pointer_in_order{{"MPI_File_read_ordered", at_pointer<MPI_File_read_ordered>},
                                                        {"MPI_File_write_ordered", at_pointer<MPI_File_write_ordered>}};

constexpr Pair<NonblockingCall> start_at_own_offset{{"MPI_File_iread_at", at_offset<MPI_File_iread_at>},
                                                    {"MPI_File_iwrite_at", at_offset<MPI_File_iwrite_at>}};
constexpr Pair<NonblockingCall> start_at_offset_together{{"MPI_File_iread_at_all", at_offset<MPI_File_iread_at_all>},
                                                         {"MPI_File_iwrite_at_all", at_offset<MPI_File_iwrite_at_all>}};
constexpr Pair<NonblockingCall> start_at_own_pointer{{"MPI_File_iread", at_pointer<MPI_File_iread>},
                                                     {"MPI_File_iwrite", at_pointer<MPI_File_iwrite>}};
constexpr Pair<NonblockingCall> start_at_own_pointer_together{{"MPI_File_iread_all", at_pointer<MPI_File_iread_all>},
                                                              {"MPI_File_iwrite_all", at_pointer<MPI_File_iwrite_all>}};
constexpr Pair<NonblockingCall> start_at_shared_pointer{{"MPI_File_iread_shared", at_pointer<MPI_File_iread_shared>},
                                                        {"MPI_File_iwrite_shared", at_pointer<MPI_File_iwrite_shared>}};

constexpr Pair<SplitCall> split_at_offset{
    {"MPI_File_read_at_all", at_offset<MPI_File_read_at_all_begin>, ending<MPI_File_read_at_all_end>},
    {"MPI_File_write_at_all", at_offset<MPI_File_write_at_all_begin>, ending<MPI_File_write_at_all_end>}};
constexpr Pair<SplitCall> split_at_own_pointer{
    {"MPI_File_read_all", at_pointer<MPI_File_read_all_begin>, ending<MPI_File_read_all_end>},
    {"MPI_File_write_all", at_pointer<MPI_File_write_all_begin>, ending<MPI_File_write_all_end>}};
constexpr Pair<SplitCall> split_in_order{
    {"MPI_File_read_ordered", at_pointer<MPI_File_read_ordered_begin>, ending<MPI_File_read_ordered_end>},
    {"MPI_File_write_ordered", at_pointer<MPI_File_write_ordered_begin>, ending<MPI_File_write_ordered_end>}};

}  // namespace

BlockingCall blocking_call(Direction direction, Pointer pointer, Participation participation) {
  const bool together = participation == Participation::collective;
  switch (pointer) {
    case Pointer::none: return (together ? at_offset_together : at_own_offset).of(direction);
    case Pointer::individual: return (together ? at_own_pointer_together : at_own_pointer).of(direction);
    case Pointer::shared: return at_shared_pointer.of(direction);
    case Pointer::ordered: return at_shared_pointer_in_order.of(direction);
  }
  throw std::logic_error("no such pointer");
}

NonblockingCall nonblocking_call(Direction direction, Pointer pointer, Participation participation) {
  const bool together = participation == Participation::collective;
  switch (pointer) {
    case Pointer::none: return (together ? start_at_offset_together : start_at_own_offset).of(direction);
    case Pointer::individual: return (together ? start_at_own_pointer_together : start_at_own_pointer).of(direction);
    case Pointer::shared: return start_at_shared_pointer.of(direction);
    case Pointer::ordered: break;
  }
  throw std::logic_error("MPI has no nonblocking ordered transfers");
}

SplitCall split_call(Direction direction, Pointer pointer) {
  switch (pointer) {
    case Pointer::none: return split_at_offset.of(direction);
    case Pointer::individual: return split_at_own_pointer.of(direction);
    case Pointer::ordered: return split_in_order.of(direction);
    case Pointer::shared: break;
  }
  throw std::logic_error("split transfers are collective");
}

}  // namespace strider
