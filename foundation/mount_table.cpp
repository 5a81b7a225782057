#include "foundation/mount_table.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

namespace strider {
namespace {

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(' '), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

/// The table has blanks and the like as \ooo.
std::string unescaped(std::string_view word) {
  std::string text;
  for (std::size_t i = 0; i < word.size(); ++i) {
    unsigned code = 0;
    const char* digits = word.data() + i + 1;
    if (word[i] == '\\' && i + 3 < word.size() && std::from_chars(digits, digits + 3, code, 8).ptr == digits + 3) {
      text += static_cast<char>(code);
      i += 3;
    } else {
      text += word[i];
    }
  }
  return text;
}

}  // namespace

bool is_below(const std::string& path, const std::string& top) {
  if (top == "/") return true;
  return path.starts_with(top) && (path.size() == top.size() || path[top.size()] == '/');
}

Mount mount_of_line(std::string_view line) {
  const auto words = words_of(line);
  // number parent device root point options [optional fields] - type source options
  std::size_t dash = 6;
  while (dash < words.size() && words[dash] != "-") ++dash;
  if (dash + 2 >= words.size()) return {};
  return {unescaped(words[4]), unescaped(words[3]), unescaped(words[dash + 2]), std::string(words[dash + 1])};
}

Mount mount_in(std::string_view table, const std::string& path) {
  Mount best;
  while (!table.empty()) {
    const std::size_t end = std::min(table.find('\n'), table.size());
    Mount mount = mount_of_line(table.substr(0, end));
    table.remove_prefix(std::min(end + 1, table.size()));
    // Of two mounts at one place, the later one is seen.
    if (!mount.point.empty() && is_below(path, mount.point) && mount.point.size() >= best.point.size())
      best = std::move(mount);
  }
  return best;
}

}  // namespace strider
