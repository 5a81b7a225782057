#pragma once
#include <cstdint>
#include <random>
#include <vector>

#include "listio/layout/byte_run.hpp"

namespace strider::listio {

/// Random numbers of a case; the same for the same seed everywhere.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : bits_(seed) {}
  /// least … most, both included.
  std::uint64_t roll(std::uint64_t least, std::uint64_t most) { return least + bits_() % (most - least + 1); }
  bool one_in(std::uint64_t n) { return roll(1, n) == 1; }

 private:
  std::mt19937_64 bits_;
};

/// `bytes` bytes as runs of at most `most_run` bytes, increasing, with holes of at most `most_hole` bytes; a run may be
/// empty and a hole too.
inline std::vector<ByteRun> random_runs(Dice& dice, std::uint64_t bytes, std::uint64_t most_run,
                                        std::uint64_t most_hole) {
  std::vector<ByteRun> runs;
  std::uint64_t offset = dice.roll(0, most_hole);
  while (bytes > 0) {
    const std::uint64_t length = std::min(bytes, dice.roll(0, most_run));
    runs.push_back({offset, length});
    offset += length + dice.roll(0, most_hole);
    bytes -= length;
  }
  return runs;
}

/// The same runs in another order.
inline std::vector<ByteRun> shuffled(Dice& dice, std::vector<ByteRun> runs) {
  for (std::size_t i = runs.size(); i > 1; --i) std::swap(runs[i - 1], runs[dice.roll(0, i - 1)]);
  return runs;
}

}  // namespace strider::listio
