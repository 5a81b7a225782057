#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "listio/layout/byte_run.hpp"
#include "listio/mpi/bytes.hpp"
#include "listio/mpi/ranks.hpp"

namespace strider::listio::mpi {

/// Runs of a file on their way to an aggregator, with or without their data. In a parcel: data, runs, the count of
/// runs.
class RunParcel {
 public:
  /// Joins the run before if it continues it.
  void add(const ByteRun& run);
  void add_data(const void* data, std::size_t bytes) { bytes_.append(data, bytes); }
  bool empty() const { return runs_.empty(); }
  std::uint64_t bytes_of_runs() const { return bytes_of_runs_; }
  Bytes pack();

  static std::vector<ByteRun> unpack(const Bytes& packed);

 private:
  std::vector<ByteRun> runs_;
  std::uint64_t bytes_of_runs_ = 0;
  Bytes bytes_;
};

/// The union of the runs of several ranks, in increasing order, and a place for each of its bytes.
class RunUnion {
 public:
  explicit RunUnion(std::span<const std::vector<ByteRun>> lists);

  const std::vector<ByteRun>& runs() const { return runs_; }
  std::uint64_t bytes() const { return bytes_; }
  /// Calls `action(place, length)` for each of `runs`, which are in increasing order and part of the union.
  template <typename Action>
  void for_each_place(std::span<const ByteRun> runs, const Action& action) const {
    std::size_t at = 0;
    for (const ByteRun& run : runs) {
      while (runs_[at].end() <= run.offset) ++at;
      action(before_[at] + run.offset - runs_[at].offset, run.length);
    }
  }

 private:
  std::vector<ByteRun> runs_;
  std::vector<std::uint64_t> before_;  ///< bytes of the runs before each
  std::uint64_t bytes_ = 0;
};

}  // namespace strider::listio::mpi
