#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "foundation/error.hpp"

namespace strider {

/// Calls of metadata that an interface may offer; the bits of `MetadataCalls`.
enum class MetadataCall : unsigned {
  make_directory,
  remove_directory,
  change_directory,
  list,
  make_node,
  open,
  seek,
  state,
  access,
  set_mode,
  set_times,
  truncate,
  rename,
  link,
  symbolic_link,
  attributes,
  unlink,
};

/// A set of calls.
class MetadataCalls {
 public:
  constexpr MetadataCalls() = default;
  constexpr MetadataCalls(std::initializer_list<MetadataCall> calls) {
    for (const MetadataCall call : calls) bits_ |= 1U << static_cast<unsigned>(call);
  }
  static constexpr MetadataCalls all() {
    MetadataCalls every;
    every.bits_ = ~0U;
    return every;
  }
  constexpr bool contains(MetadataCalls others) const { return (bits_ & others.bits_) == others.bits_; }
  constexpr bool empty() const { return bits_ == 0; }

 private:
  unsigned bits_ = 0;
};

enum class OpenMode { create, read, write };
enum class ItemType { file, directory, symbolic_link, other };

struct ItemState {
  ItemType type = ItemType::other;
  std::uint64_t size_bytes = 0;
  std::uint64_t links = 0;
};

/// Receives each entry of a directory but "." and "..".
class EntryVisitor {
 public:
  virtual ~EntryVisitor() = default;
  virtual void entry(const char* name) = 0;
};

/// Metadata operations of one rank below a directory. Paths are relative to it and zero-terminated; symbolic links are
/// not followed unless said otherwise. All calls throw IoError; an interface implements those that its entry names.
class Directory {
 public:
  /// An open file: whatever the interface makes of it.
  using Handle = std::intptr_t;
  static constexpr Handle closed = -1;  ///< none that an interface gives

  virtual ~Directory() = default;
  /// These two are for the directories of the tree as well, whether or not an interface offers to measure them.
  virtual void make_directory(const char* path) { missing("make_directory", path); }
  virtual void remove_directory(const char* path) { missing("remove_directory", path); }
  /// Makes a directory the process's own, and goes back to where it was at first.
  virtual void change_directory(const char* path) { missing("change_directory", path); }
  virtual void go_back() {}
  virtual void list(const char* path, EntryVisitor&) { missing("list", path); }

  /// Makes an empty file that does not exist, without opening it.
  virtual void make_node(const char* path) { missing("make_node", path); }
  /// OpenMode::create: the file does not exist yet and is open for writing.
  virtual Handle open(const char* path, OpenMode) { return missing("open", path), Handle{}; }
  virtual void write(Handle, std::span<const std::byte>, const char* path) { missing("write", path); }
  /// From the beginning; how much there was.
  virtual std::uint64_t read(Handle, std::span<std::byte>, const char* path) { return missing("read", path), 0; }
  virtual void sync(Handle, const char* path) { missing("sync", path); }
  /// Goes to the end; the offset of that.
  virtual std::uint64_t seek_end(Handle, const char* path) { return missing("seek", path), 0; }
  virtual void close(Handle, const char* path) { missing("close", path); }

  virtual ItemState state(const char* path) { return missing("state", path), ItemState{}; }
  virtual void access(const char* path) { missing("access", path); }
  virtual void set_mode(const char* path, unsigned /*mode*/) { missing("set_mode", path); }
  virtual void set_times(const char* path) { missing("set_times", path); }
  virtual void truncate(const char* path, std::uint64_t /*bytes*/) { missing("truncate", path); }
  virtual void rename(const char* from, const char* /*to*/) { missing("rename", from); }
  virtual void link(const char* from, const char* /*to*/) { missing("link", from); }
  virtual void make_symbolic_link(const char* /*target*/, const char* path) { missing("symlink", path); }
  /// The target, as much of it as fits into `out`.
  virtual std::string_view read_symbolic_link(const char* path, std::span<char>) {
    return missing("readlink", path), std::string_view{};
  }
  virtual void set_attribute(const char* path, std::string_view /*value*/) { missing("set_attribute", path); }
  virtual std::string_view get_attribute(const char* path, std::span<char>) {
    return missing("get_attribute", path), std::string_view{};
  }
  virtual void unlink(const char* path) { missing("unlink", path); }

 private:
  [[noreturn]] static void missing(const char* call, const char* path) {
    throw IoError({call, path, 0, 0, 0}, "the interface does not offer this call");
  }
};

}  // namespace strider
