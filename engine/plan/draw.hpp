#pragma once
#include <cstdint>

#include "plan/case.hpp"

namespace strider {

/// Which requests of read-write read, and which write. A request is drawn once for all passes and all phases of a
/// repetition, so that data that is read is never written beside it, and each byte that is read can be checked. It is
/// drawn alike for all ranks: in collective transfers these take the same way in each call, and files hold the same
/// data through all interfaces. The draw is even, so that any number of requests has nearly the share that is asked
/// for.
class Draw {
 public:
  /// `read_share`: from 0 to less than 1.
  Draw(double read_share, std::uint64_t seed);

  bool reads(std::uint64_t index) const;

 private:
  std::uint64_t limit_, first_;
};

Draw draw_of(const Case& test);

}  // namespace strider
