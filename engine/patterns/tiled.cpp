#include <string>

#include "foundation/error.hpp"
#include "patterns/box.hpp"
#include "patterns/pattern.hpp"

namespace strider {
namespace {

class Tiled final : public ListPattern {
 public:
  explicit Tiled(const Settings& settings)
      : tiles_x_(settings.number_or("tiles_x", 0)),
        tiles_y_(settings.number("tiles_y")),
        tile_x_(settings.number("tile_x")),
        tile_y_(settings.number("tile_y")),
        overlap_x_(settings.number("overlap_x")),
        overlap_y_(settings.number("overlap_y")),
        element_(settings.number("element")),
        count_(settings.number("count")) {
    if (overlap_x_ >= tile_x_)
      throw InputError("overlap_x", "the overlap is as wide as a tile", "make overlap_x smaller than tile_x");
    if (overlap_y_ >= tile_y_)
      throw InputError("overlap_y", "the overlap is as high as a tile", "make overlap_y smaller than tile_y");
    checked_extents(tile_y_, "tile_y");
  }
  std::uint64_t requests(Place, Direction) const override { return count_; }
  std::uint64_t bytes(Place place, Direction) const override { return count_ * memory_bytes(place); }
  std::uint64_t request_bytes(std::uint32_t) const override { return tile_x_ * tile_y_ * element_; }
  std::uint64_t file_size(std::uint32_t ranks) const override { return count_ * Frame(*this, ranks).bytes; }
  std::uint64_t alignment(std::uint32_t ranks) const override {
    const Frame frame(*this, ranks);
    return common_alignment({tile_x_ * element_, frame.row_bytes, frame.tiles_x > 1 ? overlap_x_ * element_ : 0});
  }
  bool disjoint(std::uint32_t ranks) const override {
    return (Frame(*this, ranks).tiles_x == 1 || overlap_x_ == 0) && (tiles_y_ == 1 || overlap_y_ == 0);
  }
  std::uint64_t extents(Place place, std::uint64_t) const override { return box(Frame(*this, place.ranks)).extents(); }
  std::uint64_t most_extents(Place place) const override { return extents(place, 0); }
  std::uint64_t memory_bytes(Place) const override { return tile_x_ * tile_y_ * element_; }
  std::uint64_t file_shift(Place place) const override { return Frame(*this, place.ranks).bytes; }

  void check(std::uint32_t ranks) const override {
    const std::uint64_t tiles_x = tiles_x_ != 0 ? tiles_x_ : ranks / tiles_y_;
    if (checked_product(tiles_x, tiles_y_, "tiles_x") != ranks)
      throw InputError("clients",
                       "there are " + std::to_string(tiles_x * tiles_y_) + " tiles, but " + std::to_string(ranks) +
                           " ranks share a file",
                       "choose clients, tiles_x and tiles_y so that each rank has one tile");
    const std::uint64_t columns = checked_product(tiles_x, tile_x_, "tile_x");
    const std::uint64_t lines = checked_product(tiles_y_, tile_y_, "tile_y");
    const std::uint64_t row = checked_product(columns, element_, "element");
    checked_product(checked_product(row, lines, "tile_y"), count_, "count");
  }

  std::size_t fill_request(Place place, std::uint64_t request, std::span<Extent> out) const override {
    const Frame frame(*this, place.ranks);
    const std::uint64_t x = place.rank % frame.tiles_x * (tile_x_ - overlap_x_);
    const std::uint64_t y = place.rank / frame.tiles_x * (tile_y_ - overlap_y_);
    return box(frame).fill(request * frame.bytes + y * frame.row_bytes + x * element_, 0, out);
  }

 private:
  struct Frame {
    Frame(const Tiled& tiled, std::uint32_t ranks)
        : tiles_x(tiled.tiles_x_ != 0 ? tiled.tiles_x_ : ranks / tiled.tiles_y_),
          row_bytes((tiles_x * (tiled.tile_x_ - tiled.overlap_x_) + tiled.overlap_x_) * tiled.element_),
          bytes((tiled.tiles_y_ * (tiled.tile_y_ - tiled.overlap_y_) + tiled.overlap_y_) * row_bytes) {}
    std::uint64_t tiles_x, row_bytes, bytes;
  };
  Box box(const Frame& frame) const {
    Box box(tile_x_ * element_);
    box.repeat(tile_y_, frame.row_bytes, tile_x_ * element_);
    return box;
  }

  std::uint64_t tiles_x_, tiles_y_, tile_x_, tile_y_, overlap_x_, overlap_y_, element_, count_;
};

constexpr Parameter tiled_parameters[] = {
    {"tiles_x", Kind::count, "null", "Tiles side by side; default: ranks / tiles_y.", 1},
    {"tiles_y", Kind::count, "1", "Tiles one above the other; each rank has one tile.", 1},
    {"tile_x", Kind::count, "1024", "Width of a tile in elements.", 1},
    {"tile_y", Kind::count, "768", "Height of a tile in elements.", 1},
    {"overlap_x", Kind::count, "0", "Elements by which tiles side by side overlap.", 0},
    {"overlap_y", Kind::count, "0", "Elements by which tiles one above the other overlap.", 0},
    {"element", Kind::bytes, "3", "Bytes of an element (pixel).", 1},
    {"count", Kind::count, "1", "Requests per rank: frames, one after the other in the file.", 1},
};

}  // namespace

extern const PatternEntry tiled_entry{
    "tiled",
    "Each rank owns a tile of a dense two-dimensional frame, one extent for each of the tile's lines; neighbours may "
    "overlap.",
    "rank r has tile (x, y) = (r mod tiles_x, r div tiles_x); "
    "line j of frame k: file offset k * frame + ((y * (tile_y - overlap_y) + j) * width + x * (tile_x - overlap_x)) * "
    "element, length tile_x * element, memory offset j * tile_x * element; "
    "width = tiles_x * (tile_x - overlap_x) + overlap_x; where one tile is as wide as the frame it is one extent",
    "PIObench \"tiled\"; mpi-tile-io",
    true,
    tiled_parameters,
    make_pattern<Tiled>,
    "overlap_x|overlap_y"};

}  // namespace strider
