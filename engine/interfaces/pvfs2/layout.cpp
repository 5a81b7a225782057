#include "interfaces/pvfs2/layout.hpp"

#include <algorithm>

namespace strider {
namespace {

constexpr std::size_t length_bytes = 4;  ///< before a text
constexpr std::size_t group_bytes = 4;   ///< before the stripe size of twod_stripe
constexpr std::size_t alignment = 8;

/// Little-endian, as in the messages of OrangeFS.
std::uint64_t number_in(std::span<const std::byte> bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) number = number << 8U | std::to_integer<std::uint64_t>(bytes[i]);
  return number;
}

std::string quantity(std::uint64_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

}  // namespace

std::optional<Pvfs2Layout> decode_distribution(std::span<const std::byte> encoded) {
  if (encoded.size() < length_bytes) return {};
  const std::uint64_t length = number_in(encoded.first(length_bytes));
  // The text ends with a zero, and numbers begin at a multiple of 8.
  const std::uint64_t numbers = (length_bytes + length + 1 + alignment - 1) / alignment * alignment;
  if (length == 0 || length > encoded.size() || numbers > encoded.size()) return {};
  Pvfs2Layout found;
  for (const std::byte letter : encoded.subspan(length_bytes, length))
    found.distribution += std::to_integer<char>(letter);
  const bool simple = found.distribution == "simple_stripe", grouped = found.distribution == "twod_stripe";
  const std::span<const std::byte> parameters = encoded.subspan(numbers);
  const std::size_t begin = grouped ? group_bytes : 0;
  if (!simple && !grouped) return found;
  if (parameters.size() < begin + sizeof(std::uint64_t)) return {};
  found.stripe_size = number_in(parameters.subspan(begin, sizeof(std::uint64_t)));
  return found;
}

std::optional<Pvfs2Difference> difference_of(const Pvfs2Layout& asked, const Pvfs2Layout& found) {
  if (!asked.distribution.empty() && asked.distribution != found.distribution)
    return Pvfs2Difference{
        "the new file has the distribution \"" + found.distribution + "\" instead of \"" + asked.distribution + "\"",
        "set pvfs2.distribution to a distribution that the file system's configuration allows, or to \"default\""};
  if (asked.stripe_size > 0 && asked.stripe_size != found.stripe_size)
    return Pvfs2Difference{"the new file has a stripe size of " + std::to_string(found.stripe_size) +
                               " bytes instead of " + std::to_string(asked.stripe_size),
                           "set pvfs2.stripe_size to a size that the distribution accepts, or to 0"};
  if (asked.data_files > 0 && asked.data_files != found.data_files)
    return Pvfs2Difference{"the new file has " + quantity(found.data_files, "data file") + " instead of " +
                               std::to_string(asked.data_files) +
                               ": OrangeFS has at most one on each server, and one in all with basic_dist",
                           "set pvfs2.data_files to " + std::to_string(found.data_files) + ", or to 0"};
  return {};
}

}  // namespace strider
