#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "listio/protocol/messages.hpp"

namespace strider::listio {

/// The secret of all who may use a volume: 32 random bytes, 64 hexadecimal digits in files.
using Secret = std::array<std::byte, 32>;

Secret make_secret();
Nonce make_nonce();
VolumeId make_volume_id();
std::uint64_t make_random_number();
std::string to_hex(std::span<const std::byte> bytes);
/// InputError unless `text` is 64 hexadecimal digits.
Secret secret_of(std::string_view text);
/// InputError unless `text` is 32 hexadecimal digits.
VolumeId volume_id_of(std::string_view text);

enum class Role { client, server };

/// HMAC-SHA256 with the secret over everything that both sides have said so far, and who says it: it is good for one
/// connection, to one server, and in one direction.
Code prove(const Secret& secret, Role role, std::uint32_t server, const Nonce& of_client, const Nonce& of_server);
/// In a time that does not depend on where they differ.
bool are_equal(const Code& a, const Code& b);

}  // namespace strider::listio
