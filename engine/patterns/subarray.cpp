#include <algorithm>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "patterns/box.hpp"
#include "patterns/pattern.hpp"

namespace strider {
namespace {

/// `ranks` divided among the dimensions as evenly as its factors allow, larger parts first.
Numbers balanced_grid(std::uint64_t ranks, std::size_t dimensions) {
  Numbers factors;
  for (std::uint64_t factor = 2; factor * factor <= ranks; ++factor)
    for (; ranks % factor == 0; ranks /= factor) factors.push_back(factor);
  if (ranks > 1) factors.push_back(ranks);
  Numbers grid(dimensions, 1);
  for (auto factor = factors.rbegin(); factor != factors.rend(); ++factor)
    *std::min_element(grid.begin(), grid.end()) *= *factor;
  std::sort(grid.rbegin(), grid.rend());
  return grid;
}

class Subarray final : public ListPattern {
 public:
  explicit Subarray(const Settings& settings)
      : dims_(settings.numbers("dims")),
        element_(settings.number("element")),
        halo_(settings.number("halo")),
        count_(settings.number("count")) {
    if (settings.has("grid")) grid_ = settings.numbers("grid");
    if (dims_.size() > Box::most_loops)
      throw InputError("dims", "an array has at most " + std::to_string(Box::most_loops) + " dimensions",
                       "leave out dimensions");
    if (!grid_.empty() && grid_.size() != dims_.size())
      throw InputError("grid", "grid has not as many numbers as dims", "one number of ranks for each dimension");
    if (settings.text("memory") == "packed" && halo_ > 0)
      throw InputError("halo", "packed memory has no halo", "halo = 0, or memory = \"in-place\"");
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
  std::uint64_t bytes(Place place, Direction) const override { return count_ * Block(*this, place).bytes(element_); }
  /// Rank 0 has the longest part of every dimension.
  std::uint64_t request_bytes(std::uint32_t ranks) const override { return Block(*this, {0, ranks}).bytes(element_); }
  std::uint64_t file_size(std::uint32_t) const override { return count_ * array_bytes_; }
  std::uint64_t alignment(std::uint32_t ranks) const override {
    const Numbers grid = grid_of(ranks);
    std::uint64_t alignment = common_alignment({halo_ * element_}), stride = element_;
    for (std::size_t d = dims_.size(); d-- > 0; stride *= dims_[d])
      alignment = common_alignment({alignment, Part::unit(dims_[d], grid[d]) * stride});
    return alignment;
  }
  std::uint64_t extents(Place place, std::uint64_t) const override { return Cut(*this, place).box.extents(); }
  std::uint64_t most_extents(Place place) const override { return extents(place, 0); }
  std::uint64_t memory_bytes(Place place) const override {
    std::uint64_t bytes = element_;
    for (const Part& part : Block(*this, place).parts) bytes *= part.length + 2 * halo_;
    return bytes;
  }
  std::uint64_t file_shift(Place) const override { return array_bytes_; }

  void check(std::uint32_t ranks) const override {
    const Numbers grid = grid_of(ranks);
    std::uint64_t places = 1;
    for (std::size_t d = 0; d < grid.size(); ++d) {
      if (grid[d] == 0) throw InputError("grid", "a number of grid is 0", "every number must be at least 1");
      if (grid[d] > dims_[d])
        throw InputError(
            "dims", std::to_string(grid[d]) + " ranks share a dimension of " + std::to_string(dims_[d]) + " points",
            "make dims larger, or divide the array otherwise by grid");
      places = checked_product(places, grid[d], "grid");
    }
    if (places != ranks)
      throw InputError(
          "clients",
          "grid is made for " + std::to_string(places) + " ranks, but " + std::to_string(ranks) + " share a file",
          "choose clients and grid alike, or leave out grid");
    checked_extents(extents({0, ranks}, 0), "dims");
  }

  void fill_request(Place place, std::uint64_t request, std::span<Extent> out) const override {
    const Cut cut(*this, place);
    cut.box.fill(request * array_bytes_ + cut.file_start, cut.memory_start, out.data());
  }

 private:
  /// A rank's part of each dimension; ranks are numbered along the last dimension first.
  struct Block {
    Block(const Subarray& array, Place place) {
      const Numbers grid = array.grid_of(place.ranks);
      std::uint64_t rest = place.rank, above = 1;
      for (const std::uint64_t ranks : grid) above *= ranks;
      for (std::size_t d = 0; d < grid.size(); ++d) {
        above /= grid[d];
        parts.emplace_back(array.dims_[d], grid[d], rest / above);
        rest %= above;
      }
    }
    std::uint64_t bytes(std::uint64_t element) const {
      for (const Part& part : parts) element *= part.length;
      return element;
    }
    std::vector<Part> parts;
  };
  /// The block as the box that it is in the file and in memory.
  struct Cut {
    Cut(const Subarray& array, Place place) : box(array.element_) {
      const Block block(array, place);
      std::uint64_t file_stride = array.element_, memory_stride = array.element_;
      for (std::size_t d = block.parts.size(); d-- > 0;) {
        const Part& part = block.parts[d];
        box.repeat(part.length, file_stride, memory_stride);
        file_start += part.start * file_stride;
        memory_start += array.halo_ * memory_stride;
        file_stride *= array.dims_[d];
        memory_stride *= part.length + 2 * array.halo_;
      }
    }
    Box box;
    std::uint64_t file_start = 0;
    std::uint64_t memory_start = 0;
  };
  Numbers grid_of(std::uint32_t ranks) const { return grid_.empty() ? balanced_grid(ranks, dims_.size()) : grid_; }

  Numbers dims_, grid_;
  std::uint64_t element_, halo_, count_;
  std::uint64_t array_bytes_ = 0;
};

constexpr Parameter parameters[] = {
    {"dims", Kind::numbers, "[2048, 2048]", "Elements of the array in each dimension; the last one varies fastest.", 1},
    {"grid", Kind::numbers, "null",
     "Ranks in each dimension, as many numbers as dims; as even as possible if not given, larger ones first.", 1},
    {"element", Kind::bytes, "4", "Bytes of an element.", 1},
    {"memory", Kind::choice, "\"packed\"",
     "The rank's block in memory: \"packed\" without gaps, or \"in-place\" within an array that has a halo.", no_limit,
     no_limit, "packed|in-place"},
    {"halo", Kind::count, "0",
     "Elements around the block in memory, on each side of each dimension; needs \"in-place\".", 0},
    {"count", Kind::count, "1", "Requests per rank: how often the array is stored, one behind the other.", 1},
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
    parameters,
    make_pattern<Subarray>};

}  // namespace strider
