#include <fcntl.h>
#include <sys/stat.h>

#include "interfaces/descriptor.hpp"
#include "interfaces/interface.hpp"

namespace strider {
namespace {

constexpr std::uint64_t direct_alignment = 512;

int access_flags(Access access) {
  switch (access) {
    case Access::write: return O_WRONLY;
    case Access::read: return O_RDONLY;
    case Access::read_write: return O_RDWR;
  }
  return O_RDWR;
}

/// One pread or pwrite per extent; short transfers are continued, interrupted calls repeated.
class PosixFile final : public File {
 public:
  PosixFile(const OpenRequest& request, int flags)
      : file_(::open(request.path.c_str(), flags | O_CLOEXEC, 0600), request.path) {}

  void write(const Request& request) override {
    for (const Extent& extent : request.extents) {
      const std::byte* from = request.memory + extent.memory_offset;
      std::uint64_t done = 0;
      while (done < extent.length) {
        const ssize_t moved =
            ::pwrite(file_.get(), from + done, extent.length - done, static_cast<off_t>(extent.file_offset + done));
        if (moved > 0) [[likely]]
          done += static_cast<std::uint64_t>(moved);
        else stopped("pwrite", moved, extent, done);
      }
    }
  }

  void read(const Request& request) override {
    for (const Extent& extent : request.extents) {
      std::byte* to = request.memory + extent.memory_offset;
      std::uint64_t done = 0;
      while (done < extent.length) {
        const ssize_t moved =
            ::pread(file_.get(), to + done, extent.length - done, static_cast<off_t>(extent.file_offset + done));
        if (moved > 0) [[likely]]
          done += static_cast<std::uint64_t>(moved);
        else stopped("pread", moved, extent, done);
      }
    }
  }

  void sync() override {
    if (::fsync(file_.get()) != 0) throw_errno("fsync", file_.path());
  }
  void close() override { file_.close(); }

  void preallocate(std::uint64_t bytes) {
    while (::fallocate(file_.get(), 0, 0, static_cast<off_t>(bytes)) != 0)
      if (errno != EINTR) throw_errno("fallocate", file_.path(), 0, bytes);
  }

 private:
  /// Returns when the call is to be repeated.
  void stopped(const char* call, ssize_t moved, const Extent& extent, std::uint64_t done) const {
    if (moved < 0 && errno == EINTR) return;
    const std::uint64_t offset = extent.file_offset + done, length = extent.length - done;
    if (moved < 0) throw_errno(call, file_.path(), offset, length);
    throw IoError({call, file_.path(), offset, length, 0}, "the call moved no bytes: the file ends here");
  }
  Descriptor file_;
};

class Posix final : public Interface {
 public:
  explicit Posix(const Settings& settings)
      : flags_((settings.flag("direct") ? O_DIRECT : 0) | (settings.flag("dsync") ? O_DSYNC : 0)),
        preallocate_(settings.flag("preallocate")) {}

  std::unique_ptr<File> open(const OpenRequest& request) override {
    const bool creates = request.creation == Creation::create;
    auto file = std::make_unique<PosixFile>(request, flags_ | access_flags(request.access) | (creates ? O_CREAT : 0));
    if (creates && preallocate_ && request.place.rank == 0) file->preallocate(request.file_size);
    return file;
  }
  void remove(const std::string& path) override {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) throw_errno("unlink", path);
  }
  std::uint64_t alignment() const override { return (flags_ & O_DIRECT) != 0 ? direct_alignment : 1; }

 private:
  int flags_;
  bool preallocate_;
};

constexpr Parameter parameters[] = {
    {"direct", Kind::flag, "false", "Bypass the page cache (O_DIRECT)."},
    {"dsync", Kind::flag, "false", "Each write returns when its data is on stable storage (O_DSYNC)."},
    {"preallocate", Kind::flag, "false", "Reserve the file's space when it is created (fallocate)."},
};

}  // namespace

extern const InterfaceEntry posix_entry{"posix",
                                        "The operating system's calls: open, pread, pwrite, fsync, close.",
                                        {.storage = true, .collective = false},
                                        parameters,
                                        make_interface<Posix>};

}  // namespace strider
