#pragma once
#include <cstdint>

#include "listio/mpi/below.hpp"
#include "listio/mpi/file.hpp"

namespace strider::listio::mpi {

/// Collective. Both file pointers are at 0 then.
Outcome set_view(OpenFile& file, std::int64_t displacement, MPI_Datatype etype, MPI_Datatype filetype,
                 const char* representation, MPI_Info info);
void get_view(OpenFile& file, MPI_Offset* displacement, MPI_Datatype* etype, MPI_Datatype* filetype,
              char* representation);
/// Gives back the types of the view.
void release_view(OpenFile& file);

/// Failure for a place before the begin of the view.
void seek(OpenFile& file, std::int64_t offset, int whence);
/// Collective.
Outcome seek_shared(OpenFile& file, std::int64_t offset, int whence);

}  // namespace strider::listio::mpi
