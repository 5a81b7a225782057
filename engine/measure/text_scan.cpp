#include "measure/text_scan.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace strider {

std::optional<std::string> read_small_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  std::string text;
  // Files of /proc and /sys say nothing about their size.
  char piece[16384];
  ssize_t moved = 0;
  while ((moved = ::read(descriptor, piece, sizeof piece)) > 0) text.append(piece, static_cast<std::size_t>(moved));
  ::close(descriptor);
  if (moved < 0) return std::nullopt;
  return text;
}

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entry(directory, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
    names.push_back(entry->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace strider
