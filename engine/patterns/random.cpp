#include "foundation/random.hpp"

#include <string>

#include "foundation/error.hpp"
#include "patterns/pattern.hpp"

namespace strider {
namespace {

/// Without replacement: slot perm(k * ranks + rank) of the file's size / transfer slots. With replacement: any offset,
/// rounded down to `align`, from a counter-based generator seeded with seed + rank.
class Random final : public Pattern {
 public:
  explicit Random(const Settings& settings)
      : transfer_(settings.number("transfer")),
        size_(settings.number("size")),
        count_(settings.number_or("count", 0)),
        align_(settings.number_or("align", transfer_)),
        seed_(settings.number("seed")),
        replacement_(settings.flag("replacement")),
        slots_(size_ / transfer_),
        slot_of_(slots_, seed_) {
    if (transfer_ > size_) throw InputError("transfer", "transfer is larger than size", "make transfer at most size");
    if (replacement_ && count_ == 0)
      throw InputError("count", "random with replacement needs count",
                       "set count to the number of requests of each rank");
    checked_product(size_, 1, "size");
    checked_product(count_, transfer_, "count");
  }
  std::uint64_t requests(Place place, Direction) const override {
    return count_ != 0 ? count_ : (slots_ - place.rank + place.ranks - 1) / place.ranks;
  }
  std::uint64_t bytes(Place place, Direction direction) const override {
    return requests(place, direction) * transfer_;
  }
  std::uint64_t request_bytes(std::uint32_t) const override { return transfer_; }
  std::uint64_t file_size(std::uint32_t) const override { return replacement_ ? size_ : slots_ * transfer_; }
  std::uint64_t alignment(std::uint32_t) const override {
    return replacement_ ? common_alignment({transfer_, align_, size_}) : common_alignment({transfer_});
  }
  bool disjoint(std::uint32_t) const override { return !replacement_; }
  void check(std::uint32_t ranks) const override {
    if (replacement_) return;
    if (slots_ < ranks)
      throw InputError("size", "size holds fewer transfers than there are ranks",
                       "make size larger or transfer smaller");
    if (count_ > slots_ / ranks)
      throw InputError("count",
                       "random without replacement has only " + std::to_string(slots_ / ranks) +
                           " requests per rank (size / transfer / ranks)",
                       "lower count, raise size, or set replacement = true");
  }

  void fill(Place place, std::span<const std::uint64_t> requests, std::span<Extent> out) const override {
    if (!replacement_) {
      for (std::size_t i = 0; i < requests.size(); ++i)
        out[i] = {slot_of_(requests[i] * place.ranks + place.rank) * transfer_, 0, transfer_};
      return;
    }
    const std::uint64_t stream = mix64(seed_ + place.rank);
    const std::uint64_t positions = size_ - transfer_ + 1;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const std::uint64_t offset = below(hash_numbers(stream, requests[i]), positions);
      out[i] = {offset - offset % align_, 0, transfer_};
    }
  }

 private:
  std::uint64_t transfer_, size_, count_, align_, seed_;
  bool replacement_;
  std::uint64_t slots_;
  Permutation slot_of_;
};

constexpr Parameter random_parameters[] = {
    transfer_parameter,
    {"size", Kind::bytes, "67108864", "Bytes of the file over which the requests are spread.", 1},
    {"count", Kind::count, "null",
     "Requests per rank; default without replacement: as many as cover the file (size / transfer / ranks).", 1},
    {"align", Kind::bytes, "null",
     "With replacement: offsets are multiples of this number; default: transfer; 1: any offset.", 1},
    {"replacement", Kind::flag, "false",
     "Several requests may access the same bytes; otherwise each slot is accessed at most once."},
};

}  // namespace

extern const PatternEntry random_entry{
    "random",
    "Transfers at random offsets of the whole file: each slot at most once or, with replacement, any offset any number "
    "of times.",
    "offset(k) = perm(k * ranks + rank) * transfer, perm a permutation of the size / transfer slots by seed; with "
    "replacement: uniform in [0, size - transfer], rounded down to align, from a stream seeded with seed + rank",
    "IOR -z and -zz; \"Scalable I/O on Clusters\" 2002: random seek and read",
    true,
    random_parameters,
    make_pattern<Random>,
    "count|replacement"};

}  // namespace strider
