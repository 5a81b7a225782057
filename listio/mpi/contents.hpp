#pragma once
#include <cstdint>
#include <vector>

#include "listio/mpi/below.hpp"

namespace strider::listio::mpi {

/// The arguments of the constructor that made a datatype. Those of the constructors with large counts (`_c`) are where
/// the old ones have theirs: counts in `integers`, byte displacements in `addresses`.
class Contents {
 public:
  /// InputError if MPI does not decode the type.
  explicit Contents(MPI_Datatype type);
  ~Contents();
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;

  int combiner() const { return combiner_; }
  const std::vector<std::int64_t>& integers() const { return integers_; }
  const std::vector<std::int64_t>& addresses() const { return addresses_; }
  const std::vector<MPI_Datatype>& types() const { return types_; }

 private:
  void read_old(MPI_Datatype type, int integers, int addresses, int types);
#if MPI_VERSION >= 4
  void read_large(MPI_Datatype type, MPI_Count integers, MPI_Count addresses, MPI_Count counts, MPI_Count types);
  void place_large(const std::vector<MPI_Count>& counts);
#endif

  int combiner_ = 0;
  std::vector<std::int64_t> integers_, addresses_;
  std::vector<MPI_Datatype> types_;
};

/// Whether `combiner` is that of a type without contents: a named one, or one of Fortran's by precision.
bool is_basic(int combiner);

/// How a type was made, as MPI_Type_get_envelope says.
int combiner_of(MPI_Datatype type);

}  // namespace strider::listio::mpi
