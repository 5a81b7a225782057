#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "foundation/descriptor.hpp"
#include "foundation/error.hpp"
#include "listio/registration/domain.hpp"

#if __has_include(<linux/io_uring.h>)
#include <linux/io_uring.h>
#endif

namespace strider::listio {

#ifdef IORING_RSRC_REGISTER_SPARSE

namespace {

/// On 4 KiB pages, touched, Linux 6.18, a virtual machine.
constexpr CostModel measured_uring{0.064, 0.70, 0.022, 0.46};
constexpr std::uint32_t most_slots = 1u << 14;                // IORING_MAX_REG_BUFFERS
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;  // of a buffer; the kernel answers EFAULT beyond

bool has_vectored_operations(int ring) {
  constexpr unsigned writev_fixed = 61;  // IORING_OP_WRITEV_FIXED, Linux 6.15
  constexpr std::size_t operations = 64;
  alignas(io_uring_probe) std::array<std::byte, sizeof(io_uring_probe) + operations * sizeof(io_uring_probe_op)>
      memory{};
  auto* const probe = reinterpret_cast<io_uring_probe*>(memory.data());
  if (::syscall(SYS_io_uring_register, ring, IORING_REGISTER_PROBE, probe, operations) < 0) return false;
  return probe->last_op >= writev_fixed && (probe->ops[writev_fixed].flags & IO_URING_OP_SUPPORTED) != 0;
}

class UringDomain final : public Domain {
 public:
  explicit UringDomain(const UringOptions& options)
      : Domain(measured_uring), most_regions_(std::min(options.most_regions, most_slots)) {
    ring_ = options.ring;
    if (ring_ < 0) {
      io_uring_params parameters{};
      own_ring_ = Descriptor(static_cast<int>(::syscall(SYS_io_uring_setup, 1, &parameters)));
      if (!own_ring_) throw_system_error("io_uring_setup");
      ring_ = own_ring_.get();
    }
    io_uring_rsrc_register table{};
    table.nr = most_regions_;
    table.flags = IORING_RSRC_REGISTER_SPARSE;
    if (::syscall(SYS_io_uring_register, ring_, IORING_REGISTER_BUFFERS2, &table, sizeof table) < 0)
      throw_system_error("io_uring_register(BUFFERS2)");
    vectored_ = has_vectored_operations(ring_) ? Vectored::yes : Vectored::no;
    free_.reserve(most_regions_);
    for (std::uint32_t slot = most_regions_; slot > 0; --slot) free_.push_back(slot - 1);
  }
  ~UringDomain() override {
    if (!own_ring_) ::syscall(SYS_io_uring_register, ring_, IORING_UNREGISTER_BUFFERS, nullptr, 0);
  }
  UringDomain(const UringDomain&) = delete;
  UringDomain& operator=(const UringDomain&) = delete;

  std::string_view name() const override { return "uring"; }
  Capabilities capabilities() const override { return {most_regions_, most_bytes, Access::read_write, vectored_}; }

 private:
  /// An iovec, in numbers.
  struct Buffer {
    std::uint64_t begin = 0, bytes = 0;
  };
  static_assert(sizeof(Buffer) == sizeof(iovec));

  /// 0, or the error number.
  int update(std::uint32_t slot, const Buffer& buffer) const {
    io_uring_rsrc_update2 change{};
    change.offset = slot;
    change.data = reinterpret_cast<std::uint64_t>(&buffer);
    change.nr = 1;
    for (;;) {
      if (::syscall(SYS_io_uring_register, ring_, IORING_REGISTER_BUFFERS_UPDATE, &change, sizeof change) == 1)
        return 0;
      if (errno != EINTR) return errno;
    }
  }
  Result pin(const Range& pages) override {
    if (free_.empty()) return {Outcome::no_region, {}};
    const std::uint32_t slot = free_.back();
    const int error = update(slot, {pages.begin, pages.bytes()});
    // EOPNOTSUPP: pages of a file that the kernel does not pin for good.
    if (error == EFAULT || error == EOPNOTSUPP) return {Outcome::fault, {}};
    if (error == ENOMEM) return {Outcome::no_memory, {}};
    if (error != 0) {
      errno = error;
      throw_system_error("io_uring_register(BUFFERS_UPDATE)");
    }
    free_.pop_back();
    return {Outcome::registered, {pages, slot}};
  }
  void unpin(const Region& region) override {
    const int error = update(region.slot, {});
    if (error != 0) {
      errno = error;
      throw_system_error("io_uring_register(BUFFERS_UPDATE)");
    }
    free_.push_back(region.slot);
  }

  std::uint32_t most_regions_;
  int ring_ = -1;
  Descriptor own_ring_;
  Vectored vectored_ = Vectored::no;
  std::vector<std::uint32_t> free_;
};

}  // namespace

std::unique_ptr<Domain> make_uring_domain(const UringOptions& options) {
  return std::make_unique<UringDomain>(options);
}

#else

std::unique_ptr<Domain> make_uring_domain(const UringOptions&) {
  throw std::system_error(ENOSYS, std::generic_category(), "built with kernel headers older than 5.19: io_uring");
}

#endif

}  // namespace strider::listio
