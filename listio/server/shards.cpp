#include "listio/server/shards.hpp"

#include <array>
#include <cstdio>

namespace strider::listio {
namespace {

constexpr std::size_t page_files = 2000;  // at most 28 bytes each: fits into a message

}  // namespace

std::string shard_name(unsigned shard) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%02x", shard);
  return text.data();
}

std::string shard_path(FileId file) { return shard_name(shard_number(file)) + "/" + digits_of(file); }

Errno list_shards(std::uint64_t cookie, DataPage& page,
                  const std::function<Errno(unsigned, std::vector<FileId>&)>& files,
                  const std::function<Errno(FileId)>& add) {
  for (auto shard = shard_number(cookie); shard < shards; ++shard) {
    std::vector<FileId> found;
    if (const Errno error = files(shard, found); error != 0) return error;
    const bool begun = cookie != 0 && shard == shard_number(cookie);
    for (const FileId file : found) {
      if (begun && file <= cookie) continue;
      if (const Errno error = add(file); error != 0) return error;
      page.cookie = file;
      if (page.files.size() == page_files) return 0;
    }
  }
  page.cookie = 0;
  return 0;
}

}  // namespace strider::listio
