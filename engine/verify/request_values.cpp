#include "verify/request_values.hpp"

#include <algorithm>
#include <iterator>

#include "verify/data.hpp"

namespace strider {
namespace {

/// Calls `step` with the place in memory of each byte of a value and its number within the value.
template <typename Step>
void for_each_byte(std::span<const Extent> extents, std::uint64_t position, const Step& step) {
  std::uint64_t begin = 0, number = 0;
  for (const Extent& extent : extents) {
    const std::uint64_t end = begin + extent.length;
    for (; number < RequestValues::value_bytes && position + number < end; ++number)
      step(extent.memory_offset + (position + number - begin), number);
    if (number == RequestValues::value_bytes) return;
    begin = end;
  }
}

std::uint32_t value_at(std::span<const Extent> extents, std::span<const std::byte> memory, std::uint64_t position) {
  std::uint32_t value = 0;
  for_each_byte(extents, position, [&](std::uint64_t place, std::uint64_t number) {
    value |= std::to_integer<std::uint32_t>(memory[place]) << (8 * number);
  });
  return value;
}

}  // namespace

std::array<std::uint64_t, 3> positions_of_values(std::uint64_t request_bytes) {
  constexpr std::uint64_t size = RequestValues::value_bytes;
  const std::uint64_t values = std::max<std::uint64_t>(1, request_bytes / size);
  return {0, values / 2 * size, (values - 1) * size};
}

void ValueRecorder::prepare(std::uint64_t index, std::span<const Extent> extents, std::span<std::byte> memory) const {
  if (index >= requests_.size()) return;
  for (const std::uint64_t position : positions_of_values(bytes_of(extents)))
    for_each_byte(extents, position, [&](std::uint64_t place, std::uint64_t) { memory[place] = spoilt_byte; });
}

void ValueRecorder::record(std::uint64_t index, std::span<const Extent> extents, std::span<const std::byte> memory) {
  if (index >= requests_.size() || extents.empty()) return;
  const std::uint64_t bytes = bytes_of(extents);
  const auto [first, middle, last] = positions_of_values(bytes);
  requests_[index] = {extents.front().file_offset, bytes, value_at(extents, memory, first),
                      value_at(extents, memory, middle), value_at(extents, memory, last)};
}

std::vector<RequestValues> ValueRecorder::read() const {
  std::vector<RequestValues> found;
  std::ranges::copy_if(requests_, std::back_inserter(found), [](const RequestValues& each) { return each.bytes > 0; });
  return found;
}

}  // namespace strider
