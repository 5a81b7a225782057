#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "interfaces/library_directory.hpp"
#include "interfaces/pvfs2/client.hpp"
#include "interfaces/pvfs2/layout.hpp"

namespace strider {

/// The servers of a new file's data files. Neither is OrangeFS's own order, with which a file is stuffed: one server
/// holds all of it until a request of enough contiguous bytes comes, and a list of small pieces is none.
enum class Pvfs2Order { random, configured };

struct Pvfs2Creation {
  Pvfs2Layout layout;
  Pvfs2Order order = Pvfs2Order::random;
};

struct Pvfs2Transfer {
  enum PVFS_io_type type;
  PVFS_object_ref file;
  PVFS_Request in_file;
  PVFS_offset offset;
  void* memory;
  PVFS_Request in_memory;
};

/// Metadata of OrangeFS for LibraryDirectory, and what data needs of it. There are no open files: a handle is that of
/// an object.
struct Pvfs2Calls : LibraryCalls {
  static constexpr const char* prefix = "PVFS_sys_";
  const Pvfs2Client* client = nullptr;
  std::string top;  ///< a folder of which the object is known: lookups begin there
  PVFS_object_ref top_ref{};

  PVFS_error find(const std::string& path, PVFS_object_ref& object) const;
  /// `creation`: null for an empty file as the file system would have it.
  PVFS_error create(const char* path, const Pvfs2Creation* creation, PVFS_object_ref& object) const;
  PVFS_error attributes_of(const std::string& path, PVFS_object_ref object, std::uint32_t mask,
                           PVFS_sysresp_getattr& found) const;
  PVFS_error move(const Pvfs2Call& call, const Pvfs2Transfer& transfer, std::int64_t& moved) const;
  int flush(const std::string& path, PVFS_object_ref file) const;
  int set_attribute(const std::string& path, const char* name, std::string_view value) const;
  std::int64_t get_attribute(const std::string& path, PVFS_object_ref object, const char* name,
                             std::span<char> out) const;

  int mkdir(const char* path) const;
  int unlink(const char* path) const;
  int rmdir(const char* path) const { return unlink(path); }
  int list(const char* path, EntryVisitor& visitor) const;
  int mknod(const char* path) const;
  int open(const char* path, OpenMode mode, Handle& handle) const;
  std::int64_t pwrite(Handle handle, const std::byte* from, std::uint64_t length, std::uint64_t offset) const;
  std::int64_t pread(Handle handle, std::byte* to, std::uint64_t length, std::uint64_t offset) const;
  int fsync(Handle handle) const;
  static int close(Handle handle);
  int lstat(const char* path, ItemState& state) const;
  int chmod(const char* path, unsigned mode) const;
  int set_times(const char* path) const;
  int truncate(const char* path, std::uint64_t bytes) const;
  int rename(const char* from, const char* to) const;
  int symlink(const char* target, const char* path) const;
  std::int64_t readlink(const char* path, std::span<char> out) const;
  int setxattr(const char* path, std::string_view value) const { return set_attribute(path, attribute, value); }
  std::int64_t getxattr(const char* path, std::span<char> out) const;

 private:
  int set(const char* path, const PVFS_sys_attr& wanted) const;
  std::int64_t move_bytes(const Pvfs2Call& call, enum PVFS_io_type type, PVFS_object_ref file, std::byte* memory) const;
};

/// A description of places in a file or in memory; the library's handle frees itself.
class Pvfs2Places {
 public:
  Pvfs2Places() = default;
  Pvfs2Places(const Pvfs2Places&) = delete;
  Pvfs2Places& operator=(const Pvfs2Places&) = delete;
  ~Pvfs2Places() {
    if (request_ != nullptr) PVFS_Request_free(&request_);
  }
  void contiguous(std::uint64_t length) {
    PVFS_Request_contiguous(static_cast<std::int32_t>(length), PVFS_BYTE, &request_);
  }
  void list(std::span<std::int32_t> lengths, std::span<PVFS_size> places) {
    PVFS_Request_hindexed(static_cast<std::int32_t>(lengths.size()), lengths.data(), places.data(), PVFS_BYTE,
                          &request_);
  }
  PVFS_Request get() const { return request_; }

 private:
  PVFS_Request request_ = nullptr;
};

}  // namespace strider
