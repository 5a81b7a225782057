#include <algorithm>

#include "foundation/error.hpp"
#include "patterns/pattern.hpp"

namespace strider {
namespace {

class Sequential final : public Pattern {
 public:
  explicit Sequential(const Settings& settings)
      : transfer_(settings.number("transfer")), size_(settings.number("size")), overlap_(settings.flag("overlap")) {
    if (transfer_ > size_) throw InputError("transfer", "transfer is larger than size", "make transfer at most size");
    checked_product(size_, 1, "size");
  }
  std::uint64_t requests(Place place, Direction direction) const override {
    return works(place, direction) ? (size_ + transfer_ - 1) / transfer_ : 0;
  }
  std::uint64_t bytes(Place place, Direction direction) const override { return works(place, direction) ? size_ : 0; }
  std::uint64_t request_bytes(std::uint32_t) const override { return transfer_; }
  std::uint64_t file_size(std::uint32_t) const override { return size_; }
  std::uint64_t alignment(std::uint32_t) const override { return common_alignment({transfer_, size_}); }
  bool disjoint(std::uint32_t) const override { return !overlap_; }

  void fill(Place, std::span<const std::uint64_t> requests, std::span<Extent> out) const override {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const std::uint64_t offset = requests[i] * transfer_;
      out[i] = {offset, 0, std::min(transfer_, size_ - offset)};
    }
  }

 private:
  bool works(Place place, Direction direction) const {
    return direction == Direction::read || overlap_ || place.rank == 0;
  }
  std::uint64_t transfer_, size_;
  bool overlap_;
};

constexpr Parameter sequential_parameters[] = {
    transfer_parameter,
    {"size", Kind::bytes, "67108864", "Bytes of the file; every rank accesses all of them.", 1},
    {"overlap", Kind::flag, "false", "All ranks write the same bytes; otherwise rank 0 of each file writes alone."},
};

}  // namespace

extern const PatternEntry sequential_entry{
    "sequential",
    "Every rank accesses the whole file; only rank 0 writes, unless overlap is set.",
    "offset(k) = k * transfer; the last transfer is shorter where transfer does not divide size",
    "PIObench \"sequential\"",
    false,
    sequential_parameters,
    make_pattern<Sequential>};

}  // namespace strider
