#pragma once
#include <string>

namespace strider {

/// The file of the list-I/O volume that a directory is in: listio-volume.json there or above. IoError if there is none;
/// `key` is the parameter that could name it.
std::string find_volume(const std::string& directory, const std::string& key);

/// Paths below the folder of a run, as names in the volume, which has no such folder: `folder`/a/b is "folder.a/b". So
/// there is nothing but what a case makes itself, and removes.
class VolumeNames {
 public:
  VolumeNames() = default;
  explicit VolumeNames(std::string directory);
  /// Of the directory (what all its names begin with), or of something below it.
  std::string operator()(const std::string& path) const;

 private:
  std::string directory_, prefix_;
};

}  // namespace strider
