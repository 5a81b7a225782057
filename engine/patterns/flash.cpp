#include "foundation/error.hpp"
#include "patterns/box.hpp"
#include "patterns/pattern.hpp"

namespace strider {
namespace {

/// The checkpoint of FLASH: in memory all variables of a cell lie together, in the file all cells of a variable.
class Flash final : public ListPattern {
 public:
  explicit Flash(const Settings& settings)
      : blocks_(settings.number("blocks")),
        cells_(settings.number("cells")),
        guard_cells_(settings.number("guard_cells")),
        variables_(settings.number("variables")),
        element_(settings.number("element")),
        box_(element_) {
    side_ = checked_sum(cells_, checked_product(guard_cells_, 2, "guard_cells"), "guard_cells");
    std::uint64_t memory = checked_product(checked_product(element_, variables_, "variables"), blocks_, "blocks");
    for (int dimension = 0; dimension < 3; ++dimension) memory = checked_product(memory, side_, "cells");
    box_.repeat(cells_, element_, cell_bytes());
    box_.repeat(cells_, cells_ * element_, side_ * cell_bytes());
    box_.repeat(cells_, cells_ * cells_ * element_, side_ * side_ * cell_bytes());
    box_.repeat(blocks_, cells_ * cells_ * cells_ * element_, side_ * side_ * side_ * cell_bytes());
    checked_extents(most_extents({}), "cells");
  }
  std::uint64_t requests(Place, Direction) const override { return variables_; }
  std::uint64_t bytes(Place, Direction) const override { return variables_ * variable_bytes(); }
  std::uint64_t request_bytes(std::uint32_t) const override { return variable_bytes(); }
  std::uint64_t file_size(std::uint32_t ranks) const override { return variables_ * variable_bytes() * ranks; }
  std::uint64_t alignment(std::uint32_t) const override {
    return common_alignment({box_.alignment(), memory_start(), variables_ > 1 ? element_ : 0, variable_bytes()});
  }
  std::uint64_t extents(Place, std::uint64_t) const override { return box_.extents(); }
  std::uint64_t most_extents(Place place) const override { return extents(place, 0); }
  std::uint64_t memory_bytes(Place) const override { return blocks_ * side_ * side_ * side_ * cell_bytes(); }
  std::uint64_t file_shift(Place place) const override { return variable_bytes() * place.ranks; }

  void check(std::uint32_t ranks) const override {
    checked_product(checked_product(variable_bytes(), variables_, "variables"), ranks, "blocks");
  }

  std::size_t fill_request(Place place, std::uint64_t request, std::span<Extent> out) const override {
    return box_.fill((request * place.ranks + place.rank) * variable_bytes(), memory_start() + request * element_, out);
  }

 private:
  std::uint64_t cell_bytes() const { return variables_ * element_; }
  std::uint64_t variable_bytes() const { return blocks_ * cells_ * cells_ * cells_ * element_; }
  /// Where the first cell within the guard cells begins.
  std::uint64_t memory_start() const { return guard_cells_ * (1 + side_ * (1 + side_)) * cell_bytes(); }

  std::uint64_t blocks_, cells_, guard_cells_, variables_, element_;
  std::uint64_t side_ = 0;  ///< of a block in memory, in cells
  Box box_;                 ///< one variable of all cells of a rank, without the guard cells
};

constexpr Parameter flash_parameters[] = {
    {"blocks", Kind::count, "80", "Blocks of each rank.", 1},
    {"cells", Kind::count, "8", "Cells of a block along each of its three sides.", 1},
    {"guard_cells", Kind::count, "4", "Guard cells on each side of a block, which are in memory but not in the file.",
     0},
    {"variables", Kind::count, "24", "Variables of a cell; each variable is one request of a rank.", 1},
    {"element", Kind::bytes, "8", "Bytes of one variable of one cell.", 1},
};

}  // namespace

extern const PatternEntry flash_entry{
    "flash",
    "The checkpoint of the FLASH code: a request is one variable of all cells of a rank, scattered in memory, "
    "contiguous in the file.",
    "variable v of cell (z, y, x) of block b: file offset "
    "((((v * ranks + rank) * blocks + b) * cells^3) + (z * cells + y) * cells + x) * element; "
    "memory offset ((((b * s + z + g) * s + y + g) * s + x + g) * variables + v) * element, with g = guard_cells, "
    "s = cells + 2 * g; cells that follow each other in memory are one extent: those of a line with variables = 1",
    "FLASH I/O benchmark; PIObench \"flash I/O kernel\"",
    true,
    flash_parameters,
    make_pattern<Flash>};

}  // namespace strider
