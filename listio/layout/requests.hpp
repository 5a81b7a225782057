#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "foundation/extent.hpp"
#include "listio/layout/byte_run.hpp"

namespace strider::listio {

/// How large one request to a server may be.
struct RequestLimits {
  std::size_t most_runs = 128;  ///< runs of the data file; 128 segments is what the slides' test has (Wu 2003)
  std::uint64_t most_bytes = std::numeric_limits<std::uint64_t>::max();  ///< such as the server's buffer holds
};

/// A server's pieces as requests to it. Each request reads or writes `runs` of the data file, one after the other, from
/// or to `memory`; both have the same bytes in the same order. Neighbouring pieces that continue each other in the data
/// file are one run of it, and those that continue each other in memory are one run of memory: they may be cut
/// differently.
class Requests {
 public:
  struct Request {
    std::span<const ByteRun> runs;    ///< offsets in the server's data file
    std::span<const ByteRun> memory;  ///< offsets in the caller's memory
    std::uint64_t bytes = 0;
  };

  std::size_t size() const { return ends_.size() - 1; }
  Request operator[](std::size_t number) const;

 private:
  friend Requests split(std::span<const Extent> server_pieces, const RequestLimits& limits);
  struct End {
    std::size_t runs = 0, memory = 0;
    std::uint64_t bytes = 0;
  };
  std::vector<ByteRun> runs_;
  std::vector<ByteRun> memory_;
  std::vector<End> ends_{End{}};  ///< what all requests before have; `bytes` too
};

/// Splits a server's pieces into requests within the limits, each as large as they allow, in the pieces' order. A run
/// is cut where a request is full. Time in proportion to pieces plus requests. InputError if a limit is 0.
Requests split(std::span<const Extent> server_pieces, const RequestLimits& limits = {});

}  // namespace strider::listio
