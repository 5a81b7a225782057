#pragma once
#include <algorithm>
#include <memory>

#include "patterns/pattern.hpp"

namespace strider {

/// Whole files, of the size that another pattern gives them: each rank accesses a contiguous share, in large pieces.
/// So files are prepared for cases that begin by reading, and data sets are checked.
class Slices final : public Pattern {
 public:
  explicit Slices(const Pattern& prepared) : prepared_(prepared) {}
  explicit Slices(std::unique_ptr<Pattern> prepared) : owned_(std::move(prepared)), prepared_(*owned_) {}

  std::uint64_t requests(Place place, Direction) const override { return (length(place) + piece - 1) / piece; }
  std::uint64_t bytes(Place place, Direction) const override { return length(place); }
  std::uint64_t request_bytes(std::uint32_t) const override { return piece; }
  std::uint64_t file_size(std::uint32_t ranks) const override { return prepared_.file_size(ranks); }
  std::uint64_t alignment(std::uint32_t ranks) const override { return prepared_.alignment(ranks); }
  void fill(Place place, std::span<const std::uint64_t> requests, std::span<Extent> out) const override {
    const std::uint64_t begin = share(place) * place.rank;
    for (std::size_t i = 0; i < requests.size(); ++i)
      out[i] = {begin + requests[i] * piece, 0, std::min(piece, length(place) - requests[i] * piece)};
  }

 private:
  static constexpr std::uint64_t piece = 4 << 20;

  std::uint64_t share(Place place) const {
    const std::uint64_t pieces = (file_size(place.ranks) + piece - 1) / piece;
    return (pieces + place.ranks - 1) / place.ranks * piece;
  }
  std::uint64_t length(Place place) const {
    const std::uint64_t size = file_size(place.ranks), begin = std::min(size, share(place) * place.rank);
    return std::min(share(place), size - begin);
  }
  std::unique_ptr<Pattern> owned_;  ///< null where it is another's
  const Pattern& prepared_;
};

}  // namespace strider
