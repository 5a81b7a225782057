#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>

#include "foundation/descriptor.hpp"
#include "listio/registration/range.hpp"

namespace strider::listio {

/// Notices when the program gives back memory, by userfaultfd: munmap, mremap and MADV_DONTNEED or its like on watched
/// pages are reported before they return, so that the same thread cannot see a stale registration afterwards. (Of
/// another thread that gets the same addresses while munmap still runs this cannot be said.) Costs some 30 µs for each
/// of these calls.
///
/// Ranges are registered for write protection and nothing is ever protected: so there are events, but no faults that
/// would have to be served.
class MappingWatch {
 public:
  /// What `take` returned: memory that is no longer what it was.
  struct Events {
    static constexpr std::size_t most = 64;
    std::array<Range, most> ranges{};
    std::size_t count = 0;
    bool lost = false;  ///< there were more; everything may have changed
  };

  /// Nothing where the kernel has no userfaultfd with these events, or forbids it.
  static std::unique_ptr<MappingWatch> make();
  ~MappingWatch();
  MappingWatch(const MappingWatch&) = delete;
  MappingWatch& operator=(const MappingWatch&) = delete;

  /// Whether `pages` are watched from now on; false for memory that cannot be, such as that of most files.
  bool add(const Range& pages);
  void remove(const Range& pages);
  /// What has happened since the last call.
  Events take();

 private:
  MappingWatch(Descriptor descriptor, Descriptor stop);
  void listen();
  void read_events();

  Descriptor descriptor_;
  Descriptor stop_;  ///< an eventfd
  std::mutex mutex_;
  Events events_;
  std::thread listener_;
};

}  // namespace strider::listio
