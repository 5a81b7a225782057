#pragma once
#include <sys/types.h>

#include <string>

#include "foundation/descriptor.hpp"
#include "foundation/folder_identity.hpp"

namespace strider {

/// The folder in the target that holds everything a run makes. It is opened once; files are then opened and removed
/// below its descriptor, so that a path that leads elsewhere by now, a link or a mount in it reaches nothing outside.
/// All calls throw IoError.
class RunFolder {
 public:
  enum class Marker {
    required,  ///< the folder holds the marker of its run, which `strider run` puts there
    data_set,  ///< the folder holds the marker of a data set, of which the id is given in place of a run
    unknown,   ///< it may be any directory, as for an engine that was started by hand
    foreign,   ///< it may be any directory, and no link in it is followed, since it has files of others
  };

  /// Does not open it yet: what is wrong with it ends a case, not the run.
  RunFolder(std::string path, std::string run, Marker marker, FolderIdentity identity = {});
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::string& path() const { return path_; }
  /// Opens the folder if it is closed, else compares: its path has to lead to the same directory still.
  void check();
  /// Lets go of the directory, so that its file system can be unmounted; the next call opens it again.
  void release() { descriptor_ = {}; }

  /// As open(2); `path` begins with the folder's own. Symbolic links inside are followed, but neither out of the folder
  /// nor across mounts.
  Descriptor open(const std::string& path, int flags, mode_t mode = 0);
  /// Removes a file; one that is not there is gone already.
  void remove(const std::string& path);
  /// Before a file is written, also by libraries that open it by its path: throws IoError where a link, a mount or a
  /// file of another name or user stands in its place. A file that is not there yet is right.
  void require_own_file(const std::string& path);

  /// Whether the kernel refuses to leave a directory while it follows a path (openat2, Linux 5.6).
  static bool kernel_keeps_beneath();

 private:
  const char* relative(const std::string& path) const;
  Descriptor open_beneath(int directory, const char* path, int flags, mode_t mode) const;
  void require_marker(int directory) const;
  void require_identity(int directory) const;
  int descriptor();

  std::string path_, run_;
  Marker marker_;
  FolderIdentity identity_;
  Descriptor descriptor_;
};

/// Opens below a folder, or wherever the path leads where there is none. Throws IoError.
OpenFile open_file(RunFolder* folder, const std::string& path, int flags, mode_t mode = 0);

/// Removes a file, below a folder where there is one; a file that is not there is gone already. Throws IoError.
void remove_file(RunFolder* folder, const std::string& path);

}  // namespace strider
