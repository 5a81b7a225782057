#pragma once
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "listio/mpi/below.hpp"
#include "listio/mpi/connection.hpp"
#include "listio/mpi/hints.hpp"
#include "listio/mpi/ranks.hpp"
#include "listio/mpi/shared_pointer.hpp"
#include "listio/mpi/window.hpp"

namespace strider::listio::mpi {

class SplitAccess;
class NonblockingAccess;

/// A file of a volume that a program has opened. The program holds the handle of its carrier: a file of the MPI below,
/// on /dev/null, so that handlers of errors and conversions of handles work as they do for any file.
struct OpenFile {
  std::string name;  ///< in the volume
  int mode = 0;      ///< MPI_MODE_…
  Hints hints;
  std::shared_ptr<Connection> connection;
  std::unique_ptr<Ranks> ranks;
  File file;
  MPI_File carrier = MPI_FILE_NULL;
  SharedPointer shared;

  std::mutex mutex;  ///< of what follows
  std::shared_ptr<const View> view;
  MPI_Datatype etype = MPI_BYTE, filetype = MPI_BYTE;
  std::string representation = "native";  ///< of data in the file; or external32
  std::int64_t position = 0;              ///< the individual file pointer, in etypes of the view
  bool atomic = false;
  std::shared_ptr<SplitAccess> split;                       ///< begun and not ended
  std::list<std::shared_ptr<NonblockingAccess>> in_flight;  ///< those that progress when the program asks for them

  std::shared_ptr<const View> current_view() {
    const std::scoped_lock lock(mutex);
    return view;
  }
  bool is_external32() {
    const std::scoped_lock lock(mutex);
    return representation == "external32";
  }
  bool is_atomic() {
    const std::scoped_lock lock(mutex);
    return atomic;
  }
  std::int64_t size() {
    return connection->use([&](Client& client) { return static_cast<std::int64_t>(client.size(file)); });
  }
};

/// The name in a volume that a file name of a program stands for, if it begins with "listio:".
std::optional<std::string> name_in_volume(const char* file_name);

/// Collective over `communicator`. Failure, and what Client throws, on all ranks.
std::shared_ptr<OpenFile> open_file(MPI_Comm communicator, const std::string& name, int mode, MPI_Info info);
/// Collective. Ends pending accesses. The carrier is left to the caller.
Outcome close_file(OpenFile& file);
void delete_file(const std::string& name, MPI_Info info);

// Collective, all of them.
Outcome set_size(OpenFile& file, std::int64_t bytes);
Outcome preallocate(OpenFile& file, std::int64_t bytes);
Outcome sync(OpenFile& file);
Outcome set_atomicity(OpenFile& file, bool atomic);
Outcome set_info(OpenFile& file, MPI_Info info);

/// Progress of nonblocking access, for the hint `listio_progress`.
const char* progress_of_requests();

}  // namespace strider::listio::mpi
