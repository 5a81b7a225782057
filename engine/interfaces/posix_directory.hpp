#pragma once
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "foundation/descriptor.hpp"
#include "foundation/run_folder.hpp"
#include "foundation/whole_transfer.hpp"
#include "interfaces/directory.hpp"

namespace strider {

/// Metadata by the operating system's calls, relative to a descriptor of the directory. The calls that know no
/// descriptor (truncate, chdir, extended attributes) get a path that begins with the descriptor's entry in /proc, so
/// that they reach the same directory whatever became of its path.
class PosixDirectory final : public Directory {
 public:
  /// `folder`: it is opened below this one; null: wherever the path leads.
  explicit PosixDirectory(const std::string& path, RunFolder* folder = nullptr)
      : top_(open_file(folder, path, O_RDONLY | O_DIRECTORY)),
        whole_("/proc/self/fd/" + std::to_string(top_.get()) + '/'),
        way_(whole_.size()) {}

  void make_directory(const char* path) override { check(::mkdirat(at(), path, 0700), "mkdirat", path); }
  void remove_directory(const char* path) override { check(::unlinkat(at(), path, AT_REMOVEDIR), "rmdir", path); }
  void change_directory(const char* path) override {
    if (!home_) home_ = Descriptor(check(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), "open", "."));
    check(::chdir(whole(path)), "chdir", path);
  }
  void go_back() override {
    if (home_) check(::fchdir(home_.get()), "fchdir", ".");
  }
  void list(const char* path, EntryVisitor& visitor) override {
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    const Descriptor directory(check(::openat(at(), path, flags), "openat", path));
    while (const auto bytes =
               check(::getdents64(directory.get(), entries_.data(), entries_.size()), "getdents64", path))
      list_entries(static_cast<std::size_t>(bytes), visitor);
  }

  void make_node(const char* path) override { check(::mknodat(at(), path, S_IFREG | 0600, 0), "mknodat", path); }
  Handle open(const char* path, OpenMode mode) override {
    const int flags = mode == OpenMode::create  ? O_CREAT | O_EXCL | O_WRONLY
                      : mode == OpenMode::write ? O_WRONLY
                                                : O_RDONLY;
    return check(::openat(at(), path, flags | O_CLOEXEC | O_NOFOLLOW, 0600), "openat", path);
  }
  void write(Handle file, std::span<const std::byte> data, const char* path) override {
    const Transferred moved = transfer_whole(data.size(), [&](std::uint64_t done) {
      return moved_or_error(::write(descriptor(file), data.data() + done, data.size() - done));
    });
    if (moved.bytes < data.size()) fail("write", path, moved.error_number);
  }
  std::uint64_t read(Handle file, std::span<std::byte> to, const char* path) override {
    const Transferred moved = transfer_whole(to.size(), [&](std::uint64_t done) {
      return moved_or_error(::read(descriptor(file), to.data() + done, to.size() - done));
    });
    if (moved.error_number != 0) fail("read", path, moved.error_number);
    return moved.bytes;
  }
  void sync(Handle file, const char* path) override { check(::fsync(descriptor(file)), "fsync", path); }
  std::uint64_t seek_end(Handle file, const char* path) override {
    return static_cast<std::uint64_t>(check(::lseek(descriptor(file), 0, SEEK_END), "lseek", path));
  }
  void close(Handle file, const char* path) override { check(::close(descriptor(file)), "close", path); }

  ItemState state(const char* path) override {
    struct stat found{};
    check(::fstatat(at(), path, &found, AT_SYMLINK_NOFOLLOW), "fstatat", path);
    const ItemType type = S_ISREG(found.st_mode)   ? ItemType::file
                          : S_ISDIR(found.st_mode) ? ItemType::directory
                          : S_ISLNK(found.st_mode) ? ItemType::symbolic_link
                                                   : ItemType::other;
    return {type, static_cast<std::uint64_t>(found.st_size), found.st_nlink};
  }
  void access(const char* path) override { check(::faccessat(at(), path, R_OK, 0), "faccessat", path); }
  void set_mode(const char* path, unsigned mode) override { check(::fchmodat(at(), path, mode, 0), "fchmodat", path); }
  void set_times(const char* path) override {
    check(::utimensat(at(), path, nullptr, AT_SYMLINK_NOFOLLOW), "utimensat", path);
  }
  void truncate(const char* path, std::uint64_t bytes) override {
    check(::truncate(whole(path), static_cast<off_t>(bytes)), "truncate", path);
  }
  void rename(const char* from, const char* to) override { check(::renameat(at(), from, at(), to), "renameat", from); }
  void link(const char* from, const char* to) override { check(::linkat(at(), from, at(), to, 0), "linkat", to); }
  void make_symbolic_link(const char* target, const char* path) override {
    check(::symlinkat(target, at(), path), "symlinkat", path);
  }
  std::string_view read_symbolic_link(const char* path, std::span<char> out) override {
    const auto length = check(::readlinkat(at(), path, out.data(), out.size()), "readlinkat", path);
    return {out.data(), static_cast<std::size_t>(length)};
  }
  void set_attribute(const char* path, std::string_view value) override {
    check(::lsetxattr(whole(path), attribute, value.data(), value.size(), 0), "lsetxattr", path);
  }
  std::string_view get_attribute(const char* path, std::span<char> out) override {
    const auto length = check(::lgetxattr(whole(path), attribute, out.data(), out.size()), "lgetxattr", path);
    return {out.data(), static_cast<std::size_t>(length)};
  }
  void unlink(const char* path) override { check(::unlinkat(at(), path, 0), "unlinkat", path); }

 private:
  static constexpr const char* attribute = "user.strider";

  int at() const { return top_.get(); }
  static int descriptor(Handle file) { return static_cast<int>(file); }
  template <typename Result>
  Result check(Result result, const char* call, const char* path) const {
    if (result < 0) [[unlikely]]
      fail(call, path, errno);
    return result;
  }
  [[noreturn]] void fail(const char* call, const char* path, int error_number) const {
    throw stopped_transfer({call, top_.path() + '/' + path, 0, 0, error_number});
  }
  const char* whole(const char* path) {
    whole_.resize(way_);
    whole_ += path;
    return whole_.c_str();
  }
  void list_entries(std::size_t bytes, EntryVisitor& visitor) const {
    for (std::size_t at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries_.data() + at);
      at += entry->d_reclen;
      const char* name = entry->d_name;
      if (std::strcmp(name, ".") != 0 && std::strcmp(name, "..") != 0) visitor.entry(name);
    }
  }

  OpenFile top_;
  std::string whole_;  ///< does not depend on where the process is; up to `way_` the directory itself
  std::size_t way_;
  Descriptor home_;  ///< where the process was before its first change_directory
  alignas(dirent64) std::array<char, 65536> entries_;
};

}  // namespace strider
