#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "listio/mpi/below.hpp"

namespace strider::listio::mpi {

/// Contiguous bytes of a datatype. `offset` counts from the address, or the place in the file, where the type is put;
/// it is negative for types with a negative lower bound.
struct TypeRun {
  std::int64_t offset = 0;
  std::int64_t length = 0;

  std::int64_t end() const { return offset + length; }
  bool operator==(const TypeRun&) const = default;
};

/// The bytes of one element of a datatype, in the order of its type map. Neighbours that touch are one run; no run is
/// empty. Takes 24 bytes a run.
struct FlatType {
  std::vector<TypeRun> runs;
  std::vector<std::int64_t> before;  ///< of each run: the bytes of data in the runs before it
  std::int64_t size = 0;             ///< bytes of data
  std::int64_t lower_bound = 0;
  std::int64_t extent = 0;  ///< distance between elements

  /// Whether elements that follow each other touch, so that any number of them is one run.
  bool is_dense() const { return runs.size() == 1 && runs.front().length == extent; }
  /// Whether elements that follow each other may have bytes among those of each other; only of types with data.
  bool is_interleaved() const { return runs.back().end() > extent + runs.front().offset; }
  /// Whether all offsets are 0 or more and never decrease: MPI's condition for a file type.
  bool is_ascending() const;
  /// Whether some byte is there twice, in one element or in neighbours: not allowed where data is written to. Only of
  /// types that are ascending.
  bool overlaps() const;
};

/// The runs of `type`, also of one that is not committed. They stay with the type, as an attribute: a second call finds
/// them. For any thread. InputError for a type that no constructor of MPI 4.0 makes, std::bad_alloc for more runs than
/// memory holds.
std::shared_ptr<const FlatType> flatten(MPI_Datatype type);

}  // namespace strider::listio::mpi
