#include "foundation/error.hpp"
#include "foundation/random.hpp"
#include "patterns/pattern.hpp"

namespace strider {
namespace {

class RandomStrided final : public Pattern {
 public:
  explicit RandomStrided(const Settings& settings)
      : transfer_(settings.number("transfer")),
        count_(settings.number("count")),
        seed_(settings.number("seed")),
        rounds_(count_, seed_) {
    checked_product(transfer_, count_, "count");
  }
  std::uint64_t requests(Place, Direction) const override { return count_; }
  std::uint64_t bytes(Place, Direction) const override { return count_ * transfer_; }
  std::uint64_t request_bytes(std::uint32_t) const override { return transfer_; }
  std::uint64_t file_size(std::uint32_t ranks) const override { return count_ * transfer_ * ranks; }
  std::uint64_t alignment(std::uint32_t) const override { return common_alignment({transfer_}); }
  void check(std::uint32_t ranks) const override { checked_product(count_ * transfer_, ranks, "count"); }

  void fill(Place place, std::span<const std::uint64_t> requests, std::span<Extent> out) const override {
    const Permutation slots(place.ranks, hash_numbers(seed_, place.ranks));
    // Two loops are quicker than one: each keeps its keys in registers.
    for (std::size_t i = 0; i < requests.size(); ++i) out[i] = {rounds_.variant(requests[i], 0), 0, transfer_};
    for (Extent& extent : out.first(requests.size())) {
      const std::uint64_t round = extent.file_offset;
      const std::uint64_t slot = slots.variant(place.rank, mix64(round));
      extent.file_offset = (round * place.ranks + slot) * transfer_;
    }
  }

 private:
  std::uint64_t transfer_, count_, seed_;
  Permutation rounds_;
};

constexpr Parameter random_strided_parameters[] = {
    transfer_parameter,
    {"count", Kind::count, "64", "Requests per rank (work units). Each round gives every rank one slot.", 1},
};

}  // namespace

extern const PatternEntry random_strided_entry{
    "random-strided",
    "As strided, but the rounds come in random order, and in each the ranks take its slots at random.",
    "offset(k) = (round * ranks + slot) * transfer, with round = perm(k), slot = perm_round(rank); "
    "perm a permutation of the rounds, perm_round one of the ranks, both by seed; all ranks are in the same round",
    "PIObench \"random strided\"",
    true,
    random_strided_parameters,
    make_pattern<RandomStrided>};

}  // namespace strider
