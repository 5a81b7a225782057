#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "listio/protocol/messages.hpp"

namespace strider::listio {

/// What a server accepts of one client.
struct ProtocolLimits {
  std::uint32_t most_runs = 128;
  std::uint64_t buffer_bytes = 0;
  std::uint32_t buffers = 0;
};

/// Longest path, and longest name in it, in bytes.
inline constexpr std::size_t most_path_bytes = 4095, most_name_bytes = 255;
/// Of a mode, servers keep the permissions and the sticky bit.
inline constexpr std::uint32_t kept_mode_bits = 01777;

/// Why bytes are no message.
struct Malformed {
  std::string reason;
};

// Pure functions of bytes that come from outside. They check every field: what they return is within the limits, whole,
// and nothing follows it. They allocate no more than what the message itself has, and throw nothing.

std::variant<ClientMessage, Malformed> parse_client_message(std::span<const std::byte> bytes,
                                                            const ProtocolLimits& limits);
std::variant<ServerMessage, Malformed> parse_server_message(std::span<const std::byte> bytes);

// Bodies of replies; false if they are none.

bool parse_body(std::span<const std::byte> bytes, DataStat& body);
bool parse_body(std::span<const std::byte> bytes, Entry& body);
bool parse_body(std::span<const std::byte> bytes, Orphan& body);
bool parse_body(std::span<const std::byte> bytes, DirectoryPage& body);
bool parse_body(std::span<const std::byte> bytes, LinkText& body);
bool parse_body(std::span<const std::byte> bytes, Reason& body);
bool parse_body(std::span<const std::byte> bytes, CellState& body);
bool parse_body(std::span<const std::byte> bytes, LockHolder& body);
bool parse_body(std::span<const std::byte> bytes, EntryCheck& body);
bool parse_body(std::span<const std::byte> bytes, CopyCheck& body);
bool parse_body(std::span<const std::byte> bytes, NamesState& body);
bool parse_body(std::span<const std::byte> bytes, DataPage& body);
bool parse_body(std::span<const std::byte> bytes, Verified& body);
bool parse_body(std::span<const std::byte> bytes, ServerView& body);
bool parse_body(std::span<const std::byte> bytes, Missed& body);
bool parse_body(std::span<const std::byte> bytes, ServerStatus& body);

/// Whether a text can be that of a symbolic link: 1 … 4095 bytes, no byte 0.
bool is_link_text(std::string_view text);

/// Whether a text can be the name of a client: at most 255 bytes, all of them printable ASCII characters.
bool is_client_name(std::string_view text);

/// Whether a path names something strictly beneath the root, or the root itself (""): names of 1 … 255 bytes with one
/// slash between them, none of them "." or "..", no byte 0.
bool is_path(std::string_view path);

}  // namespace strider::listio
