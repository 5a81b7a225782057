#pragma once
#include <cstdint>
#include <string>

#include "foundation/descriptor.hpp"
#include "interfaces/interface.hpp"
#include "verify/examiner.hpp"

namespace strider {

/// Where the file system says that a file has holes.
class HoleMap {
 public:
  /// None where the kernel does not see the file as it is.
  HoleMap(const Capabilities& interface, const std::string& path);
  /// Whether there is no data from `begin` to `end`.
  bool is_hole(std::uint64_t begin, std::uint64_t end);
  /// Calls zeros that lie in a hole by this name.
  Mismatch explain(Mismatch mismatch);

 private:
  Descriptor file_;
  std::uint64_t asked_ = 0, data_ = 0;  ///< from the one to the other there is no data
};

}  // namespace strider
