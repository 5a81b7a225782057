#pragma once
#include <cstdint>
#include <string>

#include "foundation/descriptor.hpp"

namespace strider::listio {

/// Where a server may begin: anywhere, or only where it has kept something before.
enum class Folder { any, existing };

/// The folder in which a server keeps everything: made, locked and labelled on first use; afterwards only good for the
/// same server of a volume of as many servers. The lock lasts as long as the object.
class ServerFolder {
 public:
  /// `directory`/server-NUMBER. InputError if it cannot be made or read, belongs to another volume, or another server
  /// uses it; or if it is to exist and does not.
  ServerFolder(const std::string& directory, std::uint32_t number, std::uint32_t servers, Folder folder);
  int descriptor() const { return folder_.get(); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  Descriptor folder_, label_;
};

}  // namespace strider::listio
