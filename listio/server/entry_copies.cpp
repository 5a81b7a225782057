#include "listio/server/entry_copies.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <memory>
#include <system_error>
#include <vector>

#include "foundation/whole_transfer.hpp"
#include "listio/server/small_files.hpp"

namespace strider::listio {
namespace {

constexpr unsigned shards = 256;
constexpr std::size_t page_files = 2000;  // 16 bytes each: fits into a message

std::string shard_of(FileId file) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%02x", static_cast<unsigned>(file % shards));
  return text.data();
}

std::string path_of(FileId file) { return shard_of(file) + "/" + digits_of(file); }

/// The files that have a copy in a shard, in order.
Errno list_shard(int entries, unsigned shard, std::vector<FileId>& files) {
  Descriptor descriptor(::openat(entries, shard_of(shard).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor) return errno == ENOENT ? 0 : errno;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(descriptor.get()), ::closedir);
  if (!folder) return errno;
  descriptor.release();
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    FileId file = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), file, 16);
    if (read.ec == std::errc{} && file != 0 && name == digits_of(file) && file % shards == shard) files.push_back(file);
  }
  std::sort(files.begin(), files.end());
  return 0;
}

}  // namespace

EntryCopies::EntryCopies(int folder, int fresh, std::uint32_t servers)
    : entries_(make_folder(folder, "entries")), fresh_(fresh), servers_(servers) {}

Errno EntryCopies::keep(const EntryCopy& copy, std::uint32_t mode) {
  const std::string fresh = digits_of(copy.file) + ".copy", text = write_copy(copy), path = path_of(copy.file);
  if (const Errno error = write_file(fresh_, fresh, text, mode); error != 0) return error;
  if (::renameat(fresh_, fresh.c_str(), entries_.get(), path.c_str()) == 0) return 0;
  Errno error = errno;
  if (error == ENOENT) {
    const bool made = ::mkdirat(entries_.get(), shard_of(copy.file).c_str(), 0700) == 0 || errno == EEXIST;
    error = made && ::renameat(fresh_, fresh.c_str(), entries_.get(), path.c_str()) == 0 ? 0 : errno;
  }
  if (error != 0) ::unlinkat(fresh_, fresh.c_str(), 0);
  return error;
}

Errno EntryCopies::remove(FileId file) {
  return ::unlinkat(entries_.get(), path_of(file).c_str(), 0) != 0 && errno != ENOENT ? errno : 0;
}

Errno EntryCopies::read(FileId file, EntryCopy& copy, std::uint32_t& mode) const {
  const Descriptor open(
      ::openat(entries_.get(), path_of(file).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!open) return errno;
  struct stat found{};
  if (::fstat(open.get(), &found) != 0) return errno;
  if (!S_ISREG(found.st_mode)) return EUCLEAN;
  std::string text;
  if (const Errno error = read_to_end(open.get(), text, most_copy_bytes + 1).error_number; error != 0) return error;
  auto parsed = parse_copy(text, servers_);
  auto* const whole = std::get_if<EntryCopy>(&parsed);
  if (whole == nullptr || whole->file != file) return EUCLEAN;
  copy = std::move(*whole);
  mode = found.st_mode & kept_mode_bits;
  return 0;
}

Errno EntryCopies::list(std::uint64_t cookie, DataPage& page) const {
  for (auto shard = static_cast<unsigned>(cookie % shards); shard < shards; ++shard) {
    std::vector<FileId> files;
    if (const Errno error = list_shard(entries_.get(), shard, files); error != 0) return error;
    const bool begun = cookie != 0 && shard == cookie % shards;
    for (const FileId file : files) {
      if (begun && file <= cookie) continue;
      page.files.push_back({file, 0});
      page.cookie = file;
      if (page.files.size() == page_files) return 0;
    }
  }
  page.cookie = 0;
  return 0;
}

Errno EntryCopies::move_out(FileId file, int folder, const std::string& name) {
  return ::renameat(entries_.get(), path_of(file).c_str(), folder, name.c_str()) != 0 ? errno : 0;
}

}  // namespace strider::listio
