#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "foundation/extent.hpp"

namespace strider {

/// The first, middle and last value of what a request read: words of 4 bytes, of which n bytes hold n / 4. Less than a
/// word is one that is filled up with zeros.
struct RequestValues {
  static constexpr std::uint64_t value_bytes = 4;
  std::uint64_t file_offset = 0;
  std::uint64_t bytes = 0;  ///< of the request; 0: not issued
  std::uint32_t first = 0, middle = 0, last = 0;

  bool operator==(const RequestValues&) const = default;
};

/// Where in a request of so many bytes these values begin.
std::array<std::uint64_t, 3> positions_of_values(std::uint64_t request_bytes);

/// Records values of the first requests of a rank. Allocates once, at its beginning.
class ValueRecorder {
 public:
  /// `requests`: how many it records at most.
  explicit ValueRecorder(std::uint64_t requests) : requests_(requests) {}

  /// Before a request: makes its values wrong, so that a read that transfers nothing cannot pass for one that
  /// did.
  void prepare(std::uint64_t index, std::span<const Extent> extents, std::span<std::byte> memory) const;
  /// After it. The values of a later pass replace earlier ones.
  void record(std::uint64_t index, std::span<const Extent> extents, std::span<const std::byte> memory);
  /// In issue order, without requests that were not issued.
  std::vector<RequestValues> read() const;

 private:
  std::vector<RequestValues> requests_;
};

}  // namespace strider
