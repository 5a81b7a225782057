#pragma once
#include <string>
#include <vector>

#include "foundation/descriptor.hpp"

namespace strider {

/// What the kernel's Landlock can do here.
struct LandlockSupport {
  int abi = 0;         ///< its version; 0: there is none
  std::string reason;  ///< why there is none
};

/// Asks the kernel. STRIDER_LANDLOCK_ABI in the environment makes it look older, for tests.
LandlockSupport landlock_support();

/// From this version on, shortening a file by its path is governed too.
constexpr int abi_with_truncate = 3;

/// Directories and files below which a process may write, make and remove. Reading is not governed.
class WriteRules {
 public:
  /// Throws IoError where the kernel refuses, as with no Landlock.
  explicit WriteRules(int abi);
  /// A path that must exist. Throws IoError.
  void allow(const std::string& path);
  /// An open directory or file. Throws IoError.
  void allow(int descriptor, const std::string& name);
  /// What programs need on every machine: the null device and its like, shared memory, terminals, devices of networks
  /// and accelerators that MPI libraries write to.
  void allow_devices();
  /// From here on, for this thread and all processes that it starts. Throws IoError.
  void enforce();

 private:
  unsigned long long handled_;
  Descriptor ruleset_;
};

}  // namespace strider
