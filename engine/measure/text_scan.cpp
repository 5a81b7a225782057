#include "measure/text_scan.hpp"

#include <fcntl.h>

#include <algorithm>
#include <filesystem>

#include "foundation/descriptor.hpp"
#include "foundation/whole_transfer.hpp"

namespace strider {

std::optional<std::string> read_small_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  // Files of /proc and /sys say nothing about their size.
  if (!file || read_to_end(file.get(), text).error_number != 0) return std::nullopt;
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
