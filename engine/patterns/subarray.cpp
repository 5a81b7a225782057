#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>

#include "foundation/error.hpp"
#include "patterns/box.hpp"
#include "patterns/pattern.hpp"

namespace strider {
namespace {

using Grid = std::array<std::uint64_t, Box::most_loops>;  ///< ranks in each dimension; those that are not there: 1

/// `ranks` divided among the dimensions as evenly as its factors allow, larger parts first.
Grid balanced_grid(std::uint32_t ranks, std::size_t dimensions) {
  std::array<std::uint32_t, 31> factors{};  // more than 31 make more than 32 bits
  std::size_t found = 0;
  for (std::uint32_t factor = 2; factor <= ranks / factor; ++factor)
    for (; ranks % factor == 0; ranks /= factor) factors[found++] = factor;
  if (ranks > 1) factors[found++] = ranks;
  Grid grid;
  grid.fill(1);
  while (found > 0) *std::min_element(grid.begin(), grid.begin() + dimensions) *= factors[--found];
  std::sort(grid.begin(), grid.end(), std::greater<>());
  return grid;
}

class Subarray final : public ListPattern {
 public:
  explicit Subarray(const Settings& settings)
      : dims_(settings.numbers("dims")),
        element_(settings.number("element")),
        halo_(settings.number("halo")),
        count_(settings.number("count")) {
    if (dims_.size() > Box::most_loops)
      throw InputError("dims", "an array has at most " + std::to_string(Box::most_loops) + " dimensions",
                       "leave out dimensions");
    if (settings.has("grid")) take_grid(settings.numbers("grid"));
    if (settings.text("memory") == "packed" && halo_ > 0)
      throw InputError("halo", "a halo is not possible with memory = \"packed\"", "halo = 0, or memory = \"in-place\"");
    array_bytes_ = checked_product(element_, 1, "element");
    for (const std::uint64_t points : dims_) {
      if (points == 0) throw InputError("dims", "a dimension of dims is 0", "every dimension must be at least 1");
      array_bytes_ = checked_product(array_bytes_, points, "dims");
    }
    checked_product(array_bytes_, count_, "count");
    std::uint64_t largest_memory = element_;
    for (const std::uint64_t points : dims_)
      largest_memory =
          checked_product(largest_memory, checked_sum(points, checked_product(halo_, 2, "halo"), "halo"), "halo");
  }
  std::uint64_t requests(Place, Direction) const override { return count_; }
  std::uint64_t bytes(Place place, Direction) const override { return count_ * block_bytes(place, 0); }
  /// Rank 0 has the longest part of every dimension.
  std::uint64_t request_bytes(std::uint32_t ranks) const override { return block_bytes({0, ranks}, 0); }
  std::uint64_t file_size(std::uint32_t) const override { return count_ * array_bytes_; }
  std::uint64_t alignment(std::uint32_t ranks) const override {
    const Grid grid = grid_of(ranks);
    std::uint64_t alignment = common_alignment({halo_ * element_}), stride = element_;
    for (std::size_t d = dims_.size(); d-- > 0; stride *= dims_[d])
      alignment = common_alignment({alignment, Part::unit(dims_[d], grid[d]) * stride});
    return alignment;
  }
  std::uint64_t extents(Place place, std::uint64_t) const override { return Cut(*this, place).box.extents(); }
  std::uint64_t most_extents(Place place) const override { return extents(place, 0); }
  std::uint64_t memory_bytes(Place place) const override { return block_bytes(place, halo_); }
  std::uint64_t file_shift(Place) const override { return array_bytes_; }

  void check(std::uint32_t ranks) const override {
    const Grid grid = grid_of(ranks);
    std::uint64_t places = 1;
    for (std::size_t d = 0; d < dims_.size(); ++d) {
      if (grid[d] == 0) throw InputError("grid", "grid contains a 0", "every number must be at least 1");
      if (grid[d] > dims_[d])
        throw InputError(
            "dims", std::to_string(grid[d]) + " ranks share a dimension of " + std::to_string(dims_[d]) + " points",
            "make dims larger, or set grid to another division of the array");
      places = checked_product(places, grid[d], "grid");
    }
    if (places != ranks)
      throw InputError(
          "clients",
          "grid is made for " + std::to_string(places) + " ranks, but " + std::to_string(ranks) + " share a file",
          "make the product of grid equal to the ranks that share a file, or leave out grid");
    checked_extents(extents({0, ranks}, 0), "dims");
  }

  std::size_t fill_request(Place place, std::uint64_t request, std::span<Extent> out) const override {
    const Cut cut(*this, place);
    return cut.box.fill(request * array_bytes_ + cut.file_start, cut.memory_start, out);
  }

 private:
  void take_grid(const Numbers& numbers) {
    if (numbers.size() != dims_.size())
      throw InputError("grid", "grid and dims have different numbers of dimensions",
                       "set one number of ranks for each dimension");
    grid_.emplace();
    grid_->fill(1);
    std::copy(numbers.begin(), numbers.end(), grid_->begin());
  }
  Grid grid_of(std::uint32_t ranks) const { return grid_ ? *grid_ : balanced_grid(ranks, dims_.size()); }

  /// Calls `use` with the rank's part of each dimension, beginning with the last one, along which ranks are numbered
  /// first.
  template <typename Use>
  void for_each_part(Place place, const Use& use) const {
    const Grid grid = grid_of(place.ranks);
    std::uint64_t rest = place.rank;
    for (std::size_t d = dims_.size(); d-- > 0; rest /= grid[d]) use(dims_[d], Part(dims_[d], grid[d], rest % grid[d]));
  }
  std::uint64_t block_bytes(Place place, std::uint64_t halo) const {
    std::uint64_t bytes = element_;
    for_each_part(place, [&](std::uint64_t, const Part& part) { bytes *= part.length + 2 * halo; });
    return bytes;
  }

  /// A rank's block as the box that it is in the file and in memory.
  struct Cut {
    Cut(const Subarray& array, Place place) : box(array.element_) {
      std::uint64_t file_stride = array.element_, memory_stride = array.element_;
      array.for_each_part(place, [&](std::uint64_t points, const Part& part) {
        box.repeat(part.length, file_stride, memory_stride);
        file_start += part.start * file_stride;
        memory_start += array.halo_ * memory_stride;
        file_stride *= points;
        memory_stride *= part.length + 2 * array.halo_;
      });
    }
    Box box;
    std::uint64_t file_start = 0;
    std::uint64_t memory_start = 0;
  };

  Numbers dims_;
  std::optional<Grid> grid_;  ///< absent: as even as possible
  std::uint64_t element_, halo_, count_;
  std::uint64_t array_bytes_ = 0;
};

constexpr Parameter subarray_parameters[] = {
    {"dims", Kind::numbers, "[2048, 2048]", "Elements of the array in each dimension; the last one varies fastest.", 1},
    {"grid", Kind::numbers, "null",
     "Ranks in each dimension, one number for each of dims; default: as even a division as possible, larger numbers "
     "first.",
     1},
    {"element", Kind::bytes, "4", "Bytes of an element.", 1},
    {"memory", Kind::choice, "\"packed\"",
     "The rank's block in memory: \"packed\" without gaps, or \"in-place\" within an array that has a halo.", no_limit,
     no_limit, "packed|in-place"},
    {"halo", Kind::count, "0",
     "Elements around the block in memory, on each side of each dimension; needs \"in-place\".", 0},
    {"count", Kind::count, "1", "Requests per rank: how often the array is stored, one array after the other.", 1},
};

}  // namespace

extern const PatternEntry subarray_entry{
    "subarray",
    "Each rank owns a block of an n-dimensional array: one extent for each of its rows.",
    "rank = grid coordinates, the last dimension fastest; a dimension of n points divided by q has parts of n div q "
    "points, the first n mod q one more; "
    "element (i1, …, in) of array k: file offset k * array + ((i1 * dims2 + i2) * dims3 + …) * element, memory offset "
    "likewise within the rank's block, with halo; elements that follow each other in file and memory are one extent",
    "MPI_Type_create_subarray; \"Efficient noncontiguous access in PVFS over InfiniBand\" 2003: 2048 x 2048 over 2 x 2",
    true,
    subarray_parameters,
    make_pattern<Subarray>};

}  // namespace strider
