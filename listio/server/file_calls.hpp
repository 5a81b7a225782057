#pragma once
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "listio/layout/byte_run.hpp"

namespace strider::listio {

/// The system calls for a list of runs of a data file: each reads or writes contiguous bytes of the file from `offset`
/// on, from or to the next `pieces` of the buffer.
struct FileCall {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::span<iovec> pieces;
};

/// Runs sorted by offset, neighbours in one call, at most 1024 pieces of the buffer in each. Runs that overlap are left
/// in the order of the list, so that the last one wins as if they were written one by one.
class FileCalls {
 public:
  /// The bytes of `runs` are in `buffer`, one run after the other, from its begin; it has to be long enough.
  FileCalls(std::span<const ByteRun> runs, std::span<std::byte> buffer);
  std::span<FileCall> calls() { return calls_; }

 private:
  std::vector<iovec> pieces_;
  std::vector<FileCall> calls_;
};

}  // namespace strider::listio
