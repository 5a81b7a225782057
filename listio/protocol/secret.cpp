#include "listio/protocol/secret.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include "foundation/error.hpp"
#include "listio/protocol/bytes.hpp"

namespace strider::listio {
namespace {

template <typename Bytes>
Bytes random_bytes() {
  Bytes bytes;
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw std::system_error(errno, std::generic_category(), "getrandom");
  return bytes;
}

int digit_of(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  return -1;
}

/// Whether `text` consists of the hexadecimal digits of `bytes`, which then have its value.
bool read_hex(std::string_view text, std::span<std::byte> bytes) {
  bool good = text.size() == 2 * bytes.size();
  for (std::size_t i = 0; good && i < bytes.size(); ++i) {
    const int high = digit_of(text[2 * i]), low = digit_of(text[2 * i + 1]);
    good = high >= 0 && low >= 0;
    bytes[i] = static_cast<std::byte>(high * 16 + low);
  }
  return good;
}

}  // namespace

Secret make_secret() { return random_bytes<Secret>(); }
Nonce make_nonce() { return random_bytes<Nonce>(); }
VolumeId make_volume_id() { return random_bytes<VolumeId>(); }
std::uint64_t make_random_number() {
  return std::bit_cast<std::uint64_t>(random_bytes<std::array<std::byte, sizeof(std::uint64_t)>>());
}

std::string to_hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte each : bytes) {
    text += "0123456789abcdef"[std::to_integer<unsigned>(each) >> 4];
    text += "0123456789abcdef"[std::to_integer<unsigned>(each) & 15];
  }
  return text;
}

Secret secret_of(std::string_view text) {
  Secret secret{};
  if (!read_hex(text, secret))
    throw InputError("secret", "the volume's secret is not 64 hexadecimal digits", "use the volume's own file");
  return secret;
}

VolumeId volume_id_of(std::string_view text) {
  VolumeId id{};
  if (!read_hex(text, id))
    throw InputError("volume", "'" + std::string(text) + "' is not 32 hexadecimal digits, as ids of volumes are",
                     "use the volume's own file");
  return id;
}

Code prove(const Secret& secret, Role role, std::uint32_t server, const Nonce& of_client, const Nonce& of_server) {
  ByteWriter said;
  said.text(role == Role::client ? "strider list I/O client" : "strider list I/O server");
  said.number(protocol_version).number(server).raw(of_client).raw(of_server);
  const std::vector<std::byte> text = said.take();
  Code code{};
  unsigned length = 0;
  if (::HMAC(::EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
             reinterpret_cast<const unsigned char*>(text.data()), text.size(),
             reinterpret_cast<unsigned char*>(code.data()), &length) == nullptr ||
      length != code.size())
    throw std::runtime_error("libcrypto cannot compute HMAC-SHA256");
  return code;
}

bool are_equal(const Code& a, const Code& b) { return ::CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0; }

}  // namespace strider::listio
