#include <algorithm>
#include <vector>

#include "foundation/error.hpp"
#include "patterns/pattern.hpp"

namespace strider {
namespace {

class NestedStrided final : public Pattern {
 public:
  explicit NestedStrided(const Settings& settings) : transfer_(settings.number("transfer")) {
    const Numbers& flat = settings.numbers("levels");  // count, stride, outermost first
    Level whole{1, checked_product(transfer_, 1, "transfer"), Unit::ranks};
    for (std::size_t i = flat.size(); i >= 2; i -= 2) {
      const std::uint64_t count = flat[i - 2], stride = flat[i - 1];
      if (count == 0) throw InputError("levels", "a level of levels has count 0", "every count must be at least 1");
      Level level{count, whole.count * whole.stride, whole.unit};
      if (stride != 0) level = {count, stride, Unit::bytes};
      checked_product(level.count, level.stride, "levels");
      requests_ = checked_product(requests_, count, "levels");
      levels_.push_back(level);
      whole = level;
    }
    checked_product(requests_, transfer_, "levels");
  }
  std::uint64_t requests(Place, Direction) const override { return requests_; }
  std::uint64_t bytes(Place, Direction) const override { return requests_ * transfer_; }
  std::uint64_t request_bytes(std::uint32_t) const override { return transfer_; }
  std::uint64_t file_size(std::uint32_t ranks) const override {
    std::uint64_t size = transfer_ * ranks;
    for (const Level& level : levels_) size += (level.count - 1) * stride(level, ranks);
    return size;
  }
  std::uint64_t alignment(std::uint32_t ranks) const override {
    std::uint64_t alignment = common_alignment({transfer_});
    for (const Level& level : levels_)
      if (level.count > 1) alignment = common_alignment({alignment, stride(level, ranks)});
    return alignment;
  }

  /// Each level, smallest stride first, steps over all that the levels before it span.
  bool disjoint(std::uint32_t ranks) const override {
    std::vector<Level> levels = levels_;
    std::stable_sort(levels.begin(), levels.end(),
                     [&](const Level& a, const Level& b) { return stride(a, ranks) < stride(b, ranks); });
    std::uint64_t span = transfer_ * ranks;
    for (const Level& level : levels) {
      if (level.count == 1) continue;
      if (stride(level, ranks) < span) return false;
      span += (level.count - 1) * stride(level, ranks);
    }
    return true;
  }

  void check(std::uint32_t ranks) const override {
    std::uint64_t size = checked_product(transfer_, ranks, "transfer");
    for (const Level& level : levels_) {
      const std::uint64_t stride = checked_product(level.stride, level.unit == Unit::ranks ? ranks : 1, "levels");
      size = checked_sum(size, checked_product(level.count - 1, stride, "levels"), "levels");
    }
  }

  void fill(Place place, std::span<const std::uint64_t> requests, std::span<Extent> out) const override {
    const std::uint64_t start = transfer_ * place.rank;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      std::uint64_t offset = start, rest = requests[i];
      for (const Level& level : levels_) {
        const std::uint64_t outer = rest / level.count;
        offset += (rest - outer * level.count) * stride(level, place.ranks);
        rest = outer;
      }
      out[i] = {offset, 0, transfer_};
    }
  }

 private:
  enum class Unit { bytes, ranks };  ///< a derived stride grows with the number of ranks
  struct Level {
    std::uint64_t count, stride;
    Unit unit;
  };
  static std::uint64_t stride(const Level& level, std::uint32_t ranks) {
    return level.unit == Unit::ranks ? level.stride * ranks : level.stride;
  }

  std::uint64_t transfer_;
  std::uint64_t requests_ = 1;
  std::vector<Level> levels_;  ///< innermost first
};

constexpr Parameter nested_strided_parameters[] = {
    transfer_parameter,
    {"levels", Kind::levels, "[4, 16]",
     "Loops around the transfer, outermost first: [count, stride in bytes] or a count alone. Without a stride, "
     "the loop leaves no gap; its stride is then ranks * transfer for the innermost loop, the count of the next inner "
     "loop times its "
     "stride for the others.",
     0},
};

}  // namespace

extern const PatternEntry nested_strided_entry{
    "nested-strided",
    "Nested strides: the ranks' transfers alternate in groups, which repeat in larger groups.",
    "offset(k) = rank * transfer + sum over levels of digit * stride, the digits those of k in mixed radix over the "
    "levels' counts, the innermost level's the lowest; "
    "a stride not given is that of the next inner level times its count, ranks * transfer for the innermost",
    "PIObench \"nested strided\"",
    true,
    nested_strided_parameters,
    make_pattern<NestedStrided>,
    "levels"};

}  // namespace strider
