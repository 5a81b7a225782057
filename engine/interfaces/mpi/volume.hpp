#pragma once
#include <mpi.h>

#include <string>

#include "interfaces/interface.hpp"

namespace strider {

/// The prefix of files of a list-I/O volume.
inline constexpr const char* volume_prefix = "listio:";

/// Connects to the volume that the hints name. IoError also where the layer that serves such files is not in this
/// process: without it some MPI libraries would make a local file of this name.
void connect_to_volume(MPI_Info hints, const std::string& directory);
/// IoError where an open file says that no layer serves it.
void require_served_by_layer(const Facts& facts, const std::string& name);

}  // namespace strider
