#include "listio/layout/striping.hpp"

#include <algorithm>
#include <string>

#include "foundation/error.hpp"

namespace strider::listio {

Striping::Striping(std::uint32_t servers, std::uint64_t strip_bytes, std::uint32_t first)
    : servers_(servers), strip_bytes_(strip_bytes), first_(first) {
  if (servers == 0) throw InputError("servers", "a file cannot be striped over 0 servers", "give at least one server");
  if (strip_bytes == 0 || strip_bytes > most_file_bytes)
    throw InputError("strip", "a strip cannot have " + std::to_string(strip_bytes) + " bytes", "try 64KiB");
  if (first >= servers)
    throw InputError(
        "first",
        "first server " + std::to_string(first) + " does not exist; number of servers: " + std::to_string(servers),
        "servers are numbered from 0");
}

std::uint32_t Striping::turn_of(std::uint32_t server) const {
  return server >= first_ ? server - first_ : servers_ - first_ + server;
}

Location Striping::locate(std::uint64_t file_offset) const {
  const std::uint64_t strip = file_offset / strip_bytes_, in_strip = file_offset % strip_bytes_;
  const auto server = static_cast<std::uint32_t>((first_ + strip % servers_) % servers_);
  return {server, strip / servers_ * strip_bytes_ + in_strip};
}

std::uint64_t Striping::file_offset(const Location& location) const {
  const std::uint64_t in_strip = location.offset % strip_bytes_;
  std::uint64_t strip = 0, offset = 0;
  if (location.server >= servers_ || __builtin_mul_overflow(location.offset / strip_bytes_, servers_, &strip) ||
      __builtin_add_overflow(strip, turn_of(location.server), &strip) ||
      __builtin_mul_overflow(strip, strip_bytes_, &offset) || __builtin_add_overflow(offset, in_strip, &offset) ||
      offset >= most_file_bytes)
    throw InputError("data file",
                     "no file offset corresponds to offset " + std::to_string(location.offset) +
                         " of the data file on server " + std::to_string(location.server) + " of " +
                         std::to_string(servers_),
                     "the data file is damaged or belongs to a file of another layout");
  return offset;
}

std::uint64_t Striping::rest_of_strip(std::uint64_t file_offset) const {
  if (servers_ == 1) return most_file_bytes - file_offset;
  return strip_bytes_ - file_offset % strip_bytes_;
}

std::uint64_t Striping::data_file_bytes(std::uint32_t server, std::uint64_t file_bytes) const {
  const std::uint64_t full_strips = file_bytes / strip_bytes_, rounds = full_strips / servers_;
  const std::uint64_t strips_of_last_round = full_strips % servers_;
  const std::uint32_t turn = turn_of(server);
  if (turn < strips_of_last_round) return (rounds + 1) * strip_bytes_;
  return rounds * strip_bytes_ + (turn == strips_of_last_round ? file_bytes % strip_bytes_ : 0);
}

std::uint64_t Striping::file_bytes(std::span<const std::uint64_t> data_file_bytes) const {
  if (data_file_bytes.size() != servers_)
    throw InputError(
        "data file",
        std::to_string(data_file_bytes.size()) + " data file sizes for " + std::to_string(servers_) + " servers",
        "every server has one data file for each file");
  std::uint64_t bytes = 0;
  for (std::uint32_t server = 0; server < servers_; ++server)
    if (data_file_bytes[server] > 0) bytes = std::max(bytes, file_offset({server, data_file_bytes[server] - 1}) + 1);
  return bytes;
}

}  // namespace strider::listio
