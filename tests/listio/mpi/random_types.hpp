#pragma once
#include <mpi.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace strider::listio::mpi {

/// Makes trees of datatypes by all constructors of MPI, with plain and with large counts, over named types. Empty
/// types, negative lower bounds, holes and overlaps occur.
class RandomTypes {
 public:
  explicit RandomTypes(std::uint64_t seed) : engine_(seed) {}

  /// Committed; for the caller to free.
  MPI_Datatype make(int depth);
  /// How often each constructor was used, by name; those with large counts end in `_c`.
  const std::map<std::string, int>& used() const { return used_; }

 private:
  using Counts = std::vector<MPI_Count>;

  std::int64_t any(std::int64_t first, std::int64_t last);
  bool flip() { return any(0, 1) == 1; }
  MPI_Datatype leaf();
  MPI_Datatype child(int depth);
  bool choose_large(const char* name);

  MPI_Datatype contiguous(MPI_Datatype part);
  MPI_Datatype vector(MPI_Datatype part);
  MPI_Datatype hvector(MPI_Datatype part);
  MPI_Datatype indexed(MPI_Datatype part);
  MPI_Datatype hindexed(MPI_Datatype part);
  MPI_Datatype indexed_block(MPI_Datatype part);
  MPI_Datatype hindexed_block(MPI_Datatype part);
  MPI_Datatype structure(MPI_Datatype part);
  MPI_Datatype subarray(MPI_Datatype part);
  MPI_Datatype darray(MPI_Datatype part);
  MPI_Datatype resized(MPI_Datatype part);
  MPI_Datatype duplicate(MPI_Datatype part);

  Counts lengths(std::size_t count);
  Counts places(std::size_t count, std::int64_t unit);

  std::mt19937_64 engine_;
  std::map<std::string, int> used_;
};

/// Types that MPI defines, those with holes among them. MPI_Pack leaves out the padding of long doubles: none of them.
std::vector<MPI_Datatype> named_types();

}  // namespace strider::listio::mpi
