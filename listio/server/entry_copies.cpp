#include "listio/server/entry_copies.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "foundation/whole_transfer.hpp"
#include "listio/server/shards.hpp"
#include "listio/server/small_files.hpp"

namespace strider::listio {
namespace {

/// The files that have a copy in a shard, in order.
Errno list_shard(int entries, unsigned shard, std::vector<FileId>& files) {
  Descriptor folder(::openat(entries, shard_name(shard).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return errno == ENOENT ? 0 : errno;
  const Errno error = each_name(std::move(folder), [&](std::string_view name) {
    FileId file = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), file, 16);
    if (read.ec == std::errc{} && file != 0 && name == digits_of(file) && shard_number(file) == shard)
      files.push_back(file);
  });
  if (error != 0) return error;
  std::sort(files.begin(), files.end());
  return 0;
}

/// The folder of a copy, from the server's.
std::string shard_of(FileId file) { return "entries/" + shard_name(shard_number(file)); }

}  // namespace

EntryCopies::EntryCopies(int folder, int fresh, std::uint32_t servers, NameChanges& changes)
    : entries_(make_folder(folder, "entries")), fresh_(fresh), servers_(servers), changes_(changes) {}

Errno EntryCopies::keep(const EntryCopy& copy, std::uint32_t mode) {
  const std::string fresh = digits_of(copy.file) + ".copy", text = write_copy(copy), path = shard_path(copy.file);
  if (const Errno error = write_file(fresh_, fresh, text, mode); error != 0) return error;
  Errno error = ::renameat(fresh_, fresh.c_str(), entries_.get(), path.c_str()) != 0 ? errno : 0;
  if (error == ENOENT) {
    const bool made =
        ::mkdirat(entries_.get(), shard_name(shard_number(copy.file)).c_str(), 0700) == 0 || errno == EEXIST;
    if (made) changes_.gain("entries");
    error = made && ::renameat(fresh_, fresh.c_str(), entries_.get(), path.c_str()) == 0 ? 0 : errno;
  }
  if (error != 0) {
    ::unlinkat(fresh_, fresh.c_str(), 0);
    return error;
  }
  changes_.change("entries/" + path);
  changes_.gain(shard_of(copy.file));
  return 0;
}

Errno EntryCopies::remove(FileId file) {
  const std::string path = shard_path(file);
  if (::unlinkat(entries_.get(), path.c_str(), 0) != 0) return errno != ENOENT ? errno : 0;
  changes_.forget("entries/" + path);
  changes_.lose(shard_of(file));
  return 0;
}

Errno EntryCopies::read(FileId file, EntryCopy& copy, std::uint32_t& mode) const {
  const Descriptor open(
      ::openat(entries_.get(), shard_path(file).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
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
  return list_shards(
      cookie, page,
      [&](unsigned shard, std::vector<FileId>& files) { return list_shard(entries_.get(), shard, files); },
      [&](FileId file) {
        page.files.push_back({file, 0});
        return 0;
      });
}

Errno EntryCopies::move_out(FileId file, int folder, const std::string& name) {
  if (::renameat(entries_.get(), shard_path(file).c_str(), folder, name.c_str()) != 0) return errno;
  changes_.lose(shard_of(file));
  return 0;
}

}  // namespace strider::listio
