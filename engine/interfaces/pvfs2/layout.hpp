#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace strider {

/// How a file lies on its data files. As asked for, empty and 0 leave it to the file system.
struct Pvfs2Layout {
  std::string distribution;
  std::uint64_t stripe_size = 0;
  std::uint64_t data_files = 0;
};

/// What differs, and what to change in the suite.
struct Pvfs2Difference {
  std::string message, remedy;
};

/// A distribution as OrangeFS keeps it beside a file: its name, then its numbers. `data_files` is not in it. Nothing
/// where the bytes are none; stripe_size is 0 where the distribution has none or an unknown name.
std::optional<Pvfs2Layout> decode_distribution(std::span<const std::byte> encoded);

/// Where a file has another layout than was asked for; nothing where it has the one asked for.
std::optional<Pvfs2Difference> difference_of(const Pvfs2Layout& asked, const Pvfs2Layout& found);

}  // namespace strider
