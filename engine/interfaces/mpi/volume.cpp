#include "interfaces/mpi/volume.hpp"

#include <dlfcn.h>

#include "foundation/error.hpp"
#include "interfaces/mpi/error.hpp"

namespace strider {
namespace {

constexpr const char* remedy =
    "install libcrypto's headers (Debian package libssl-dev) and build the engine again, or start it with the "
    "variables that strider listio env prints";

}  // namespace

void connect_to_volume(MPI_Info hints, const std::string& directory) {
  using Connect = int (*)(MPI_Info);
  const auto connect = reinterpret_cast<Connect>(dlsym(RTLD_DEFAULT, "strider_listio_mpi_connect"));
  if (connect == nullptr)
    throw IoError({"connect", directory, 0, 0, 0},
                  "mpiio.prefix is listio:, but this engine is built without the MPI-IO layer over list-I/O volumes",
                  remedy);
  try {
    check_mpi(connect(hints), "connect", directory);
  } catch (const IoError& error) {
    throw IoError(error.details(), error.what(),
                  "check mpiio.volume, and by strider listio status DIR whether the servers of the volume answer");
  }
}

void require_served_by_layer(const Facts& facts, const std::string& name) {
  if (!facts.contains("hint.listio_layer"))
    throw IoError({"MPI_File_open", name, 0, 0, 0},
                  "the file was not opened by the MPI-IO layer over list-I/O volumes, but by the MPI library", remedy);
}

}  // namespace strider
