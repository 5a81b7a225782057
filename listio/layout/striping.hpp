#pragma once
#include <cstdint>
#include <span>

#include "listio/layout/byte_run.hpp"

namespace strider::listio {

/// Where a byte of a file lies: at `offset` of the data file that `server` keeps for the file.
struct Location {
  std::uint32_t server = 0;
  std::uint64_t offset = 0;

  bool operator==(const Location&) const = default;
};

/// Simple striping, as PVFS has it: a file is cut into strips of `strip_bytes`; strip k is on server
/// (first + k) mod servers, and is strip k / servers of that server's data file. Offsets and lengths in bytes.
class Striping {
 public:
  /// InputError unless servers ≥ 1, strip_bytes ≥ 1 and first < servers.
  Striping(std::uint32_t servers, std::uint64_t strip_bytes, std::uint32_t first = 0);

  std::uint32_t servers() const { return servers_; }
  std::uint64_t strip_bytes() const { return strip_bytes_; }
  std::uint32_t first() const { return first_; }

  Location locate(std::uint64_t file_offset) const;
  /// The inverse of `locate`. InputError if no file reaches as far.
  std::uint64_t file_offset(const Location& location) const;
  /// The bytes from `file_offset` to the end of its strip, and to the end of the file on a single server.
  std::uint64_t rest_of_strip(std::uint64_t file_offset) const;

  /// The size of the data file on `server` if all of a file's first `file_bytes` are written.
  std::uint64_t data_file_bytes(std::uint32_t server, std::uint64_t file_bytes) const;
  /// The size of a file whose data files have these sizes, one for each server: the end of its last byte. Data files
  /// that are shorter than that demands have holes at their end. InputError if there is not one for each server.
  std::uint64_t file_bytes(std::span<const std::uint64_t> data_file_bytes) const;

 private:
  /// How many strips of every round come before the server's own.
  std::uint32_t turn_of(std::uint32_t server) const;

  std::uint32_t servers_;
  std::uint64_t strip_bytes_;
  std::uint32_t first_;
};

}  // namespace strider::listio
