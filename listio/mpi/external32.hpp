#pragma once
#include <cstdint>
#include <memory>

#include "listio/mpi/access.hpp"
#include "listio/mpi/below.hpp"

namespace strider::listio::mpi {

/// The values of one element of a datatype, for the data representation external32: there the bytes of each value are
/// in big-endian order. Failure with MPI_ERR_CONVERSION for values that external32 has in another length or format than
/// memory, such as MPI_LONG.
std::shared_ptr<const Values> values_of(MPI_Datatype type);

/// As `move`, of a task whose data are external32 in the file. A copy of them takes as much memory as they do.
Outcome move_converted(const std::shared_ptr<OpenFile>& file, const Task& task, std::int64_t& moved);

}  // namespace strider::listio::mpi
