#pragma once
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strider {

/// The contents of a small file such as those of /proc and /sys; nothing where it cannot be read.
std::optional<std::string> read_small_file(const std::string& path);
/// Names in a directory in alphabetical order, without "." and ".."; none where it cannot be read.
std::vector<std::string> names_in(const std::string& directory);

/// Takes the next part of `text` up to a separator, which is removed with it.
inline std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return part;
}

/// Takes the next word, words being parted by blanks and tabs; empty at the end.
inline std::string_view take_word(std::string_view& text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  text.remove_prefix(begin == std::string_view::npos ? text.size() : begin);
  const std::size_t end = text.find_first_of(" \t");
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(word.size());
  return word;
}

/// A whole number that fills the text; nothing for anything else.
inline std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

inline std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) words.push_back(word);
  return words;
}

inline std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) lines.push_back(take_until(text, '\n'));
  return lines;
}

}  // namespace strider
