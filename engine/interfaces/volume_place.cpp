#include "interfaces/volume_place.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "foundation/error.hpp"

namespace strider {
namespace {

constexpr const char* volume_file = "listio-volume.json";

/// A file of another user could send the data of this run to servers of that user.
bool is_trusted(const std::string& file) {
  struct stat found{};
  return ::lstat(file.c_str(), &found) == 0 && S_ISREG(found.st_mode) &&
         (found.st_uid == ::geteuid() || found.st_uid == 0) && (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace

std::string find_volume(const std::string& directory, const std::string& key) {
  for (std::filesystem::path place = directory;; place = place.parent_path()) {
    if (const std::string file = place / volume_file; is_trusted(file)) return file;
    if (place == place.parent_path()) break;
  }
  throw IoError({"connect", directory, 0, 0, 0},
                "no list-I/O volume found: neither this directory nor one above it has a file " +
                    std::string(volume_file) + " that you or root own",
                "start a volume with strider listio serve DIR and choose a target in DIR, or set " + key);
}

VolumeNames::VolumeNames(std::string directory)
    : directory_(std::move(directory)), prefix_(std::filesystem::path(directory_).filename().string() + ".") {}

std::string VolumeNames::operator()(const std::string& path) const {
  if (path == directory_) return prefix_;
  return prefix_ + path.substr(directory_.size() + 1);
}

}  // namespace strider
