#include <fcntl.h>
#include <liburing.h>
#include <limits.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <vector>

#include "foundation/descriptor.hpp"
#include "foundation/whole_transfer.hpp"
#include "interfaces/interface.hpp"

namespace strider {
namespace {

constexpr std::uint32_t most_entries = 32768;  ///< of a submission queue (IORING_MAX_ENTRIES)
constexpr std::uint32_t entries_for_lists = 1024;
constexpr std::size_t largest_entry = std::size_t{1} << 30;  ///< bytes; an entry counts them in 32 bits
constexpr std::uint64_t largest_fixed_buffer = std::uint64_t{1} << 30;

/// How a case wants its rings and files.
struct Options {
  int open_flags = 0;
  unsigned ring_flags = 0;
  bool fixed_files = false;
  bool fixed_buffers = false;
  std::uint64_t batch = 0;
  std::uint64_t wait = 1;
};

struct FlagName {
  unsigned flag;
  const char* name;
};

constexpr FlagName ring_flag_names[] = {
    {IORING_SETUP_IOPOLL, "IOPOLL"},
    {IORING_SETUP_SQPOLL, "SQPOLL"},
    {IORING_SETUP_SUBMIT_ALL, "SUBMIT_ALL"},
    {IORING_SETUP_COOP_TASKRUN, "COOP_TASKRUN"},
    {IORING_SETUP_SINGLE_ISSUER, "SINGLE_ISSUER"},
    {IORING_SETUP_DEFER_TASKRUN, "DEFER_TASKRUN"},
};
constexpr FlagName feature_names[] = {
    {IORING_FEAT_SINGLE_MMAP, "SINGLE_MMAP"},         {IORING_FEAT_NODROP, "NODROP"},
    {IORING_FEAT_SUBMIT_STABLE, "SUBMIT_STABLE"},     {IORING_FEAT_FAST_POLL, "FAST_POLL"},
    {IORING_FEAT_SQPOLL_NONFIXED, "SQPOLL_NONFIXED"}, {IORING_FEAT_EXT_ARG, "EXT_ARG"},
    {IORING_FEAT_NATIVE_WORKERS, "NATIVE_WORKERS"},   {IORING_FEAT_RSRC_TAGS, "RSRC_TAGS"},
};

template <std::size_t count>
std::string names_of(unsigned flags, const FlagName (&names)[count]) {
  std::string text;
  for (const FlagName& known : names)
    if ((flags & known.flag) != 0) text += (text.empty() ? "" : " ") + std::string(known.name);
  return text;
}

/// A ring, with as many of the flags that make it cheaper as the kernel has.
class Ring {
 public:
  /// Throws IoError.
  Ring(std::uint32_t entries, unsigned wanted_flags) {
    int error = EINVAL;
    for (const unsigned more : cheaper(wanted_flags)) {
      parameters_ = {};
      parameters_.flags = wanted_flags | more | IORING_SETUP_CLAMP;
      error = -::io_uring_queue_init_params(entries, &ring_, &parameters_);
      if (error != EINVAL) break;  // a flag that the kernel does not know
    }
    if (error != 0) throw IoError({"io_uring_setup", "", 0, 0, error});
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() { ::io_uring_queue_exit(&ring_); }

  io_uring* get() { return &ring_; }
  const io_uring_params& parameters() const { return parameters_; }

 private:
  /// From the newest kernels (6.1) to the oldest; a kernel thread that polls has no task to spare interrupts.
  static std::vector<unsigned> cheaper(unsigned wanted) {
    if ((wanted & IORING_SETUP_SQPOLL) != 0)
      return {IORING_SETUP_SUBMIT_ALL | IORING_SETUP_SINGLE_ISSUER, IORING_SETUP_SUBMIT_ALL, 0};
    return {IORING_SETUP_SUBMIT_ALL | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
            IORING_SETUP_SUBMIT_ALL | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN,
            IORING_SETUP_SUBMIT_ALL | IORING_SETUP_COOP_TASKRUN, 0};
  }

  io_uring ring_{};
  io_uring_params parameters_{};
};

/// A request of several extents takes several entries, which ought to go to the kernel together.
std::uint32_t entries_for(const OpenRequest& request) {
  const std::uint32_t least = request.shape.contiguous ? request.depth : std::max(request.depth, entries_for_lists);
  return std::min(least, most_entries);
}

int access_flags(Access access) {
  if (access == Access::read) return O_RDONLY;
  return access == Access::write ? O_WRONLY : O_RDWR;
}

/// A part of a request is a submission queue entry: extents that follow each other in the file, as far as they have not
/// been moved yet.
class UringFile final : public QueuedFile {
 public:
  UringFile(RunFolder* folder, const OpenRequest& request, const Options& options)
      : file_(open_file(
            folder, request.path,
            options.open_flags | access_flags(request.access) | (request.creation == Creation::create ? O_CREAT : 0),
            0600)),
        ring_(entries_for(request), options.ring_flags),
        memory_(request.memory),
        slot_bytes_(request.memory.size() / request.depth),
        batch_(options.batch == 0 ? request.depth : options.batch),
        wait_(options.wait),
        slots_(request.depth) {
    finished_.reserve(request.depth);
    if (options.fixed_files) register_file();
    if (options.fixed_buffers && slot_bytes_ > 0) register_buffers();
  }
  UringFile(const UringFile&) = delete;
  UringFile& operator=(const UringFile&) = delete;
  ~UringFile() override {
    try {
      drain();
    } catch (const IoError&) {  // a ring that is out of order: the kernel cancels what is left
    }
  }

  void submit(Direction direction, const Request& request, std::uint32_t number) override {
    Slot& slot = slots_[number];
    slot.direction = direction;
    split(request, slot);
    slot.unfinished = static_cast<std::uint32_t>(slot.parts.size());
    if (slot.unfinished == 0) finished_.push_back(number);
    for (std::uint32_t part = 0; part < slot.parts.size(); ++part) enter({number, part});
    if (++queued_ >= batch_ && batch_ < slots_.size()) send();
  }
  void send() override {
    queued_ = 0;
    while (::io_uring_sq_ready(ring_.get()) > 0) {
      const int sent = ::io_uring_submit(ring_.get());
      if (sent < 0) accept_or_throw(-sent);
      if (sent >= 0 && polls_for_us()) return;
    }
  }
  std::size_t complete(std::span<std::uint32_t> slots) override {
    queued_ = 0;
    while (true) {
      resume();
      const unsigned wanted = missing();
      if (wanted > 0 || ::io_uring_sq_ready(ring_.get()) > 0) {
        const int sent = ::io_uring_submit_and_wait(ring_.get(), wanted);
        if (sent < 0) accept_or_throw(-sent);
      }
      collect();
      if (failure_) throw IoError(*std::exchange(failure_, std::nullopt));
      if (missing() > 0 || !unmoved_.empty()) continue;
      return take_finished(slots);
    }
  }
  std::size_t complete_within(std::span<std::uint32_t> slots, std::uint64_t most_ns) override {
    queued_ = 0;
    resume();
    if (finished_.empty() && in_flight_ > 0) {
      constexpr std::uint64_t second_ns = 1'000'000'000;
      __kernel_timespec most{static_cast<std::int64_t>(most_ns / second_ns), static_cast<long>(most_ns % second_ns)};
      io_uring_cqe* first = nullptr;
      const int sent = ::io_uring_submit_and_wait_timeout(ring_.get(), &first, 1, &most, nullptr);
      if (sent < 0 && sent != -ETIME) accept_or_throw(-sent);
    }
    collect();
    if (failure_) throw IoError(*std::exchange(failure_, std::nullopt));
    return take_finished(slots);
  }

  void write(const Request& request) override { move(Direction::write, request); }
  void read(const Request& request) override { move(Direction::read, request); }
  void sync() override { file_.sync(); }
  void close() override {
    drain();
    // The kernel lets go of a ring behind our back, and the file has to be closed when this returns.
    if (fixed_file_) ::io_uring_unregister_files(ring_.get());
    if (fixed_buffers_) ::io_uring_unregister_buffers(ring_.get());
    file_.close();
  }
  std::uint64_t size() override { return file_.size(); }
  Facts facts() const override {
    return {{"ring_flags", names_of(ring_.parameters().flags, ring_flag_names)},
            {"ring_features", names_of(ring_.parameters().features, feature_names)},
            {"submission_queue_entries", std::to_string(ring_.parameters().sq_entries)},
            {"completion_queue_entries", std::to_string(ring_.parameters().cq_entries)}};
  }

 private:
  struct Part {
    std::uint64_t offset = 0;
    std::uint32_t first_piece = 0, pieces = 0;
  };
  struct Slot {
    Direction direction = Direction::read;
    std::vector<iovec> pieces;  ///< of memory; keeps its own between requests, as `parts` does
    std::vector<Part> parts;
    std::uint32_t unfinished = 0;  ///< parts
  };
  struct PartName {
    std::uint32_t slot, part;
  };

  void register_file() {
    const int descriptor = file_.get();
    const int error = -::io_uring_register_files(ring_.get(), &descriptor, 1);
    if (error != 0) throw IoError({"io_uring_register_files", file_.path(), 0, 0, error});
    fixed_file_ = true;
  }
  void register_buffers() {
    std::vector<iovec> buffers;
    for (std::size_t slot = 0; slot < slots_.size(); ++slot)
      buffers.push_back({memory_.data() + slot * slot_bytes_, std::min(slot_bytes_, largest_fixed_buffer)});
    const int error = -::io_uring_register_buffers(ring_.get(), buffers.data(), static_cast<unsigned>(buffers.size()));
    if (error != 0) throw IoError({"io_uring_register_buffers", file_.path(), 0, memory_.size(), error});
    fixed_buffers_ = true;
  }

  /// Extents that follow each other in the file make one part, but for fixed buffers, which have no vectors.
  void split(const Request& request, Slot& slot) const {
    slot.pieces.clear();
    slot.parts.clear();
    std::uint64_t end = 0;
    for (const Extent& extent : request.extents) {
      if (extent.length == 0) continue;
      if (slot.parts.empty() || extent.file_offset != end || fixed_buffers_)
        slot.parts.push_back({extent.file_offset, static_cast<std::uint32_t>(slot.pieces.size()), 0});
      slot.pieces.push_back({request.memory + extent.memory_offset, extent.length});
      ++slot.parts.back().pieces;
      end = extent.file_offset + extent.length;
    }
  }

  bool polls_for_us() const { return (ring_.parameters().flags & IORING_SETUP_SQPOLL) != 0; }

  io_uring_sqe* free_entry() {
    while (true) {
      io_uring_sqe* entry = ::io_uring_get_sqe(ring_.get());
      if (entry != nullptr) return entry;
      const int sent = ::io_uring_submit(ring_.get());
      if (sent < 0) accept_or_throw(-sent);
      if (polls_for_us()) ::io_uring_sqring_wait(ring_.get());
    }
  }

  void enter(PartName name) {
    Slot& slot = slots_[name.slot];
    const Part& part = slot.parts[name.part];
    const iovec* piece = &slot.pieces[part.first_piece];
    const auto length = static_cast<unsigned>(std::min(piece->iov_len, largest_entry));
    const bool writes = slot.direction == Direction::write;
    const int file = fixed_file_ ? 0 : file_.get();
    io_uring_sqe* entry = free_entry();
    if (part.pieces > 1) {
      const unsigned count = std::min<unsigned>(part.pieces, IOV_MAX);
      writes ? ::io_uring_prep_writev(entry, file, piece, count, part.offset)
             : ::io_uring_prep_readv(entry, file, piece, count, part.offset);
    } else if (in_fixed_buffer(*piece, name.slot)) {
      const int buffer = static_cast<int>(name.slot);
      writes ? ::io_uring_prep_write_fixed(entry, file, piece->iov_base, length, part.offset, buffer)
             : ::io_uring_prep_read_fixed(entry, file, piece->iov_base, length, part.offset, buffer);
    } else {
      writes ? ::io_uring_prep_write(entry, file, piece->iov_base, length, part.offset)
             : ::io_uring_prep_read(entry, file, piece->iov_base, length, part.offset);
    }
    if (fixed_file_) entry->flags |= IOSQE_FIXED_FILE;
    entry->user_data = std::uint64_t{name.slot} << 32 | name.part;
    ++in_flight_;
  }

  bool in_fixed_buffer(const iovec& piece, std::uint32_t slot) const {
    if (!fixed_buffers_) return false;
    const std::byte* buffer = memory_.data() + slot * slot_bytes_;
    const auto* begin = static_cast<const std::byte*>(piece.iov_base);
    return begin >= buffer && begin + piece.iov_len <= buffer + std::min(slot_bytes_, largest_fixed_buffer);
  }

  /// Of io_uring_enter: an interruption or a full completion queue is no failure, but there may be something to
  /// collect.
  void accept_or_throw(int error) {
    if (error != EINTR && error != EAGAIN && error != EBUSY)
      throw IoError({"io_uring_enter", file_.path(), 0, 0, error});
    collect();
  }

  /// Takes in what the kernel has completed.
  void collect() {
    std::array<io_uring_cqe*, 64> entries{};
    while (true) {
      const unsigned count =
          ::io_uring_peek_batch_cqe(ring_.get(), entries.data(), static_cast<unsigned>(entries.size()));
      for (const io_uring_cqe* entry : std::span(entries).first(count)) {
        const auto name = entry->user_data;
        if (name == LIBURING_UDATA_TIMEOUT) continue;  // of a limited wait, on kernels before 5.11
        completed({static_cast<std::uint32_t>(name >> 32), static_cast<std::uint32_t>(name)}, entry->res);
      }
      ::io_uring_cq_advance(ring_.get(), count);
      if (count < entries.size()) return;
    }
  }

  void completed(PartName name, int result) {
    --in_flight_;
    Slot& slot = slots_[name.slot];
    Part& part = slot.parts[name.part];
    const bool repeat = result == -EINTR || result == -EAGAIN;
    if (result <= 0 && !repeat) {
      if (!failure_) failure_ = failure_of(slot, part, result);
    } else if (repeat || !advance(slot, part, static_cast<std::size_t>(result))) {
      unmoved_.push_back(name);
    } else if (--slot.unfinished == 0) {
      finished_.push_back(name.slot);
    }
  }

  IoError failure_of(const Slot& slot, const Part& part, int result) const {
    const char* call = slot.direction == Direction::write ? "io_uring write" : "io_uring read";
    return stopped_transfer({call, file_.path(), part.offset, slot.pieces[part.first_piece].iov_len, -result});
  }

  /// Whether that was all of the part.
  static bool advance(Slot& slot, Part& part, std::size_t moved) {
    std::span<iovec> left(&slot.pieces[part.first_piece], part.pieces);
    drop_front(left, moved);
    part.offset += moved;
    part.first_piece += part.pieces - static_cast<std::uint32_t>(left.size());
    part.pieces = static_cast<std::uint32_t>(left.size());
    return left.empty();
  }

  std::size_t take_finished(std::span<std::uint32_t> slots) {
    const std::size_t count = std::min(slots.size(), finished_.size());
    std::copy_n(finished_.end() - static_cast<std::ptrdiff_t>(count), count, slots.begin());
    finished_.resize(finished_.size() - count);
    return count;
  }

  /// Enters once more what was moved in part, or not at all.
  void resume() {
    for (std::size_t i = 0; i < unmoved_.size(); ++i) enter(unmoved_[i]);  // entering may append
    unmoved_.clear();
  }

  /// Completions to wait for. Those of requests with several parts are more, which is found out by asking again.
  unsigned missing() const {
    if (finished_.size() >= wait_) return 0;
    return static_cast<unsigned>(std::min<std::uint64_t>(wait_ - finished_.size(), in_flight_));
  }

  void move(Direction direction, const Request& request) {
    submit(direction, request, 0);
    std::array<std::uint32_t, 1> done{};
    try {
      complete(done);
    } catch (const IoError&) {
      drain();
      throw;
    }
  }

  /// Waits for all that is in flight and forgets it.
  void drain() {
    while (in_flight_ > 0) {
      const int sent = ::io_uring_submit_and_wait(ring_.get(), 1);
      if (sent < 0) accept_or_throw(-sent);
      collect();
    }
    unmoved_.clear();
    finished_.clear();
    failure_.reset();
    queued_ = 0;
  }

  OpenFile file_;
  Ring ring_;
  std::span<std::byte> memory_;
  std::uint64_t slot_bytes_;
  std::uint64_t batch_;  ///< requests that go to the kernel together
  std::uint64_t wait_;   ///< requests that are waited for together
  std::vector<Slot> slots_;
  bool fixed_file_ = false, fixed_buffers_ = false;
  std::uint64_t queued_ = 0;             ///< requests since the kernel was last called
  std::uint64_t in_flight_ = 0;          ///< parts that were entered and have not completed
  std::vector<std::uint32_t> finished_;  ///< slots whose requests are done
  std::vector<PartName> unmoved_;        ///< to be entered once more
  std::optional<IoError> failure_;       ///< the first
};

Options options_of(const Settings& settings) {
  if (settings.flag("polled") && !settings.flag("direct"))
    throw InputError("uring.polled", "completion polling (IOPOLL) needs direct I/O", "set uring.direct = true as well");
  Options options;
  options.open_flags = (settings.flag("direct") ? O_DIRECT : 0) | (settings.flag("dsync") ? O_DSYNC : 0);
  options.ring_flags =
      (settings.flag("polled") ? IORING_SETUP_IOPOLL : 0) | (settings.flag("submit_polled") ? IORING_SETUP_SQPOLL : 0);
  options.fixed_files = settings.flag("fixed_files");
  options.fixed_buffers = settings.flag("fixed_buffers");
  options.batch = settings.number("batch");
  options.wait = settings.number("wait");
  return options;
}

class Uring final : public Interface {
 public:
  explicit Uring(const Settings& settings) : options_(options_of(settings)) {}

  std::unique_ptr<File> open(const OpenRequest& request) override {
    return std::make_unique<UringFile>(folder(), request, options_);
  }
  void remove(const std::string& path) override { remove_file(folder(), path); }
  std::uint64_t alignment() const override { return (options_.open_flags & O_DIRECT) != 0 ? direct_alignment : 1; }
  std::uint32_t largest_depth() const override { return most_entries; }
  bool completes_within() const override { return true; }

 private:
  Options options_;
};

/// Why this process may not use io_uring; empty where it may.
std::string problem() {
  try {
    const Ring ring(2, 0);
    return "";
  } catch (const IoError& error) {
    const int number = error.details().error_number;
    if (number == ENOSYS) return "the kernel has no io_uring, or a filter (seccomp) hides it";
    if (number != EPERM && number != EACCES) return std::string("io_uring_setup: ") + error.what();
    int disabled = 0;
    std::ifstream("/proc/sys/kernel/io_uring_disabled") >> disabled;
    if (disabled > 0) return "io_uring is disabled (kernel.io_uring_disabled = " + std::to_string(disabled) + ")";
    return "this process may not use io_uring, probably because of a seccomp filter of its container";
  }
}

constexpr Parameter uring_parameters[] = {
    {"direct", Kind::flag, "false", "Bypass the page cache (O_DIRECT)."},
    {"dsync", Kind::flag, "false", "Each write is done when its data is on stable storage (O_DSYNC)."},
    {"batch", Kind::count, "0",
     "Requests that one call (io_uring_enter) submits to the kernel; 0: all that are queued when the rank has to wait "
     "for a completion.",
     0, most_entries},
    {"wait", Kind::count, "1",
     "Completions to wait for before the next requests are issued; if equal to depth, each batch of requests "
     "completes before the next is issued.",
     1, most_entries},
    {"fixed_files", Kind::flag, "false", "Register the file with the ring, so that requests need not look it up."},
    {"fixed_buffers", Kind::flag, "false",
     "Register the memory of the requests with the ring, so that it is pinned only once."},
    {"polled", Kind::flag, "false",
     "Poll the device for completions instead of waiting for interrupts (IOPOLL); needs direct and a device that "
     "supports polling."},
    {"submit_polled", Kind::flag, "false",
     "A kernel thread polls for new requests, which then need no system call (SQPOLL); the thread keeps a core busy."},
};

}  // namespace

extern const InterfaceEntry uring_entry{
    "uring",
    "io_uring: requests and completions pass between process and kernel through rings in shared memory.",
    {.storage = Storage::kept},
    uring_parameters,
    make_interface<Uring>,
    problem};

}  // namespace strider
