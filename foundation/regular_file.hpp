#pragma once
#include <cstdint>
#include <string>

namespace strider {

/// Of a file that a suite names: what memory surely holds.
constexpr std::uint64_t largest_input_file = std::uint64_t{256} << 20;

/// What keeps a path from being a regular file of at most so many bytes, such as "is a directory"; empty if nothing, or
/// if it cannot be looked at. The file is not opened.
std::string irregularity_of(const std::string& path, std::uint64_t most_bytes);

/// The contents of a regular file, never waiting for what is none. Throws std::runtime_error, which says why not.
std::string read_regular(const std::string& path, std::uint64_t most_bytes);

}  // namespace strider
