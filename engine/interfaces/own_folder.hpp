#pragma once
#include <string>

namespace strider {

/// An interface that makes the run's folder in its storage when it connects, where no mount shows the one of the
/// target.
class OwnFolder {
 public:
  virtual ~OwnFolder() = default;
  /// Removes it again, if it was made. One rank calls this, when the last one is done. Throws IoError.
  virtual void remove_own_folder(const std::string& directory) = 0;
};

}  // namespace strider
