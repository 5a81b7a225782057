#include <array>
#include <cmath>
#include <string>

#include "foundation/error.hpp"
#include "patterns/box.hpp"
#include "patterns/pattern.hpp"

namespace strider {
namespace {

constexpr std::uint64_t point_bytes = 40;
constexpr std::uint64_t ghosts = 2;  ///< points around a cell in memory, on each side

/// The q whose square is `ranks`, or 0.
std::uint64_t root_of(std::uint64_t ranks) {
  const auto q = static_cast<std::uint64_t>(std::llround(std::sqrt(static_cast<double>(ranks))));
  return q * q == ranks ? q : 0;
}

std::uint64_t points_of_class(char name) {
  switch (name) {
    case 'S': return 12;
    case 'W': return 24;
    case 'A': return 64;
    case 'B': return 102;
    case 'C': return 162;
    default: return 408;
  }
}

class Btio final : public ListPattern {
 public:
  explicit Btio(const Settings& settings)
      : dumps_(settings.number("dumps")), unit_(settings.text("request") == "cell" ? Unit::cell : Unit::dump) {
    grid_.fill(points_of_class(settings.text("class").front()));
    if (settings.has("grid")) {
      const Numbers& grid = settings.numbers("grid");
      if (grid.size() != 3) throw InputError("grid", "grid must have three numbers", "grid = [nx, ny, nz]");
      std::copy(grid.begin(), grid.end(), grid_.begin());
    }
    std::uint64_t memory = point_bytes;
    for (const std::uint64_t points : grid_) {
      if (points == 0) throw InputError("grid", "grid contains a 0", "every number must be at least 1");
      dump_bytes_ = checked_product(dump_bytes_, points, "grid");
      memory = checked_product(memory, checked_sum(points, 2 * ghosts, "grid"), "grid");
    }
    checked_product(dump_bytes_, dumps_, "dumps");
  }
  std::uint64_t requests(Place place, Direction) const override {
    return unit_ == Unit::dump ? dumps_ : dumps_ * root_of(place.ranks);
  }
  std::uint64_t bytes(Place place, Direction) const override {
    const Cells cells(*this, place);
    std::uint64_t points = 0;
    for (std::uint64_t c = 0; c < cells.q; ++c) {
      const auto [x, y, z] = cells.parts(c);
      points += x.length * y.length * z.length;
    }
    return dumps_ * points * point_bytes;
  }
  /// As if every cell were the largest.
  std::uint64_t request_bytes(std::uint32_t ranks) const override {
    const Cells cells(*this, {0, ranks});
    const std::uint64_t points = cells.largest[0] * cells.largest[1] * cells.largest[2];
    return (unit_ == Unit::dump ? cells.q : 1) * points * point_bytes;
  }
  std::uint64_t file_size(std::uint32_t) const override { return dumps_ * dump_bytes_; }
  std::uint64_t alignment(std::uint32_t ranks) const override {
    const Cells cells(*this, {0, ranks});
    return common_alignment({Part::unit(grid_[0], cells.q) * point_bytes, grid_[0] * point_bytes, ghosts * point_bytes,
                             (cells.largest[0] + 2 * ghosts) * point_bytes});
  }
  std::uint64_t extents(Place place, std::uint64_t request) const override {
    const Cells cells(*this, place);
    if (unit_ == Unit::cell) return cells.rows(request % cells.q);
    std::uint64_t rows = 0;
    for (std::uint64_t c = 0; c < cells.q; ++c) rows += cells.rows(c);
    return rows;
  }
  std::uint64_t most_extents(Place place) const override {
    const Cells cells(*this, place);
    return unit_ == Unit::dump ? extents(place, 0) : cells.largest[1] * cells.largest[2];
  }
  std::uint64_t memory_bytes(Place place) const override {
    const Cells cells(*this, place);
    return cells.q * cells.memory_bytes();
  }
  std::uint64_t file_shift(Place place) const override {
    return unit_ == Unit::dump || place.ranks == 1 ? dump_bytes_ : 0;
  }

  void check(std::uint32_t ranks) const override {
    const std::uint64_t q = root_of(ranks);
    if (q == 0)
      throw InputError("clients", "btio needs a square number of ranks for each file, not " + std::to_string(ranks),
                       "1, 4, 9, 16, 25, 36, … clients");
    for (const std::uint64_t points : grid_)
      if (points < q)
        throw InputError("clients",
                         "a grid of " + std::to_string(points) + " points cannot be divided by the square root of " +
                             std::to_string(ranks) + " ranks",
                         "choose fewer clients, or a larger class or grid");
    const Cells cells(*this, {0, ranks});
    checked_product(checked_product(q, cells.memory_bytes(), "grid"), ranks, "grid");
    checked_extents(q * cells.largest[1] * cells.largest[2], "grid");
  }

  std::size_t fill_request(Place place, std::uint64_t request, std::span<Extent> out) const override {
    const Cells cells(*this, place);
    if (unit_ == Unit::cell) return cells.fill(request % cells.q, request / cells.q * dump_bytes_, out);
    std::size_t filled = 0;
    for (std::uint64_t c = 0; c < cells.q; ++c) filled += cells.fill(c, request * dump_bytes_, out.subspan(filled));
    return filled;
  }

 private:
  enum class Unit { dump, cell };
  using Points = std::array<std::uint64_t, 3>;  ///< x, y, z

  /// The q cells that a rank owns, one in each part of z, so that they lie one behind the other in the file.
  struct Cells {
    Cells(const Btio& btio, Place at) : grid(btio.grid_), place(at), q(root_of(at.ranks)) {
      for (std::size_t d = 0; d < 3; ++d) largest[d] = rounded_up(grid[d], q);
    }
    std::array<Part, 3> parts(std::uint64_t c) const {
      const std::uint64_t i = (place.rank % q + c) % q, j = (place.rank / q + q - c) % q;
      return {Part(grid[0], q, i), Part(grid[1], q, j), Part(grid[2], q, c)};
    }
    std::uint64_t rows(std::uint64_t c) const {
      const auto [x, y, z] = parts(c);
      return y.length * z.length;
    }
    /// Of one cell: all have the memory of the largest.
    std::uint64_t memory_bytes() const { return (largest[2] + 2 * ghosts) * memory_plane(); }
    std::uint64_t memory_row() const { return (largest[0] + 2 * ghosts) * point_bytes; }
    std::uint64_t memory_plane() const { return (largest[1] + 2 * ghosts) * memory_row(); }

    /// Writes the extents of cell c of the dump that begins at `dump`; how many.
    std::size_t fill(std::uint64_t c, std::uint64_t dump, std::span<Extent> out) const {
      const auto [x, y, z] = parts(c);
      const std::uint64_t file_row = grid[0] * point_bytes, file_plane = grid[1] * file_row;
      Box box(x.length * point_bytes);
      box.repeat(y.length, file_row, memory_row());
      box.repeat(z.length, file_plane, memory_plane());
      return box.fill(dump + z.start * file_plane + y.start * file_row + x.start * point_bytes,
                      c * memory_bytes() + ghosts * (memory_plane() + memory_row() + point_bytes), out);
    }

    Points grid;
    Place place;
    std::uint64_t q;
    Points largest{};
  };

  Points grid_{};
  std::uint64_t dump_bytes_ = point_bytes;
  std::uint64_t dumps_;
  Unit unit_;
};

constexpr Parameter btio_parameters[] = {
    {"class", Kind::choice, "\"A\"", "The grid of an NPB class: 12, 24, 64, 102, 162 or 408 points in each direction.",
     no_limit, no_limit, "S|W|A|B|C|D"},
    {"grid", Kind::numbers, "null", "Points in each direction, [nx, ny, nz], in place of the class.", 1},
    {"dumps", Kind::count, "40", "Dumps: how often the whole grid is stored, one dump after the other.", 1},
    {"request", Kind::choice, "\"dump\"", "Data of a request: all cells of the rank in a dump, or one of them.",
     no_limit, no_limit, "dump|cell"},
};

}  // namespace

extern const PatternEntry btio_entry{
    "btio",
    "The solution array of NAS BT: each rank owns cells on a diagonal of the grid; each row of a cell is an extent.",
    "ranks = q * q; cell c of rank r has part i = (r mod q + c) mod q of x, j = (r div q - c) mod q of y, c of z; "
    "n points divided by q make parts of n div q, the first n mod q one more; "
    "row (z, y) of a cell: file offset (((dump * nz + z) * ny + y) * nx + x) * 40 bytes, a point being 5 doubles; "
    "in memory cells lie one behind the other, each an array of the largest cell with 2 ghost points around it",
    "NAS Parallel Benchmarks BT-IO",
    true,
    btio_parameters,
    make_pattern<Btio>};

}  // namespace strider
