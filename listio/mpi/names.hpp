#pragma once
#include "listio/mpi/below.hpp"

/// What programs call.
#define STRIDER_MPI_EXPORT __attribute__((visibility("default")))

/// The same function under MPI's second prefix.
#define STRIDER_MPI_ALIAS(name) \
  STRIDER_MPI_EXPORT extern __typeof__(MPI_##name) PMPI_##name __attribute__((alias("MPI_" #name)));
