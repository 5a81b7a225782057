#include "measure/memory_copy.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include "foundation/units.hpp"
#include "measure/text_scan.hpp"

namespace strider {
namespace {

constexpr std::uint64_t usual_cache = 32 * mib;
constexpr std::uint64_t least_buffer = mib, least_of_node = 64 * mib, most_of_node = 512 * mib;
/// Of the memory that is available, no more than one part in so many is taken.
constexpr std::uint64_t parts_of_memory = 8;
constexpr std::uint64_t piece_bytes = 4 * mib;

/// "32768K" and "32M" of sysfs, in bytes; 0 for anything else.
std::uint64_t size_of(std::string_view text) {
  text = take_until(text, '\n');
  std::uint64_t unit = 1;
  if (text.ends_with('K')) unit = 1024;
  if (text.ends_with('M')) unit = mib;
  if (unit != 1) text.remove_suffix(1);
  return number_of(text).value_or(0) * unit;
}

std::string first_line(const std::optional<std::string>& text) {
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  return std::string(take_until(rest, '\n'));
}

}  // namespace

std::optional<std::uint64_t> last_level_cache_bytes(const std::string& root) {
  const std::string processors = root + "/sys/devices/system/cpu";
  std::uint64_t highest = 0, total = 0;
  std::set<std::string> seen;  // a cache is listed by each processor that shares it
  for (const std::string& processor : names_in(processors)) {
    const std::string caches = processors + '/' + processor + "/cache";
    if (!processor.starts_with("cpu")) continue;
    for (const std::string& index : names_in(caches)) {
      const std::string cache = caches + '/' + index + '/';
      const auto level = number_of(first_line(read_small_file(cache + "level")));
      if (!level || *level < highest) continue;
      if (*level > highest) highest = *level, total = 0, seen.clear();
      if (!seen.insert(first_line(read_small_file(cache + "shared_cpu_list"))).second) continue;
      total += size_of(first_line(read_small_file(cache + "size")));
    }
  }
  if (total == 0) return std::nullopt;
  return total;
}

CopySize copy_size(std::uint32_t ranks, std::optional<std::uint64_t> cache_bytes, std::uint64_t available_bytes) {
  const std::uint64_t cache = cache_bytes.value_or(usual_cache);
  std::uint64_t of_node = std::clamp(4 * cache, least_of_node, most_of_node);
  if (available_bytes > 0) of_node = std::min(of_node, available_bytes / parts_of_memory);
  const std::uint64_t buffer = std::max(of_node / 2 / ranks, least_buffer);
  return {buffer, 2 * buffer * ranks > cache};
}

// Touched here, so that no page is made while the clock runs.
MemoryCopy::MemoryCopy(std::uint64_t buffer_bytes)
    : from_(buffer_bytes, std::byte{0x5a}), to_(buffer_bytes, std::byte{0xa5}) {}

std::uint64_t MemoryCopy::copy_piece() {
  const std::size_t bytes = std::min<std::size_t>(piece_bytes, from_.size() - position_);
  std::memcpy(to_.data() + position_, from_.data() + position_, bytes);
  // A compiler may leave out what is not read.
  asm volatile("" : : "r"(to_.data()) : "memory");
  position_ = (position_ + bytes) % from_.size();
  return bytes;
}

}  // namespace strider
