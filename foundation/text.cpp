#include "foundation/text.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <utility>

namespace strider {
namespace {

/// First and last of each range, in order.
constexpr std::array<std::pair<std::uint32_t, std::uint32_t>, 7> forbidden{{
    {0x0000, 0x001F},  // control characters of ASCII
    {0x007F, 0x009F},  // delete, further control characters
    {0x061C, 0x061C},  // marks, overrides and isolates of the direction of writing
    {0x200E, 0x200F},
    {0x2028, 0x202E},  // also the separators of lines and paragraphs
    {0x2066, 0x2069},
    {0xD800, 0xDFFF},  // halves of a character
}};

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  ///< 0: the bytes are no UTF-8
};

Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    code = code << 6U | (byte(i) & 0x3FU);
  }
  return {code, bytes};
}

}  // namespace

std::string forbidden_character(std::string_view text) {
  while (!text.empty()) {
    const Character found = first_of(text);
    if (found.bytes == 0) return "a byte that is no UTF-8";
    for (const auto& [first, last] : forbidden) {
      if (found.code < first || found.code > last) continue;
      std::array<char, 16> name{};
      std::snprintf(name.data(), name.size(), "U+%04X", found.code);
      return name.data();
    }
    text.remove_prefix(found.bytes);
  }
  return "";
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t most_bytes = 80;
  if (text.size() <= most_bytes) return '"' + std::string(text) + '"';
  std::size_t end = most_bytes;
  while (end > 0 && (static_cast<std::uint8_t>(text[end]) & 0xC0U) == 0x80) --end;
  return '"' + std::string(text.substr(0, end)) + "…\" (" + std::to_string(text.size()) + " bytes)";
}

}  // namespace strider
