#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <map>
#include <system_error>

#include "listio/registration/domain.hpp"

namespace strider::listio {
namespace {

/// On 4 KiB pages, touched, Linux 6.18, a virtual machine.
constexpr CostModel measured_mlock{0.34, 2.6, 0.18, 2.3};

/// How often each page is registered. A key holds from its address to the next key.
class PageCounts {
 public:
  /// Calls `action(range)` for every part of `pages` that is not registered.
  template <typename Action>
  void for_each_unregistered(const Range& pages, const Action& action) const {
    auto next = counts_.upper_bound(pages.begin);
    std::uint32_t count = next == counts_.begin() ? 0 : std::prev(next)->second;
    for (std::uintptr_t begin = pages.begin; begin < pages.end;) {
      const std::uintptr_t end = next == counts_.end() ? pages.end : std::min(next->first, pages.end);
      if (count == 0) action(Range{begin, end});
      begin = end;
      if (next != counts_.end()) count = next++->second;
    }
  }
  void add(const Range& pages, int change) {
    const auto first = split(pages.begin), last = split(pages.end);
    for (auto at = first; at != last; ++at)
      at->second = static_cast<std::uint32_t>(static_cast<int>(at->second) + change);
    join(first);
    join(counts_.find(pages.end));
  }

 private:
  using Counts = std::map<std::uintptr_t, std::uint32_t>;

  Counts::iterator split(std::uintptr_t address) {
    const auto next = counts_.lower_bound(address);
    if (next != counts_.end() && next->first == address) return next;
    return counts_.emplace_hint(next, address, next == counts_.begin() ? 0 : std::prev(next)->second);
  }
  /// Drops a key that changes nothing.
  void join(Counts::iterator at) {
    const std::uint32_t before = at == counts_.begin() ? 0 : std::prev(at)->second;
    if (at->second == before) counts_.erase(at);
  }

  Counts counts_;
};

/// Calls the kernel itself: sanitizers replace the library's mlock by nothing.
class MlockDomain final : public Domain {
 public:
  MlockDomain() : Domain(measured_mlock) {}

  std::string_view name() const override { return "mlock"; }
  Capabilities capabilities() const override {
    return {std::size_t{1} << 20, std::uint64_t{1} << 46, Access::read, Vectored::yes};
  }

 private:
  Result pin(const Range& pages) override {
    if (::syscall(SYS_mlock, pages.begin, pages.bytes()) != 0) {
      const int reason = errno;
      unlock_unregistered(pages);  // of a range with a hole the part before the hole stays locked
      if (reason != ENOMEM && reason != EAGAIN && reason != EPERM)
        throw std::system_error(reason, std::generic_category(), "mlock");
      // ENOMEM stands for a hole and for the limit alike.
      return {memory_.is_accessible(pages, Access::read) ? Outcome::no_memory : Outcome::fault, {}};
    }
    counts_.add(pages, 1);
    return {Outcome::registered, {pages, next_slot_++}};
  }
  void unpin(const Region& region) override {
    counts_.add(region.range, -1);
    unlock_unregistered(region.range);
  }
  void unlock_unregistered(const Range& pages) const {
    // Fails where memory has been unmapped since, and with that unlocked.
    counts_.for_each_unregistered(pages, [](const Range& part) { ::syscall(SYS_munlock, part.begin, part.bytes()); });
  }

  PageCounts counts_;
  AddressSpace memory_;
  std::uint32_t next_slot_ = 0;
};

}  // namespace

std::unique_ptr<Domain> make_mlock_domain() { return std::make_unique<MlockDomain>(); }

}  // namespace strider::listio
