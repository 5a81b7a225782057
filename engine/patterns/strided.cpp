#include "foundation/error.hpp"
#include "patterns/pattern.hpp"

namespace strider {
namespace {

class Strided final : public Pattern {
 public:
  explicit Strided(const Settings& settings)
      : transfer_(settings.number("transfer")), count_(settings.number("count")) {
    checked_product(transfer_, count_, "count");
  }
  std::uint64_t requests(Place, Direction) const override { return count_; }
  std::uint64_t bytes(Place, Direction) const override { return count_ * transfer_; }
  std::uint64_t request_bytes(std::uint32_t) const override { return transfer_; }
  std::uint64_t file_size(std::uint32_t ranks) const override { return count_ * transfer_ * ranks; }
  std::uint64_t alignment(std::uint32_t) const override { return common_alignment({transfer_}); }
  void check(std::uint32_t ranks) const override { checked_product(count_ * transfer_, ranks, "count"); }

  void fill(Place place, std::span<const std::uint64_t> requests, std::span<Extent> out) const override {
    const std::uint64_t stride = transfer_ * place.ranks;
    const std::uint64_t start = transfer_ * place.rank;
    for (std::size_t i = 0; i < requests.size(); ++i) out[i] = {requests[i] * stride + start, 0, transfer_};
  }

 private:
  std::uint64_t transfer_, count_;
};

constexpr Parameter strided_parameters[] = {
    transfer_parameter,
    {"count", Kind::count, "64", "Requests per rank (work units).", 1},
};

}  // namespace

extern const PatternEntry strided_entry{"strided",
                                        "The ranks' transfers alternate along the file.",
                                        "offset(k) = k * ranks * transfer + rank * transfer",
                                        "PIObench \"simple strided\"; IOR with -b equal to -t; the suite `pario-2015`",
                                        true,
                                        strided_parameters,
                                        make_pattern<Strided>};

}  // namespace strider
