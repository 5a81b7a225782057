#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "foundation/run_folder.hpp"
#include "measure/ceiling.hpp"

namespace strider {

struct DeviceStreamOptions {
  std::string path;             ///< of the file that is made, and removed again
  RunFolder* folder = nullptr;  ///< in which the file is
  double seconds = 0;           ///< for each direction
  /// So many streams may write to the same storage at once: they share what may be taken of the free space.
  std::size_t sharers = 1;
  /// Asked between requests; false ends the measurement early.
  std::function<bool()> go_on;
};

/// What storage does with one file that is written and read from end to end, a few requests in flight.
struct DeviceStream {
  Ceiling write, read;
};

/// Writes a temporary file by direct I/O and reads it back; where the file system does not take direct I/O, writes it
/// with a final fsync, and reads it after its pages were dropped. What cannot be measured says why in `about`. Leaves
/// nothing behind.
DeviceStream measure_device(const DeviceStreamOptions& options);

}  // namespace strider
