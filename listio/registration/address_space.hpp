#pragma once
#include <cstdint>
#include <vector>

#include "foundation/descriptor.hpp"
#include "listio/registration/range.hpp"

namespace strider::listio {

/// What registering needs memory to be: pages that a device only reads, or also writes.
enum class Access { read, read_write };

/// What the kernel says about this process's memory. Not for use after fork() in the child: it would describe the
/// parent.
class AddressSpace {
 public:
  /// `best` is the PROCMAP_QUERY ioctl (Linux 6.11), one question for each mapping in the range, else the text of
  /// /proc/self/maps, which takes longer the more mappings the process has.
  enum class Source { best, text };

  explicit AddressSpace(Source source = Source::best);

  /// The parts of `range` that are mapped and allow the access, increasing, neighbours joined. std::system_error if the
  /// kernel does not say.
  std::vector<Range> accessible(const Range& range, Access access);
  /// Whether all of `range` is.
  bool is_accessible(const Range& range, Access access);

  Source source() const { return source_; }
  std::uint64_t queries() const { return queries_; }  ///< questions asked: ioctls, or readings of the text
  double query_us() const { return query_us_; }       ///< time spent asking, in microseconds

 private:
  std::vector<Range> ask(const Range& range, Access access);
  std::vector<Range> read_text(const Range& range, Access access);

  Source source_;
  Descriptor maps_;
  std::uint64_t queries_ = 0;
  double query_us_ = 0;
};

}  // namespace strider::listio
