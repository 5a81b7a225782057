#pragma once
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "faults.hpp"
#include "parking.hpp"
#include "tree.hpp"

namespace forgetfs {

/// The cache of files in memory above this file system.
enum class Caching {
  write_through,  ///< the kernel, which hands each write on at once
  write_back,     ///< the kernel, which hands writes on when it likes
  none            ///< none (FOPEN_DIRECT_IO): each call of a program is one here, and O_SYNC is ours to keep
};

struct Options {
  std::string mount, socket;
  Caching caching = Caching::write_through;
  NameSync name_sync = NameSync::with_file;
};

/// A line of the log: a call of the kernel, or a mark of the test.
struct Event {
  std::string op, path;
  std::uint64_t offset = 0, length = 0;
  int flags = 0;
  pid_t process = 0;
  std::string fault;
  bool stable = false;  ///< the data was on the disk when the call ended, by its own flags
};

/// All there is. Everything but `parking` is used with `mutex` held.
struct Store {
  explicit Store(const Options& wanted) : options(wanted), tree(wanted.name_sync) {}

  std::mutex mutex;
  const Options options;
  Tree tree;
  Faults faults;
  std::vector<Event> events;
  std::string snapshots;  ///< folder for images of the disk after each sync; empty: none are kept
  std::uint64_t snapshots_made = 0;
  std::uint64_t snapshots_every = 1;  ///< keeps the images of each so many-th sync only
  bool snapshots_in_part = false;     ///< a third image: of a power cut of a single folder of the second level
  Kept frozen;                        ///< files to restore
  bool power_is_off = false;          ///< data that the kernel still hands on is lost
  fuse_session* session = nullptr;
  Parking parking;
};

/// The file system's calls; their user data is the store.
const fuse_lowlevel_ops& operations();

/// Power cut: waiting calls fail, unstable data is lost, and the kernel drops its caches.
void cut_power(Store& store, std::uint64_t unit, std::uint64_t seed);
/// On request, keeps two images of the disk after a sync: N, the state after a power cut now, and
/// N-torn, where units of 512 bytes of unsynced writes have landed or not, and all unsynced names of a folder of the
/// second level or none. The third one, N-part, is for power cuts of a single folder of the second level.
void take_snapshot(Store& store);
/// Undoes changes of the frozen folder since, and has the kernel forget it; with `cut`, its power fails too.
void thaw(Store& store, bool cut);
/// Writes an image of the whole tree to a folder of this machine; false where that cannot be done.
bool dump(Store& store, bool disk, const std::string& folder);

}  // namespace forgetfs
