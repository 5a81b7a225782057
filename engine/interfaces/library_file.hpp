#pragma once
#include <fcntl.h>

#include "interfaces/contiguous_runs.hpp"
#include "interfaces/interface.hpp"
#include "interfaces/library_directory.hpp"

namespace strider {

inline int open_flags(Access access) {
  switch (access) {
    case Access::write: return O_WRONLY;
    case Access::read: return O_RDONLY;
    case Access::read_write: return O_RDWR;
  }
  return O_RDWR;
}

/// How a request of several extents is done.
enum class LibraryMethod { multiple, vectored };

inline LibraryMethod library_method(const Settings& settings) {
  return settings.text("method") == "vectored" ? LibraryMethod::vectored : LibraryMethod::multiple;
}

/// An open file of a file system's own library: `Library` as for LibraryDirectory, with facts(handle, path).
template <typename Library>
class LibraryFile final : public File {
 public:
  using Handle = LibraryCalls::Handle;

  LibraryFile(Library library, Handle handle, std::string path, LibraryMethod method)
      : library_(std::move(library)), handle_(handle), path_(std::move(path)), method_(method) {}
  LibraryFile(const LibraryFile&) = delete;
  LibraryFile& operator=(const LibraryFile&) = delete;
  ~LibraryFile() override {
    if (open_) library_.close(handle_);
  }

  void write(const Request& request) override {
    if (request.extents.size() > 1 && method_ == LibraryMethod::vectored)
      return runs_.for_each(request, [&](std::span<iovec> pieces, std::uint64_t offset) {
        move_pieces(what("pwritev"), pieces, offset, [&](const iovec* first, int count, std::uint64_t at) {
          return library_.pwritev(handle_, first, count, at);
        });
      });
    for (const Extent& extent : request.extents)
      move_whole(what(Library::write_name), request.memory + extent.memory_offset, extent.length, extent.file_offset,
                 [&](const std::byte* from, std::uint64_t length, std::uint64_t at) {
                   return library_.pwrite(handle_, from, length, at);
                 });
  }
  void read(const Request& request) override {
    if (request.extents.size() > 1 && method_ == LibraryMethod::vectored)
      return runs_.for_each(request, [&](std::span<iovec> pieces, std::uint64_t offset) {
        move_pieces(what("preadv"), pieces, offset, [&](const iovec* first, int count, std::uint64_t at) {
          return library_.preadv(handle_, first, count, at);
        });
      });
    for (const Extent& extent : request.extents)
      move_whole(what(Library::read_name), request.memory + extent.memory_offset, extent.length, extent.file_offset,
                 [&](std::byte* to, std::uint64_t length, std::uint64_t at) {
                   return library_.pread(handle_, to, length, at);
                 });
  }
  void sync() override { check(library_.fsync(handle_), "fsync"); }
  void close() override {
    open_ = false;
    check(library_.close(handle_), "close");
  }
  std::uint64_t size() override {
    const std::int64_t bytes = library_.seek_end(handle_);
    if (bytes < 0) throw IoError({std::string(Library::prefix) + "lseek", path_, 0, 0, static_cast<int>(-bytes)});
    return static_cast<std::uint64_t>(bytes);
  }
  Facts facts() const override { return library_.facts(handle_, path_); }

 private:
  LibraryCall what(const char* name) const { return {Library::prefix, name, path_}; }
  void check(int result, const char* call) const {
    if (result < 0) throw IoError({std::string(Library::prefix) + call, path_, 0, 0, -result});
  }

  Library library_;
  Handle handle_;
  std::string path_;
  LibraryMethod method_;
  bool open_ = true;
  ContiguousRuns runs_;
};

}  // namespace strider
