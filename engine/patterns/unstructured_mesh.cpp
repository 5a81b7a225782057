#include <algorithm>
#include <array>
#include <string>

#include "foundation/error.hpp"
#include "foundation/random.hpp"
#include "patterns/box.hpp"
#include "patterns/pattern.hpp"

namespace strider {
namespace {

/// Vertices first to first + count - 1.
struct Run {
  std::uint64_t first, count;
};

/// Deals vertices to ranks, group by group. A group has ranks * (run + 1) vertices in two halves, and in each half each
/// rank has one run; they take turns in a seeded order, in each group beginning with another rank. The first half is
/// cut near the multiples of (run + 1) / 2; a rank's run in the second half makes up for that in the first to run + 1
/// together. So sums of lengths are known without adding them up, and a rank finds its runs without looking at those of
/// others.
class Dealer {
 public:
  Dealer(Place place, std::uint64_t run, std::uint64_t seed)
      : place_(place),
        pair_(run + 1),
        jitters_(pair_ / 2),
        first_half_(place.ranks * pair_ / 2),
        turn_(Permutation(place.ranks, seed)(place.rank)),
        turns_(hash_numbers(seed, 0)),
        cuts_(hash_numbers(seed, 1)) {}

  std::uint64_t group_vertices() const { return place_.ranks * pair_; }

  /// Calls `use` with the two runs of this rank in a group.
  template <typename Use>
  void deal(std::uint64_t group, const Use& use) const {
    deal(group, slot(group), use);
  }
  /// The same for groups 0 to groups - 1. Two loops are quicker than one.
  template <typename Use>
  void deal_all(std::uint64_t groups, const Use& use) const {
    std::array<std::uint64_t, 128> slots{};
    for (std::uint64_t first = 0; first < groups; first += slots.size()) {
      const auto some = std::span(slots).first(std::min<std::uint64_t>(slots.size(), groups - first));
      for (std::size_t i = 0; i < some.size(); ++i) some[i] = slot(first + i);
      for (std::size_t i = 0; i < some.size(); ++i) deal(first + i, some[i], use);
    }
  }

 private:
  /// Which slot of a group's halves is this rank's.
  std::uint64_t slot(std::uint64_t group) const {
    const std::uint64_t slot = turn_ + below(mix64(turns_ + group), place_.ranks);
    return slot >= place_.ranks ? slot - place_.ranks : slot;
  }
  template <typename Use>
  void deal(std::uint64_t group, std::uint64_t slot, const Use& use) const {
    const std::uint64_t begin = cut(group, slot), end = cut(group, slot + 1);
    const std::uint64_t first = group * group_vertices();
    use(Run{first + begin, end - begin});
    use(Run{first + first_half_ + slot * pair_ - begin, pair_ - (end - begin)});
  }
  /// Where the run of slot `slot` begins in the first half of a group.
  std::uint64_t cut(std::uint64_t group, std::uint64_t slot) const {
    const std::uint64_t even = slot * pair_ / 2;
    if (slot == 0 || slot == place_.ranks || jitters_ == 1) return even;
    return even + below(mix64(cuts_ + group * place_.ranks + slot), jitters_);
  }

  Place place_;
  std::uint64_t pair_, jitters_, first_half_;
  std::uint64_t turn_;          ///< this rank's place in the seeded order
  std::uint64_t turns_, cuts_;  ///< streams of random numbers
};

class UnstructuredMesh final : public ListPattern {
 public:
  explicit UnstructuredMesh(const Settings& settings)
      : vertices_(settings.number("vertices")),
        values_per_vertex_(settings.number("values_per_vertex")),
        values_per_record_(settings.number_or("values_per_record", values_per_vertex_)),
        element_(settings.number("element")),
        run_(settings.number("run")),
        seed_(settings.number("seed")) {
    if (values_per_record_ > values_per_vertex_)
      throw InputError("values_per_record", "a request moves more values of a vertex than the vertex has",
                       "make values_per_record at most values_per_vertex");
    const std::uint64_t vertex = checked_product(values_per_vertex_, element_, "values_per_vertex");
    checked_product(vertices_, vertex, "vertices");
  }
  std::uint64_t requests(Place, Direction) const override { return rounded_up(values_per_vertex_, values_per_record_); }
  std::uint64_t bytes(Place place, Direction) const override { return vertices_of(place) * vertex_bytes(); }
  std::uint64_t request_bytes(std::uint32_t ranks) const override {
    return rounded_up(vertices_, ranks * (run_ + 1)) * (run_ + 1) * record_bytes();
  }
  std::uint64_t file_size(std::uint32_t) const override { return vertices_ * vertex_bytes(); }
  std::uint64_t alignment(std::uint32_t) const override { return common_alignment({record_bytes(), vertex_bytes()}); }
  std::uint64_t extents(Place place, std::uint64_t) const override {
    return whole_vertices() ? runs_of(place) : vertices_of(place);
  }
  std::uint64_t most_extents(Place place) const override { return extents(place, 0); }
  std::uint64_t memory_bytes(Place place) const override { return vertices_of(place) * record_bytes(); }
  /// Requests for parts of the vertices lie within each other.
  std::uint64_t file_shift(Place) const override { return whole_vertices() ? vertices_ * vertex_bytes() : 0; }

  void check(std::uint32_t ranks) const override {
    const std::uint64_t group = checked_product(ranks, checked_sum(run_, 1, "run"), "run");
    if (vertices_ < group)
      throw InputError("vertices", "there are too few vertices to deal runs to " + std::to_string(ranks) + " ranks",
                       "make vertices at least ranks * (run + 1) = " + std::to_string(group) + ", or run smaller");
    checked_product(checked_product(rounded_up(vertices_, group), group, "vertices"), vertex_bytes(), "vertices");
    checked_extents(rounded_up(vertices_, group) * (whole_vertices() ? 2 : run_ + 1), "vertices");
  }

  std::size_t fill_request(Place place, std::uint64_t request, std::span<Extent> out) const override {
    const std::uint64_t start = request * record_bytes();
    const std::uint64_t length = std::min(record_bytes(), vertex_bytes() - start);
    const std::uint64_t vertex = vertex_bytes();
    std::uint64_t memory = 0;
    Extent* next = out.data();
    if (whole_vertices()) {
      for_each_run(place, [&](Run run) {
        *next++ = {run.first * vertex, memory, run.count * vertex};
        memory += run.count * vertex;
      });
      return static_cast<std::size_t>(next - out.data());
    }
    for_each_run(place, [&](Run run) {
      for (std::uint64_t i = 0; i < run.count; ++i, memory += length)
        *next++ = {(run.first + i) * vertex + start, memory, length};
    });
    return static_cast<std::size_t>(next - out.data());
  }

 private:
  std::uint64_t vertex_bytes() const { return values_per_vertex_ * element_; }
  std::uint64_t record_bytes() const { return values_per_record_ * element_; }
  bool whole_vertices() const { return values_per_record_ == values_per_vertex_; }

  std::uint64_t whole_groups(Place place) const { return vertices_ / (place.ranks * (run_ + 1)); }
  /// Calls `use` with the rank's runs in the last group, which the end of the mesh cuts off.
  template <typename Use>
  void deal_last(const Dealer& dealer, Place place, const Use& use) const {
    dealer.deal(whole_groups(place), [&](Run run) {
      if (run.first < vertices_) use(Run{run.first, std::min(run.count, vertices_ - run.first)});
    });
  }
  template <typename Use>
  void for_each_run(Place place, const Use& use) const {
    const Dealer dealer(place, run_, seed_);
    dealer.deal_all(whole_groups(place), use);
    deal_last(dealer, place, use);
  }
  std::uint64_t vertices_of(Place place) const {
    std::uint64_t vertices = whole_groups(place) * (run_ + 1);
    deal_last(Dealer(place, run_, seed_), place, [&](Run run) { vertices += run.count; });
    return vertices;
  }
  std::uint64_t runs_of(Place place) const {
    std::uint64_t runs = whole_groups(place) * 2;
    deal_last(Dealer(place, run_, seed_), place, [&](Run) { ++runs; });
    return runs;
  }

  std::uint64_t vertices_, values_per_vertex_, values_per_record_, element_, run_, seed_;
};

constexpr Parameter unstructured_mesh_parameters[] = {
    {"vertices", Kind::count, "1048576", "Vertices of the mesh.", 1},
    {"values_per_vertex", Kind::count, "8", "Values of a vertex, contiguous in the file.", 1},
    {"values_per_record", Kind::count, "null",
     "Number of values per vertex that one request moves; if not given, one request moves all of them.", 1},
    {"element", Kind::bytes, "8", "Bytes of a value.", 1},
    {"run", Kind::count, "8", "Most consecutive vertices that are dealt to a rank at once.", 1},
};

}  // namespace

extern const PatternEntry unstructured_mesh_entry{
    "unstructured-mesh",
    "Vertices are dealt to the ranks at random, in short runs; a request moves some values of each vertex of a rank.",
    "vertex v in request k: file offset (v * values_per_vertex + k * values_per_record) * element, values_per_record * "
    "element bytes, packed in memory; a run of vertices is one extent where a request takes all their values; "
    "vertices come in groups of ranks * (run + 1), the last one cut off; "
    "each rank has two runs in a group, of 1 to run vertices, together run + 1, in slot (perm(rank) + turn(group)) mod "
    "ranks of either half; "
    "slot s of the first half begins at cut(s) = s * (run + 1) div 2 + jitter, jitter below (run + 1) div 2 and by "
    "seed; "
    "slot s of the second half at ranks * (run + 1) div 2 + s * (run + 1) - cut(s)",
    "PIObench \"unstructured mesh\"",
    true,
    unstructured_mesh_parameters,
    make_pattern<UnstructuredMesh>};

}  // namespace strider
