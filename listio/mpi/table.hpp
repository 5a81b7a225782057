#pragma once
#include <memory>
#include <vector>

#include "listio/mpi/below.hpp"
#include "listio/mpi/file.hpp"

namespace strider::listio::mpi {

/// The open file that a handle carries, or nothing for a file of another file system. Costs next to nothing while no
/// file of a volume is open.
std::shared_ptr<OpenFile> find(MPI_File handle);
void add(std::shared_ptr<OpenFile> file);
/// What `find` finds no more.
void remove(MPI_File handle);
/// All that are there; none is found any more.
std::vector<std::shared_ptr<OpenFile>> remove_all();

}  // namespace strider::listio::mpi
