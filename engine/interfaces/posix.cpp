#include <fcntl.h>
#include <sys/stat.h>

#include <memory>
#include <mutex>
#include <optional>

#include "interfaces/contiguous_runs.hpp"
#include "interfaces/interface.hpp"
#include "interfaces/posix_directory.hpp"
#include "interfaces/posix_io.hpp"
#include "interfaces/sieve.hpp"
#include "interfaces/threaded_file.hpp"

namespace strider {
namespace {

constexpr std::uint32_t most_threads = 1024;

enum class PosixMethod { multiple, vectored, sieve };

/// How a case wants its files.
struct PosixOptions {
  int flags = 0;
  bool preallocate = false;
  PosixMethod method = PosixMethod::multiple;
  std::uint64_t sieve_buffer = 0;
};

int access_flags(Access access, PosixMethod method) {
  switch (access) {
    case Access::write: return method == PosixMethod::sieve ? O_RDWR : O_WRONLY;  // sieving reads what is in the holes
    case Access::read: return O_RDONLY;
    case Access::read_write: return O_RDWR;
  }
  return O_RDWR;
}

/// Moves requests of a file, one at a time. Requests of one extent are one pread or pwrite, whatever the method.
class PosixMover {
 public:
  /// `sieving`: held while a window is changed, since the file's lock does not keep threads of a process apart.
  PosixMover(const OpenFile& file, const PosixOptions& options, std::mutex& sieving)
      : io_(file), method_(options.method), sieving_(sieving) {
    if (method_ == PosixMethod::sieve) sieve_.emplace(file, options.sieve_buffer);
  }

  void write(const Request& request) {
    if (request.extents.size() > 1 && method_ == PosixMethod::sieve) {
      const std::scoped_lock lock(sieving_);
      return sieve_->write(request);
    }
    if (request.extents.size() > 1 && method_ == PosixMethod::vectored)
      return runs_.for_each(request, [&](auto pieces, std::uint64_t offset) { io_.write_vector(pieces, offset); });
    for (const Extent& extent : request.extents)
      io_.write({request.memory + extent.memory_offset, extent.length}, extent.file_offset);
  }
  void read(const Request& request) {
    if (request.extents.size() > 1 && method_ == PosixMethod::sieve) return sieve_->read(request);
    if (request.extents.size() > 1 && method_ == PosixMethod::vectored)
      return runs_.for_each(request, [&](auto pieces, std::uint64_t offset) { io_.read_vector(pieces, offset); });
    for (const Extent& extent : request.extents)
      io_.read({request.memory + extent.memory_offset, extent.length}, extent.file_offset);
  }

 private:
  PosixIo io_;
  PosixMethod method_;
  std::mutex& sieving_;
  std::optional<Sieve> sieve_;
  ContiguousRuns runs_;
};

class PosixFile final : public File {
 public:
  PosixFile(RunFolder* folder, const OpenRequest& request, int flags, const PosixOptions& options)
      : file_(open_file(folder, request.path, flags, 0600)), mover_(file_, options, sieving_) {}

  void write(const Request& request) override { mover_.write(request); }
  void read(const Request& request) override { mover_.read(request); }
  void sync() override { file_.sync(); }
  void close() override { file_.close(); }
  std::uint64_t size() override { return file_.size(); }

  void preallocate(std::uint64_t bytes) {
    while (::fallocate(file_.get(), 0, 0, static_cast<off_t>(bytes)) != 0)
      if (errno != EINTR) throw_errno("fallocate", file_.path(), 0, bytes);
  }
  /// For a thread of its own, through the same descriptor; valid as long as the file.
  ThreadedFile::Mover mover(const PosixOptions& options) {
    return
        [mover = std::make_shared<PosixMover>(file_, options, sieving_)](Direction direction, const Request& request) {
          direction == Direction::write ? mover->write(request) : mover->read(request);
        };
  }

 private:
  OpenFile file_;
  std::mutex sieving_;
  PosixMover mover_;
};

PosixOptions options_of(const Settings& settings) {
  PosixOptions options;
  options.flags = (settings.flag("direct") ? O_DIRECT : 0) | (settings.flag("dsync") ? O_DSYNC : 0);
  options.preallocate = settings.flag("preallocate");
  const std::string& method = settings.text("method");
  options.method = method == "sieve"      ? PosixMethod::sieve
                   : method == "vectored" ? PosixMethod::vectored
                                          : PosixMethod::multiple;
  options.sieve_buffer = settings.number("sieve_buffer");
  if (options.method == PosixMethod::sieve && settings.flag("direct"))
    throw InputError("posix.method",
                     "data sieving is not possible with direct I/O: a sieving window can begin at any byte",
                     "posix.method = \"multiple\", or posix.direct = false");
  return options;
}

class Posix final : public Interface {
 public:
  explicit Posix(const Settings& settings) : options_(options_of(settings)) {}

  std::unique_ptr<File> open(const OpenRequest& request) override {
    const bool creates = request.creation == Creation::create;
    const int flags = options_.flags | access_flags(request.access, options_.method) | (creates ? O_CREAT : 0);
    auto file = std::make_unique<PosixFile>(folder(), request, flags, options_);
    if (creates && options_.preallocate && request.place.rank == 0) file->preallocate(request.file_size);
    if (request.depth == 1) return file;
    std::vector<ThreadedFile::Mover> movers;
    for (std::uint32_t i = 0; i < request.depth; ++i) movers.push_back(file->mover(options_));
    return std::make_unique<ThreadedFile>(std::move(file), std::move(movers));
  }
  void remove(const std::string& path) override { remove_file(folder(), path); }
  std::unique_ptr<Directory> open_directory(const std::string& path) override {
    return std::make_unique<PosixDirectory>(path, folder());
  }
  std::uint64_t alignment() const override { return (options_.flags & O_DIRECT) != 0 ? direct_alignment : 1; }
  std::uint32_t largest_depth() const override { return most_threads; }
  bool completes_within() const override { return true; }
  bool sizes_new_files() const override { return options_.preallocate; }

 private:
  PosixOptions options_;
};

constexpr Parameter posix_parameters[] = {
    {"direct", Kind::flag, "false", "Bypass the page cache (O_DIRECT)."},
    {"dsync", Kind::flag, "false", "Each write returns when its data is on stable storage (O_DSYNC)."},
    {"preallocate", Kind::flag, "false", "Reserve the file's space when it is created (fallocate)."},
    {"method", Kind::choice, "\"multiple\"",
     "Transfer of a request of several extents: one call for each extent (multiple), one call for each run of adjacent "
     "extents in the file (vectored: preadv, pwritev), or through a buffer that covers the extents and the holes "
     "between them (sieve).",
     no_limit, no_limit, "multiple|vectored|sieve"},
    {"sieve_buffer", Kind::bytes, "4194304", "Bytes of the buffer for method = \"sieve\".", 1},
};

}  // namespace

extern const InterfaceEntry posix_entry{"posix",
                                        "The operating system's calls: open, pread, pwrite, fsync, close.",
                                        {.storage = Storage::kept, .metadata = MetadataCalls::all()},
                                        posix_parameters,
                                        make_interface<Posix>};

}  // namespace strider
