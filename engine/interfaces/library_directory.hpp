#pragma once
#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <utility>

#include "foundation/whole_transfer.hpp"
#include "interfaces/directory.hpp"

namespace strider {

inline ItemType type_of(unsigned mode) {
  return S_ISREG(mode)   ? ItemType::file
         : S_ISDIR(mode) ? ItemType::directory
         : S_ISLNK(mode) ? ItemType::symbolic_link
                         : ItemType::other;
}

inline bool is_entry(const char* name) {
  const std::string_view text(name);
  return text != "." && text != "..";
}

/// What a library's wrapper for LibraryDirectory derives from: it hides the calls that it has by its own. All take
/// paths inside the file system, and return a negative errno where they fail.
struct LibraryCalls {
  static constexpr const char* attribute = "user.strider";
  static constexpr const char* write_name = "pwrite";
  static constexpr const char* read_name = "pread";
  using Handle = Directory::Handle;

  static int mkdir(const char*) { return -EOPNOTSUPP; }
  static int rmdir(const char*) { return -EOPNOTSUPP; }
  static int chdir(const char*) { return -EOPNOTSUPP; }
  static int list(const char*, EntryVisitor&) { return -EOPNOTSUPP; }
  static int mknod(const char*) { return -EOPNOTSUPP; }
  static int open(const char*, OpenMode, Handle&) { return -EOPNOTSUPP; }
  static std::int64_t pwrite(Handle, const std::byte*, std::uint64_t, std::uint64_t) { return -EOPNOTSUPP; }
  /// 0 at the end of the file.
  static std::int64_t pread(Handle, std::byte*, std::uint64_t, std::uint64_t) { return -EOPNOTSUPP; }
  static int fsync(Handle) { return -EOPNOTSUPP; }
  static std::int64_t seek_end(Handle) { return -EOPNOTSUPP; }
  static int close(Handle) { return -EOPNOTSUPP; }
  static int lstat(const char*, ItemState&) { return -EOPNOTSUPP; }
  static int access(const char*) { return -EOPNOTSUPP; }
  static int chmod(const char*, unsigned) { return -EOPNOTSUPP; }
  static int set_times(const char*) { return -EOPNOTSUPP; }
  static int truncate(const char*, std::uint64_t) { return -EOPNOTSUPP; }
  static int rename(const char*, const char*) { return -EOPNOTSUPP; }
  static int link(const char*, const char*) { return -EOPNOTSUPP; }
  static int symlink(const char*, const char*) { return -EOPNOTSUPP; }
  static std::int64_t readlink(const char*, std::span<char>) { return -EOPNOTSUPP; }
  static int setxattr(const char*, std::string_view) { return -EOPNOTSUPP; }
  static std::int64_t getxattr(const char*, std::span<char>) { return -EOPNOTSUPP; }
  static int unlink(const char*) { return -EOPNOTSUPP; }
};

/// Removes a file, if it is there. `path` is inside the file system, `call` the library's name for it.
template <typename Library>
void remove_file(const Library& library, const std::string& path, const char* call = "unlink") {
  const int error = -library.unlink(path.c_str());
  if (error != 0 && error != ENOENT) throw IoError({std::string(Library::prefix) + call, path, 0, 0, error});
}

/// Metadata by a file system's own library. `Library` derives from LibraryCalls, and `Library::prefix` begins the names
/// of its calls.
template <typename Library>
class LibraryDirectory final : public Directory {
 public:
  /// `inside`: the directory's path inside the file system.
  LibraryDirectory(Library library, const std::string& inside)
      : library_(std::move(library)), first_(inside), second_(inside) {}

  void make_directory(const char* path) override { check(library_.mkdir(whole(path)), "mkdir"); }
  void remove_directory(const char* path) override { check(library_.rmdir(whole(path)), "rmdir"); }
  void change_directory(const char* path) override { check(library_.chdir(whole(path)), "chdir"); }
  void go_back() override { check(library_.chdir("/"), "chdir"); }
  void list(const char* path, EntryVisitor& visitor) override { check(library_.list(whole(path), visitor), "readdir"); }

  void make_node(const char* path) override { check(library_.mknod(whole(path)), "mknod"); }
  Handle open(const char* path, OpenMode mode) override {
    Handle file{};
    check(library_.open(whole(path), mode, file), "open");
    return file;
  }
  void write(Handle file, std::span<const std::byte> data, const char* path) override {
    const Transferred moved = transfer_whole(data.size(), [&](std::uint64_t done) {
      return library_.pwrite(file, data.data() + done, data.size() - done, done);
    });
    if (moved.bytes < data.size()) fail(moved.error_number, Library::write_name, whole(path));
  }
  std::uint64_t read(Handle file, std::span<std::byte> to, const char* path) override {
    const Transferred moved = transfer_whole(
        to.size(), [&](std::uint64_t done) { return library_.pread(file, to.data() + done, to.size() - done, done); });
    if (moved.error_number != 0) fail(moved.error_number, Library::read_name, whole(path));
    return moved.bytes;
  }
  void sync(Handle file, const char* path) override { check(library_.fsync(file), "fsync", path); }
  std::uint64_t seek_end(Handle file, const char* path) override {
    return check(library_.seek_end(file), "lseek", path);
  }
  void close(Handle file, const char* path) override { check(library_.close(file), "close", path); }

  ItemState state(const char* path) override {
    ItemState state;
    check(library_.lstat(whole(path), state), "lstat");
    return state;
  }
  void access(const char* path) override { check(library_.access(whole(path)), "access"); }
  void set_mode(const char* path, unsigned mode) override { check(library_.chmod(whole(path), mode), "chmod"); }
  void set_times(const char* path) override { check(library_.set_times(whole(path)), "utimens"); }
  void truncate(const char* path, std::uint64_t bytes) override {
    check(library_.truncate(whole(path), bytes), "truncate");
  }
  void rename(const char* from, const char* to) override {
    check(library_.rename(whole(from), second_.of(to)), "rename");
  }
  void link(const char* from, const char* to) override { check(library_.link(whole(from), second_.of(to)), "link"); }
  void make_symbolic_link(const char* target, const char* path) override {
    check(library_.symlink(target, whole(path)), "symlink");
  }
  std::string_view read_symbolic_link(const char* path, std::span<char> out) override {
    return {out.data(), check(library_.readlink(whole(path), out), "readlink")};
  }
  void set_attribute(const char* path, std::string_view value) override {
    check(library_.setxattr(whole(path), value), "setxattr");
  }
  std::string_view get_attribute(const char* path, std::span<char> out) override {
    return {out.data(), check(library_.getxattr(whole(path), out), "getxattr")};
  }
  void unlink(const char* path) override { check(library_.unlink(whole(path)), "unlink"); }

 private:
  /// A path below the directory, in memory that is kept.
  class Text {
   public:
    explicit Text(const std::string& top) : text_(top == "/" ? top : top + '/'), top_(text_.size()) {}
    const char* of(const char* path) {
      text_.resize(top_);
      text_ += path;
      return text_.c_str();
    }
    const std::string& get() const { return text_; }

   private:
    std::string text_;
    std::size_t top_;
  };

  const char* whole(const char* path) { return first_.of(path); }
  std::uint64_t check(std::int64_t result, const char* call) const {
    if (result < 0) [[unlikely]]
      fail(static_cast<int>(-result), call, first_.get());
    return static_cast<std::uint64_t>(result);
  }
  [[noreturn]] static void fail(int error_number, const char* call, const std::string& path) {
    throw stopped_transfer({std::string(Library::prefix) + call, path, 0, 0, error_number});
  }
  std::uint64_t check(std::int64_t result, const char* call, const char* path) {
    if (result < 0) whole(path);
    return check(result, call);
  }

  Library library_;
  Text first_, second_;
};

}  // namespace strider
