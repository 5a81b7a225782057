#pragma once
#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "foundation/parameter.hpp"
#include "interfaces/directory.hpp"
#include "interfaces/mpi/error.hpp"
#include "interfaces/mpi/hints.hpp"

namespace strider {

/// Where the directories of a tree are: made by the operating system, or a part of the files' names.
enum class MpiFolders { made, in_names };

/// Metadata by MPI-IO, each call by its rank alone (MPI_COMM_SELF). MPI knows no directories: those of the tree are
/// made by the operating system, unmeasured, or are not there: `in_names` x/a/b is "x,a,b".
class MpiDirectory final : public Directory {
 public:
  MpiDirectory(const std::string& path, const std::string& prefix, const TextMap& hints, MpiFolders folders)
      : name_(prefix + path + (folders == MpiFolders::made ? '/' : separator)),
        top_(prefix.size()),
        length_(name_.size()),
        folders_(folders),
        hints_(hints) {}

  void make_directory(const char* path) override {
    if (folders_ == MpiFolders::in_names) return;
    if (::mkdir(plain(path), 0700) != 0) throw IoError({"mkdir", plain(path), 0, 0, errno});
  }
  void remove_directory(const char* path) override {
    if (folders_ == MpiFolders::in_names) return;
    if (::rmdir(plain(path)) != 0) throw IoError({"rmdir", plain(path), 0, 0, errno});
  }

  Handle open(const char* path, OpenMode mode) override {
    const int flags = mode == OpenMode::create  ? MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY
                      : mode == OpenMode::write ? MPI_MODE_WRONLY
                                                : MPI_MODE_RDONLY;
    return handle_of(opened(path, flags));
  }
  void write(Handle handle, std::span<const std::byte> data, const char* path) override {
    MPI_Status status;
    check(MPI_File_write_at(file_of(handle), 0, data.data(), static_cast<int>(data.size()), MPI_BYTE, &status),
          "MPI_File_write_at", path);
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    if (static_cast<std::size_t>(count) != data.size())
      throw IoError({"MPI_File_write_at", full(path), 0, data.size(), 0},
                    moved_too_little(static_cast<std::uint64_t>(count), data.size()));
  }
  std::uint64_t read(Handle handle, std::span<std::byte> to, const char* path) override {
    MPI_Status status;
    check(MPI_File_read_at(file_of(handle), 0, to.data(), static_cast<int>(to.size()), MPI_BYTE, &status),
          "MPI_File_read_at", path);
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    return static_cast<std::uint64_t>(count);
  }
  void sync(Handle handle, const char* path) override { check(MPI_File_sync(file_of(handle)), "MPI_File_sync", path); }
  std::uint64_t seek_end(Handle handle, const char* path) override {
    check(MPI_File_seek(file_of(handle), 0, MPI_SEEK_END), "MPI_File_seek", path);
    MPI_Offset offset = 0;
    check(MPI_File_get_position(file_of(handle), &offset), "MPI_File_get_position", path);
    return static_cast<std::uint64_t>(offset);
  }
  void close(Handle handle, const char* path) override { close(file_of(handle), path); }

  void truncate(const char* path, std::uint64_t bytes) override {
    const MPI_File file = opened(path, MPI_MODE_WRONLY);
    const int code = MPI_File_set_size(file, static_cast<MPI_Offset>(bytes));
    close(file, path);
    check(code, "MPI_File_set_size", path);
  }
  void unlink(const char* path) override {
    const MPI_Info hints = folders_ == MpiFolders::in_names ? hints_.get() : MPI_INFO_NULL;
    check(MPI_File_delete(full(path), hints), "MPI_File_delete", path);
  }

 private:
  static constexpr char separator = ',';
  static MPI_File file_of(Handle handle) { return MPI_File_f2c(static_cast<MPI_Fint>(handle)); }
  static Handle handle_of(MPI_File file) { return MPI_File_c2f(file); }

  MPI_File opened(const char* path, int mode) {
    MPI_File file = MPI_FILE_NULL;
    check(MPI_File_open(MPI_COMM_SELF, full(path), mode, hints_.get(), &file), "MPI_File_open", path);
    return file;
  }
  void close(MPI_File file, const char* path) { check(MPI_File_close(&file), "MPI_File_close", path); }
  void check(int code, const char* call, const char* path) {
    if (code != MPI_SUCCESS) [[unlikely]]
      check_mpi(code, call, full(path));
  }
  const char* full(const char* path) {
    name_.resize(length_);
    name_ += path;
    if (folders_ == MpiFolders::in_names)
      std::replace(name_.begin() + static_cast<std::ptrdiff_t>(length_), name_.end(), '/', separator);
    return name_.c_str();
  }
  /// Without the prefix that only MPI understands.
  const char* plain(const char* path) { return full(path) + top_; }

  std::string name_;
  std::size_t top_, length_;
  MpiFolders folders_;
  Hints hints_;
};

}  // namespace strider
