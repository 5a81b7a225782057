#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "foundation/extent.hpp"

namespace strider::listio {

/// How the pieces of a list get into the server's contiguous buffer, and out of it. `multiple`: one operation of the
/// network for each piece. `pack`: copied into one piece first. `gather` (reads: scatter): as few operations as the
/// transport allows. `hybrid`: `pack` or `gather`, whichever costs less (Wu, Wyckoff, Panda 2003).
enum class Method { multiple, pack, gather, hybrid };

std::string_view name_of(Method method);
/// InputError if there is none of this name.
Method method_of(std::string_view name);

/// What moving a list takes by both methods, in µs.
struct MethodSample {
  Direction direction = Direction::write;
  std::uint64_t piece_bytes = 0, total_bytes = 0;
  double gather_us = 0, pack_us = 0;
};

/// What the methods cost on one transport, interpolated between samples: on a logarithmic scale of the length of
/// pieces, from the samples whose total comes next to that of the list.
class MethodCosts {
 public:
  /// The samples may be in any order. None: gathering is never better.
  explicit MethodCosts(std::vector<MethodSample> samples = {});

  /// Whether to gather (reads: scatter) `pieces` pieces of `bytes` bytes in all, if making them ready for it takes
  /// `registration_us`. Where both ways cost the same as far as can be measured, it is packed.
  bool prefers_gather(Direction direction, std::size_t pieces, std::uint64_t bytes, double registration_us) const;
  std::span<const MethodSample> samples() const { return samples_; }
  /// The mean length of pieces from which on gathering is better in lists of `total_bytes`; 0 if never.
  std::uint64_t crossover_bytes(Direction direction, std::uint64_t total_bytes) const;

 private:
  /// Of a list of `bytes` bytes whose pieces have `piece_bytes` on average.
  MethodSample at(Direction direction, double piece_bytes, double bytes) const;
  std::vector<MethodSample> samples_;  ///< by direction, by total, then by length
};

/// Measures the samples: lists of 32 KiB and 512 KiB, of pieces of 128 B … 64 KiB at a stride of twice their length,
/// written and read by both methods in turns. Each sample is taken some times, all others in between; medians count, of
/// what packing takes and of how many times as long gathering takes within a round, of which in turn the middle one of
/// three lengths counts.
/// `move` moves pieces, gathered or packed, and waits until they are there. `most_bytes` is the longest list that it
/// can move. Ends after 0.3 s, but not before each sample was taken twice, which moves 44 MB in all; samples in which
/// the methods differ by less than 15 % are taken more often, for another 0.6 s at most.
using MoveOnce = std::function<void(Direction direction, std::size_t pieces, std::size_t piece_bytes, Method method)>;
MethodCosts measure_methods(const MoveOnce& move, std::uint64_t most_bytes);

}  // namespace strider::listio
