#include <fcntl.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <mutex>

#include "foundation/descriptor.hpp"
#include "interfaces/interface.hpp"

namespace strider {
namespace {

/// Copies to and from mapped files. What the file system cannot give or take it says by the signal SIGBUS, which would
/// end the process: here it ends the copy.
class GuardedCopy {
 public:
  /// Null where all was copied, else the address in the mapping that could not be reached.
  static const void* copy(void* to, const void* from, std::size_t bytes) {
    install();
    // The signal's mask is not saved, which would be a system call each time: the handler does not change it.
    if (sigsetjmp(recovery, 0) != 0) {
      armed = 0;
      return const_cast<const void*>(fault);
    }
    armed = 1;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    std::memcpy(to, from, bytes);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    armed = 0;
    return nullptr;
  }

 private:
  static void install() {
    static std::once_flag once;
    std::call_once(once, [] {
      struct sigaction action{};
      action.sa_sigaction = handle;
      action.sa_flags = SA_SIGINFO | SA_NODEFER;
      ::sigaction(SIGBUS, &action, nullptr);
    });
  }
  static void handle(int number, siginfo_t* info, void*) {
    if (armed == 0) {  // not one of ours: as if there were no handler
      std::signal(number, SIG_DFL);
      std::raise(number);
      return;
    }
    fault = info->si_addr;
    siglongjmp(recovery, 1);
  }

  static thread_local sigjmp_buf recovery;
  static thread_local volatile std::sig_atomic_t armed;
  static thread_local void* volatile fault;
};
thread_local sigjmp_buf GuardedCopy::recovery;
thread_local volatile std::sig_atomic_t GuardedCopy::armed = 0;
thread_local void* volatile GuardedCopy::fault = nullptr;

/// How a case wants its files mapped.
struct MmapOptions {
  bool populate = false;
  int advice = MADV_NORMAL;
  int sync = MS_SYNC;
};

class MappedFile final : public File {
 public:
  MappedFile(RunFolder* folder, const OpenRequest& request, const MmapOptions& options)
      : file_(open_file(
            folder, request.path,
            (request.access == Access::read ? O_RDONLY : O_RDWR) | (request.creation == Creation::create ? O_CREAT : 0),
            0600)),
        sync_(options.sync) {
    bytes_ = file_.size();
    const bool writes = request.access != Access::read;
    if (writes && bytes_ < request.file_size) {
      // Every rank of a shared file may do so: none makes it shorter.
      if (::ftruncate(file_.get(), static_cast<off_t>(request.file_size)) != 0)
        throw_errno("ftruncate", file_.path(), 0, request.file_size);
      bytes_ = request.file_size;
    }
    if (bytes_ == 0) return;
    const int protection = PROT_READ | (writes ? PROT_WRITE : 0);
    void* address = ::mmap(nullptr, bytes_, protection, MAP_SHARED, file_.get(), 0);
    if (address == MAP_FAILED) throw_errno("mmap", file_.path(), 0, bytes_);
    mapping_ = static_cast<std::byte*>(address);
    if (options.populate) populate(writes);
    if (options.advice == MADV_NORMAL || ::madvise(mapping_, bytes_, options.advice) == 0) return;
    const int error = errno;
    unmap();
    throw IoError({"madvise", file_.path(), 0, bytes_, error});
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() override { unmap(); }

  void write(const Request& request) override {
    for (const Extent& extent : request.extents) {
      need(extent, "write to a mapping");
      const void* fault =
          GuardedCopy::copy(mapping_ + extent.file_offset, request.memory + extent.memory_offset, extent.length);
      if (fault != nullptr) [[unlikely]]
        throw failure_at(fault, extent, "write to a mapping", Direction::write);
    }
  }
  void read(const Request& request) override {
    for (const Extent& extent : request.extents) {
      need(extent, "read of a mapping");
      const void* fault =
          GuardedCopy::copy(request.memory + extent.memory_offset, mapping_ + extent.file_offset, extent.length);
      if (fault != nullptr) [[unlikely]]
        throw failure_at(fault, extent, "read of a mapping", Direction::read);
    }
  }
  void sync() override {
    if (mapping_ != nullptr && ::msync(mapping_, bytes_, sync_) != 0) throw_errno("msync", file_.path(), 0, bytes_);
  }
  void close() override {
    if (mapping_ != nullptr && ::munmap(std::exchange(mapping_, nullptr), bytes_) != 0)
      throw_errno("munmap", file_.path(), 0, bytes_);
    file_.close();
  }
  std::uint64_t size() override { return file_.size(); }

 private:
  /// As MAP_POPULATE does, which tries for ever where a page cannot be read (seen with FUSE on Linux 6.18). A page that
  /// is missing is reported by the transfer that needs it.
  void populate(bool writes) {
#ifdef MADV_POPULATE_READ
    if (::madvise(mapping_, bytes_, writes ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) == 0 || errno != EINVAL) return;
#endif
    // Before Linux 5.14.
    const int protection = PROT_READ | (writes ? PROT_WRITE : 0);
    const int flags = MAP_SHARED | MAP_FIXED | MAP_POPULATE;
    if (::mmap(mapping_, bytes_, protection, flags, file_.get(), 0) != MAP_FAILED) return;
    const int error = errno;
    unmap();
    throw IoError({"mmap", file_.path(), 0, bytes_, error});
  }
  void unmap() {
    if (mapping_ != nullptr) ::munmap(std::exchange(mapping_, nullptr), bytes_);
  }
  void need(const Extent& extent, const char* call) const {
    const std::uint64_t end = extent.file_offset + extent.length;
    if (end <= bytes_) [[likely]]
      return;
    const std::uint64_t begin = std::max(extent.file_offset, bytes_);
    throw IoError({call, file_.path(), begin, end - begin, 0},
                  "the mapping ends here: the file had this size when it was opened");
  }

  /// The signal does not say why: the file is shorter by now, or no page of it can be read or given.
  IoError failure_at(const void* fault, const Extent& extent, const char* call, Direction direction) const {
    const auto offset = static_cast<std::uint64_t>(static_cast<const std::byte*>(fault) - mapping_);
    const std::uint64_t begin = std::max(offset, extent.file_offset);
    const IoError::What what{call, file_.path(), begin, extent.file_offset + extent.length - begin, 0};
    if (begin >= file_.size())
      return IoError(what, "the file ends here: it became shorter while it was mapped (SIGBUS)");
    IoError::What reason = what;
    reason.error_number = EIO;
    // Why it cannot be written, a reservation of the same place shows.
    if (direction == Direction::write &&
        ::fallocate(file_.get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin), 1) != 0 &&
        (errno == ENOSPC || errno == EDQUOT))
      reason.error_number = errno;
    return IoError(reason);
  }

  OpenFile file_;
  int sync_;
  std::uint64_t bytes_ = 0;
  std::byte* mapping_ = nullptr;
};

int advice_of(const std::string& name) {
  if (name == "sequential") return MADV_SEQUENTIAL;
  if (name == "random") return MADV_RANDOM;
  return name == "willneed" ? MADV_WILLNEED : MADV_NORMAL;
}

class Mmap final : public Interface {
 public:
  explicit Mmap(const Settings& settings)
      : options_{settings.flag("populate"), advice_of(settings.text("advice")),
                 settings.text("msync") == "async" ? MS_ASYNC : MS_SYNC} {}

  std::unique_ptr<File> open(const OpenRequest& request) override {
    return std::make_unique<MappedFile>(folder(), request, options_);
  }
  void remove(const std::string& path) override { remove_file(folder(), path); }
  bool sizes_new_files() const override { return true; }

 private:
  MmapOptions options_;
};

constexpr Parameter mmap_parameters[] = {
    {"populate", Kind::flag, "false", "Map all pages when the file is opened instead of each page at its first use."},
    {"advice", Kind::choice, "\"normal\"", "Advice to the kernel about the coming accesses (madvise).", no_limit,
     no_limit, "normal|sequential|random|willneed"},
    {"msync", Kind::choice, "\"sync\"",
     "Effect of a sync: wait until the data is on stable storage (sync), or only request the write-back (async; a "
     "no-op on Linux).",
     no_limit, no_limit, "sync|async"},
};

}  // namespace

extern const InterfaceEntry mmap_entry{"mmap",
                                       "Files as memory: mmap, loads and stores, msync, munmap.",
                                       {.storage = Storage::kept},
                                       mmap_parameters,
                                       make_interface<Mmap>};

}  // namespace strider
