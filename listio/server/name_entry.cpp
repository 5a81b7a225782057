#include "listio/server/name_entry.hpp"

#include <array>
#include <charconv>
#include <concepts>
#include <cstdio>
#include <optional>
#include <span>

#include "foundation/crc32c.hpp"
#include "listio/layout/byte_run.hpp"

namespace strider::listio {
namespace {

constexpr std::string_view of_today = "strider-listio-file 2 ", of_old = "strider-listio-file 1 ";
constexpr std::string_view of_copy = "strider-listio-copy 1 ";
constexpr std::size_t seal_bytes = std::string_view("crc32c 01234567\n").size();

std::string words_of(FileId file, const LayoutWords& layout) {
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(), "%016llx servers %u first %u strip %llu",
                static_cast<unsigned long long>(file), layout.servers, layout.first,
                static_cast<unsigned long long>(layout.strip_bytes));
  return text.data();
}

/// The text with the checksum of all of it.
std::string seal(const std::string& text) {
  std::array<char, 32> sum{};
  std::snprintf(sum.data(), sum.size(), "crc32c %08x\n", crc32c(std::as_bytes(std::span(text))));
  return text + sum.data();
}

/// The text before its checksum; nothing if that is not its own.
std::optional<std::string_view> unseal(std::string_view text) {
  if (text.size() < seal_bytes) return {};
  const std::string_view sealed = text.substr(0, text.size() - seal_bytes);
  return seal(std::string(sealed)) == text ? std::optional(sealed) : std::nullopt;
}

// Each takes the expected part from the begin of a text; false if it is not there.

bool take(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

template <std::unsigned_integral Number>
bool take(std::string_view& text, Number& number, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take(std::string_view& text, FileId& file, LayoutWords& layout) {
  return take(text, file, 16) && take(text, " servers ") && take(text, layout.servers) && take(text, " first ") &&
         take(text, layout.first) && take(text, " strip ") && take(text, layout.strip_bytes);
}

/// Why a volume cannot have such a file, or nothing.
std::optional<std::string> fault_of(FileId file, const LayoutWords& layout, std::uint32_t servers) {
  if (file == 0) return "its file number is 0";
  if (layout.servers == 0 || layout.servers > servers)
    return "it names " + std::to_string(layout.servers) + " servers, and the volume has " + std::to_string(servers);
  if (layout.first >= layout.servers)
    return "its first server is " + std::to_string(layout.first) + " of " + std::to_string(layout.servers);
  if (layout.strip_bytes == 0 || layout.strip_bytes > most_file_bytes)
    return "its strips have " + std::to_string(layout.strip_bytes) + " bytes";
  return {};
}

}  // namespace

std::string write_entry(FileId file, const LayoutWords& layout) {
  return seal(std::string(of_today) + words_of(file, layout) + " ");
}

std::string write_old_entry(FileId file, const LayoutWords& layout) {
  return std::string(of_old) + words_of(file, layout) + "\n";
}

std::variant<NameEntry, Malformed> parse_entry(std::string_view text, std::uint32_t servers) {
  if (text.empty()) return Malformed{"it is empty"};
  NameEntry entry;
  std::string_view words = text;
  entry.has_checksum = !take(words, of_old);
  if (entry.has_checksum) {
    const std::optional<std::string_view> sealed = unseal(text);
    if (!sealed) return Malformed{"its checksum is not that of its text"};
    words = *sealed;
    if (!take(words, of_today)) return Malformed{"it is of an unknown version"};
  }
  if (!take(words, entry.file, entry.layout)) return Malformed{"it is no entry"};
  if (auto fault = fault_of(entry.file, entry.layout, servers)) return Malformed{*std::move(fault)};
  const auto write = entry.has_checksum ? write_entry : write_old_entry;
  if (write(entry.file, entry.layout) != text) return Malformed{"it is no entry"};
  return entry;
}

std::string write_copy(const EntryCopy& copy) {
  return seal(std::string(of_copy) + words_of(copy.file, copy.layout) + " path " + copy.path + "\n");
}

std::variant<EntryCopy, Malformed> parse_copy(std::string_view text, std::uint32_t servers) {
  const std::optional<std::string_view> sealed = unseal(text);
  if (!sealed) return Malformed{"its checksum is not that of its text"};
  EntryCopy copy;
  std::string_view words = *sealed;
  if (!take(words, of_copy) || !take(words, copy.file, copy.layout) || !take(words, " path ") || !words.ends_with('\n'))
    return Malformed{"it is no copy of an entry"};
  copy.path = words.substr(0, words.size() - 1);
  if (auto fault = fault_of(copy.file, copy.layout, servers)) return Malformed{*std::move(fault)};
  if (copy.path.empty() || !is_path(copy.path) || write_copy(copy) != text)
    return Malformed{"it is no copy of an entry"};
  return copy;
}

}  // namespace strider::listio
