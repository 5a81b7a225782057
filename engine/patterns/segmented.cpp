#include <algorithm>

#include "foundation/error.hpp"
#include "patterns/pattern.hpp"

namespace strider {
namespace {

class Segmented final : public Pattern {
 public:
  explicit Segmented(const Settings& settings)
      : transfer_(settings.number("transfer")),
        block_(settings.number_or("block", transfer_)),
        segments_(settings.number("segments")),
        per_block_((block_ + transfer_ - 1) / transfer_) {
    if (transfer_ > block_)
      throw InputError("transfer", "transfer is larger than block", "lower transfer or raise block");
    checked_product(segments_, block_, "block");
  }
  std::uint64_t requests(Place, Direction) const override { return per_block_ * segments_; }
  std::uint64_t bytes(Place, Direction) const override { return block_ * segments_; }
  std::uint64_t request_bytes(std::uint32_t) const override { return transfer_; }
  std::uint64_t file_size(std::uint32_t ranks) const override { return block_ * segments_ * ranks; }
  std::uint64_t alignment(std::uint32_t) const override { return common_alignment({transfer_, block_}); }
  void check(std::uint32_t ranks) const override { checked_product(segments_ * block_, ranks, "block"); }

  void fill(Place place, std::span<const std::uint64_t> requests, std::span<Extent> out) const override {
    const std::uint64_t segment_bytes = block_ * place.ranks;
    const std::uint64_t start = block_ * place.rank;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const std::uint64_t segment = requests[i] / per_block_;
      const std::uint64_t in_block = (requests[i] - segment * per_block_) * transfer_;
      out[i] = {segment * segment_bytes + start + in_block, 0, std::min(transfer_, block_ - in_block)};
    }
  }

 private:
  std::uint64_t transfer_, block_, segments_, per_block_;
};

constexpr Parameter segmented_parameters[] = {
    transfer_parameter,
    {"block", Kind::bytes, "null", "Contiguous bytes of one rank within a segment; default: transfer.", 1},
    {"segments", Kind::count, "1", "Segments of the file; each has one block of every rank.", 1},
};

}  // namespace

extern const PatternEntry segmented_entry{
    "segmented",
    "Each rank owns a contiguous block of every segment and walks it transfer by transfer.",
    "offset(k) = segment * ranks * block + rank * block + i * transfer, with segment = k div n, i = k mod n, "
    "n = ceil(block / transfer); the last transfer of a block is shorter where transfer does not divide block",
    "IOR -b -t -s; thesis 2009; PIObench \"segmented\" (segments = 1)",
    true,
    segmented_parameters,
    make_pattern<Segmented>};

}  // namespace strider
