#include "foundation/error.hpp"
#include "patterns/box.hpp"
#include "patterns/pattern.hpp"

namespace strider {
namespace {

/// A period is a piece and the gap behind it in the file. Between a rank's pieces, those of the ranks that fit into the
/// gap: they are a group. Groups lie one behind the other.
class Vector final : public ListPattern {
 public:
  explicit Vector(const Settings& settings)
      : pieces_(settings.number("pieces")),
        piece_(settings.number("piece")),
        memory_gap_(settings.number("memory_gap")),
        count_(settings.number("count")),
        derived_(!settings.has("file_gap")),
        file_gap_(settings.number_or("file_gap", 0)) {
    checked_extents(pieces_, "pieces");
    checked_product(pieces_, checked_sum(piece_, memory_gap_, "memory_gap"), "memory_gap");
    checked_product(count_, checked_product(pieces_, checked_sum(piece_, file_gap_, "file_gap"), "piece"), "count");
  }
  std::uint64_t requests(Place, Direction) const override { return count_; }
  std::uint64_t bytes(Place, Direction) const override { return count_ * pieces_ * piece_; }
  std::uint64_t request_bytes(std::uint32_t) const override { return pieces_ * piece_; }
  std::uint64_t file_size(std::uint32_t ranks) const override {
    const Layout layout(*this, ranks);
    const std::uint64_t last_in_group = (ranks - 1) % layout.group_ranks;
    return (count_ * layout.groups * pieces_ - 1) * layout.period + last_in_group * piece_ + piece_;
  }
  std::uint64_t alignment(std::uint32_t ranks) const override {
    return common_alignment({piece_, Layout(*this, ranks).period, memory_gap_});
  }
  std::uint64_t extents(Place place, std::uint64_t) const override { return box(Layout(*this, place.ranks)).extents(); }
  std::uint64_t most_extents(Place place) const override { return extents(place, 0); }
  std::uint64_t memory_bytes(Place) const override { return pieces_ * piece_ + (pieces_ - 1) * memory_gap_; }
  std::uint64_t file_shift(Place place) const override { return Layout(*this, place.ranks).round(pieces_); }

  void check(std::uint32_t ranks) const override {
    checked_product(piece_, ranks, "piece");
    const Layout layout(*this, ranks);
    const std::uint64_t pieces = checked_product(count_, checked_product(pieces_, layout.groups, "pieces"), "count");
    checked_product(pieces, layout.period, "piece");
  }

  std::size_t fill_request(Place place, std::uint64_t request, std::span<Extent> out) const override {
    const Layout layout(*this, place.ranks);
    const std::uint64_t group = place.rank / layout.group_ranks, in_group = place.rank % layout.group_ranks;
    const std::uint64_t start = request * layout.round(pieces_) + group * pieces_ * layout.period + in_group * piece_;
    return box(layout).fill(start, 0, out);
  }

 private:
  struct Layout {
    Layout(const Vector& vector, std::uint32_t ranks)
        : period(vector.derived_ ? vector.piece_ * ranks : vector.piece_ + vector.file_gap_),
          group_ranks(period / vector.piece_),
          groups(rounded_up(ranks, group_ranks)) {}
    /// Bytes of the file that all ranks' requests of one number reach over.
    std::uint64_t round(std::uint64_t pieces) const { return groups * pieces * period; }

    std::uint64_t period;
    std::uint64_t group_ranks;
    std::uint64_t groups;
  };
  Box box(const Layout& layout) const {
    Box box(piece_);
    box.repeat(pieces_, layout.period, piece_ + memory_gap_);
    return box;
  }

  std::uint64_t pieces_, piece_, memory_gap_, count_;
  bool derived_;
  std::uint64_t file_gap_;
};

constexpr Parameter vector_parameters[] = {
    {"pieces", Kind::count, "128", "Pieces of a request.", 1},
    {"piece", Kind::bytes, "4096", "Bytes of a piece.", 1},
    {"file_gap", Kind::bytes, "null",
     "Bytes between two pieces of a rank in the file; (ranks - 1) * piece if not given, so that the ranks interleave "
     "without holes; 0: contiguous in the file.",
     0},
    {"memory_gap", Kind::bytes, "0", "Bytes between two pieces in memory; 0: contiguous in memory.", 0},
    {"count", Kind::count, "1", "Requests per rank.", 1},
};

}  // namespace

extern const PatternEntry vector_entry{
    "vector",
    "Each request has many equal pieces at regular distances, in the file, in memory, in both or in neither.",
    "piece i of request k: file offset ((k * groups + rank div m) * pieces + i) * period + (rank mod m) * piece, "
    "with period = piece + file_gap, m = period div piece ranks in a group, groups = ceil(ranks / m); "
    "memory offset i * (piece + memory_gap); pieces that follow each other in file and memory are one extent",
    "\"Efficient noncontiguous access in PVFS over InfiniBand\" 2003: 128 pieces of 128 to 8192 bytes",
    false,
    vector_parameters,
    make_pattern<Vector>};

}  // namespace strider
