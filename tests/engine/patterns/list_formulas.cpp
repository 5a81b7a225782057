// The patterns whose requests have several extents, element by element.
#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <string>

#include "foundation/random.hpp"
#include "patterns/formulas.hpp"

namespace strider {
namespace {

/// Where parts begin when n points are divided by q, the first n mod q one longer; and the end.
Numbers parts_of(std::uint64_t n, std::uint64_t q) {
  Numbers begins{0};
  for (std::uint64_t i = 0; i < q; ++i) begins.push_back(begins.back() + n / q + (i < n % q ? 1 : 0));
  return begins;
}

std::uint64_t count_requests(const Settings& s, Place, Direction) { return s.number("count"); }

// vector: ranks whose pieces fit between two pieces of the first of them form a group, groups follow each other.
std::vector<Extent> vector_extents(const Settings& s, Place place, std::uint64_t k) {
  const std::uint64_t piece = s.number("piece"), pieces = s.number("pieces");
  const std::uint64_t gap = s.number_or("file_gap", (place.ranks - 1) * piece), period = piece + gap;
  std::uint64_t group = 0, in_group = 0, groups = 1;
  for (std::uint64_t rank = 0, slot = 0; rank < place.ranks; ++rank, ++slot) {
    if ((slot + 1) * piece > period) slot = 0, ++groups;
    if (rank == place.rank) group = groups - 1, in_group = slot;
  }
  std::vector<Extent> extents;
  for (std::uint64_t i = 0; i < pieces; ++i)
    extents.push_back({(k * groups + group) * pieces * period + i * period + in_group * piece,
                       i * (piece + s.number("memory_gap")), piece});
  return joined(extents);
}

/// The most even grid, from the largest prime factor down; the last dimensions get the smaller numbers.
Numbers even_grid(std::uint64_t ranks, std::size_t dimensions) {
  Numbers grid(dimensions, 1);
  for (std::uint64_t factor = ranks; factor > 1; --factor) {
    bool prime = true;
    for (std::uint64_t d = 2; d < factor; ++d) prime = prime && factor % d != 0;
    for (; prime && ranks % factor == 0; ranks /= factor) {
      std::size_t smallest = 0;
      for (std::size_t d = 1; d < dimensions; ++d)
        if (grid[d] < grid[smallest]) smallest = d;
      grid[smallest] *= factor;
    }
  }
  std::sort(grid.begin(), grid.end(), std::greater<>());
  return grid;
}

// subarray: every element of the array, asked whose it is.
std::vector<Extent> subarray_extents(const Settings& s, Place place, std::uint64_t k) {
  const Numbers& dims = s.numbers("dims");
  const Numbers grid = s.has("grid") ? s.numbers("grid") : even_grid(place.ranks, dims.size());
  const std::uint64_t element = s.number("element"), halo = s.number("halo");
  Numbers first(dims.size()), length(dims.size());
  std::uint64_t rank = place.rank, elements = 1;
  for (std::size_t d = dims.size(); d-- > 0; rank /= grid[d]) {
    const Numbers parts = parts_of(dims[d], grid[d]);
    first[d] = parts[rank % grid[d]];
    length[d] = parts[rank % grid[d] + 1] - first[d];
    elements *= dims[d];
  }
  std::vector<Extent> extents;
  for (std::uint64_t e = 0; e < elements; ++e) {
    std::uint64_t rest = e, memory = 0, stride = element;
    bool mine = true;
    for (std::size_t d = dims.size(); d-- > 0; rest /= dims[d]) {
      const std::uint64_t index = rest % dims[d];
      mine = mine && index >= first[d] && index < first[d] + length[d];
      memory += (index - first[d] + halo) * stride;
      stride *= length[d] + 2 * halo;
    }
    if (mine) extents.push_back({(k * elements + e) * element, memory, element});
  }
  return joined(extents);
}

// tiled: every element of the tile, a row of the frame being as long as all tiles with what they share counted once.
std::vector<Extent> tiled_extents(const Settings& s, Place place, std::uint64_t k) {
  const std::uint64_t tiles_y = s.number("tiles_y"), tiles_x = s.number_or("tiles_x", place.ranks / tiles_y);
  const std::uint64_t x = s.number("tile_x"), y = s.number("tile_y"), e = s.number("element");
  const std::uint64_t width = tiles_x * x - (tiles_x - 1) * s.number("overlap_x");
  const std::uint64_t height = tiles_y * y - (tiles_y - 1) * s.number("overlap_y");
  const std::uint64_t left = place.rank % tiles_x * (x - s.number("overlap_x"));
  const std::uint64_t top = place.rank / tiles_x * (y - s.number("overlap_y"));
  std::vector<Extent> extents;
  for (std::uint64_t line = 0; line < y; ++line)
    for (std::uint64_t column = 0; column < x; ++column)
      extents.push_back({((k * height + top + line) * width + left + column) * e, (line * x + column) * e, e});
  return joined(extents);
}

// flash: the loops of the code that writes a checkpoint.
std::uint64_t flash_requests(const Settings& s, Place, Direction) { return s.number("variables"); }
std::vector<Extent> flash_extents(const Settings& s, Place place, std::uint64_t variable) {
  const std::uint64_t blocks = s.number("blocks"), cells = s.number("cells"), guard = s.number("guard_cells");
  const std::uint64_t variables = s.number("variables"), e = s.number("element"), side = cells + 2 * guard;
  std::uint64_t file = (variable * place.ranks + place.rank) * blocks * cells * cells * cells * e, cell = 0;
  std::vector<Extent> extents;
  for (std::uint64_t block = 0; block < blocks; ++block)
    for (std::uint64_t z = 0; z < side; ++z)
      for (std::uint64_t y = 0; y < side; ++y)
        for (std::uint64_t x = 0; x < side; ++x, ++cell) {
          const auto inside = [&](std::uint64_t i) { return i >= guard && i < guard + cells; };
          if (!inside(x) || !inside(y) || !inside(z)) continue;
          extents.push_back({file, (cell * variables + variable) * e, e});
          file += e;
        }
  return joined(extents);
}

// unstructured-mesh: group by group, half by half, slot by slot; each slot's rank takes as many vertices as it may.
std::uint64_t mesh_requests(const Settings& s, Place, Direction) {
  const std::uint64_t values = s.number("values_per_vertex"), record = s.number_or("values_per_record", values);
  return (values + record - 1) / record;
}
std::vector<Extent> mesh_extents(const Settings& s, Place place, std::uint64_t k) {
  const std::uint64_t values = s.number("values_per_vertex"), record = s.number_or("values_per_record", values);
  const std::uint64_t e = s.number("element"), seed = s.number("seed"), run = s.number("run"), ranks = place.ranks;
  const std::uint64_t length = std::min(record, values - k * record) * e, vertices = s.number("vertices");
  std::vector<Extent> extents;
  std::uint64_t vertex = 0, memory = 0;
  for (std::uint64_t group = 0; vertex < vertices; ++group) {
    Numbers lengths;
    for (std::uint64_t slot = 0, last = 0; slot < ranks; ++slot) {
      std::uint64_t cut = (slot + 1) * (run + 1) / 2;
      if (slot + 1 < ranks) cut += below(mix64(hash_numbers(seed, 1) + group * ranks + slot + 1), (run + 1) / 2);
      lengths.push_back(cut - last);
      last = cut;
    }
    for (std::uint64_t slot = 0; slot < ranks; ++slot) lengths.push_back(run + 1 - lengths[slot]);
    const std::uint64_t turn = below(mix64(hash_numbers(seed, 0) + group), ranks);
    for (std::uint64_t i = 0; i < lengths.size(); ++i) {
      const bool mine = (Permutation(ranks, seed)(place.rank) + turn) % ranks == i % ranks;
      const std::uint64_t end = std::min(vertex + lengths[i], vertices);
      if (mine && record == values && end > vertex) {
        extents.push_back({vertex * values * e, memory, (end - vertex) * values * e});
        memory += (end - vertex) * values * e;
      }
      for (; vertex < end; ++vertex)
        if (mine && record < values) {
          extents.push_back({(vertex * values + k * record) * e, memory, length});
          memory += length;
        }
    }
  }
  return extents;
}

// btio: every point of the grid, asked in which cell it is and whose that is.
std::uint64_t root_of(std::uint64_t ranks) {
  std::uint64_t q = 1;
  while (q * q < ranks) ++q;
  return q;
}
std::array<std::uint64_t, 3> btio_grid(const Settings& s) {
  if (s.has("grid")) return {s.numbers("grid")[0], s.numbers("grid")[1], s.numbers("grid")[2]};
  const std::string letters = "SWABCD";
  const std::uint64_t points = std::array{12, 24, 64, 102, 162, 408}.at(letters.find(s.text("class")));
  return {points, points, points};
}
std::uint64_t btio_requests(const Settings& s, Place place, Direction) {
  return s.number("dumps") * (s.text("request") == "cell" ? root_of(place.ranks) : 1);
}
std::vector<Extent> btio_extents(const Settings& s, Place place, std::uint64_t k) {
  const auto [nx, ny, nz] = btio_grid(s);
  const std::uint64_t q = root_of(place.ranks), point = 40;
  const std::uint64_t dump = s.text("request") == "cell" ? k / q : k;
  const Numbers x_parts = parts_of(nx, q), y_parts = parts_of(ny, q), z_parts = parts_of(nz, q);
  const auto part_with = [](const Numbers& parts, std::uint64_t index) {
    std::uint64_t part = 0;
    while (index >= parts[part + 1]) ++part;
    return part;
  };
  // In memory, as Fortran has it: u(5, -2:x+1, -2:y+1, -2:z+1, cells), with the largest x, y and z of any cell.
  const std::uint64_t row = x_parts[1] + 4, plane = row * (y_parts[1] + 4), cell = plane * (z_parts[1] + 4);
  std::vector<Extent> extents;
  for (std::uint64_t z = 0; z < nz; ++z)
    for (std::uint64_t y = 0; y < ny; ++y)
      for (std::uint64_t x = 0; x < nx; ++x) {
        const std::uint64_t i = part_with(x_parts, x), j = part_with(y_parts, y), c = part_with(z_parts, z);
        if (i != (place.rank % q + c) % q || j != (place.rank / q + q - c) % q) continue;
        if (s.text("request") == "cell" && c != k % q) continue;
        const std::uint64_t memory =
            c * cell + (z - z_parts[c] + 2) * plane + (y - y_parts[j] + 2) * row + x - x_parts[i] + 2;
        extents.push_back({(((dump * nz + z) * ny + y) * nx + x) * point, memory * point, point});
      }
  return joined(extents);
}

// list: the lines of the file.
struct Line {
  unsigned long rank = 0, request = 0, offset = 0, length = 0, memory = 0;
};
std::vector<Line> lines_of(const Settings& s) {
  std::ifstream in(s.text("file"));
  std::vector<Line> lines;
  for (std::string text; std::getline(in, text);) {
    Line line;
    if (std::sscanf(text.c_str(), "%lu,%lu,%lu,%lu,%lu", &line.rank, &line.request, &line.offset, &line.length,
                    &line.memory) >= 4)
      lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.offset < b.offset; });
  return lines;
}
std::uint64_t list_requests(const Settings& s, Place place, Direction) {
  std::uint64_t requests = 0;
  for (const Line& line : lines_of(s))
    if (line.rank == place.rank) requests = std::max<std::uint64_t>(requests, line.request + 1);
  return requests;
}
std::vector<Extent> list_extents(const Settings& s, Place place, std::uint64_t k) {
  std::ifstream in(s.text("file"));
  const bool listed = std::string(std::istreambuf_iterator<char>(in), {}).find("memory_offset") != std::string::npos;
  std::vector<Extent> extents;
  std::uint64_t memory = 0;
  for (const Line& line : lines_of(s)) {
    if (line.rank != place.rank || line.request != k) continue;
    extents.push_back({line.offset, listed ? line.memory : memory, line.length});
    memory += line.length;
  }
  return extents;
}

constexpr NamedFormula formulas_of_lists[] = {
    {"vector", {count_requests, vector_extents}},
    {"subarray", {count_requests, subarray_extents}},
    {"tiled", {count_requests, tiled_extents}},
    {"flash", {flash_requests, flash_extents}},
    {"unstructured-mesh", {mesh_requests, mesh_extents}},
    {"btio", {btio_requests, btio_extents}},
    {"list", {list_requests, list_extents}},
};

}  // namespace

std::span<const NamedFormula> list_formulas() { return formulas_of_lists; }

}  // namespace strider
