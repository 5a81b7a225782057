// Patterns that cut arrays into pieces, compared with what others say of the same arrays.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "mpi_session.hpp"
#include "patterns/formulas.hpp"
#include "plan/plans.hpp"

namespace strider {
namespace {

using Extents = std::vector<Extent>;
using Number = std::uint64_t;

/// A pattern as a plan describes it, with all defaults.
struct Described {
  explicit Described(const std::string& pattern, std::uint32_t ranks = 1)
      : test(good_case(case_text("\"clients\": " + std::to_string(ranks), pattern))), made(make_pattern_of(test)) {}
  Extents extents(Place place, Number request) const {
    Extents result(made->extents(place, request));
    made->fill_request(place, request, result);
    return result;
  }
  Extents formula(Place place, Number request) const {
    return find_formula(test.pattern->name)->extents(test.pattern_settings, place, request);
  }
  Case test;
  std::unique_ptr<Pattern> made;
};

std::string list_text(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "[" : ", ") + std::to_string(number);
  return text + "]";
}

// BTIO: classes S and W, point by point.

class BtioOf : public testing::TestWithParam<std::tuple<const char*, const char*, std::uint32_t>> {};

TEST_P(BtioOf, TilesTheArrayAndIsTheOracles) {
  const auto [name, request, ranks] = GetParam();
  const Described btio(
      R"("name": "btio", "dumps": 2, "class": ")" + std::string(name) + R"(", "request": ")" + request + "\"", ranks);
  std::vector<char> touched(btio.made->file_size(ranks));
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    for (Number k = 0; k < btio.made->requests({rank, ranks}, Direction::write); ++k) {
      const Extents extents = btio.extents({rank, ranks}, k);
      ASSERT_EQ(extents, btio.formula({rank, ranks}, k)) << "rank " << rank << " request " << k;
      for (const Extent& extent : extents)
        for (Number i = 0; i < extent.length; ++i) ASSERT_EQ(touched.at(extent.file_offset + i)++, 0);
    }
  EXPECT_EQ(std::count(touched.begin(), touched.end(), 1), static_cast<std::ptrdiff_t>(touched.size()));
}

INSTANTIATE_TEST_SUITE_P(ClassesAndRanks, BtioOf,
                         testing::Combine(testing::Values("S", "W"), testing::Values("dump", "cell"),
                                          testing::Values(1U, 4U, 9U, 16U)),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param)) + "_" + std::get<1>(test.param) + "_" +
                                  std::to_string(std::get<2>(test.param));
                         });

// NPB gives the sizes of class A: 64^3 points of 40 bytes, in 4 ranks cells of 32^3, rows of 32 points.
TEST(Btio, ClassAIsWhatNpbSays) {
  const Described btio(R"("name": "btio")", 4);
  EXPECT_EQ(btio.made->file_size(4), Number{419'430'400});
  EXPECT_EQ(btio.made->requests({0, 4}, Direction::write), 40U);
  EXPECT_EQ(btio.made->extents({0, 4}, 0), 2048U);
  EXPECT_EQ(btio.made->request_bytes(4), Number{2 * 32 * 32 * 32 * 40});
  EXPECT_EQ(btio.extents({0, 4}, 0)[0], (Extent{0, (2 * 36 * 36 + 2 * 36 + 2) * 40, 32 * 40}));
}

// Subarray: MPI takes the same block out of arrays of indices, and says which ones it has taken.

std::vector<int> taken_by_mpi(const std::vector<int>& sizes, const std::vector<int>& parts,
                              const std::vector<int>& starts) {
  std::vector<int> indices(
      static_cast<std::size_t>(std::accumulate(sizes.begin(), sizes.end(), 1, std::multiplies<>())));
  std::iota(indices.begin(), indices.end(), 0);
  MPI_Datatype block{};
  MPI_Type_create_subarray(static_cast<int>(sizes.size()), sizes.data(), parts.data(), starts.data(), MPI_ORDER_C,
                           MPI_INT, &block);
  MPI_Type_commit(&block);
  int bytes = 0, position = 0;
  MPI_Pack_size(1, block, MPI_COMM_SELF, &bytes);
  std::vector<int> taken(static_cast<std::size_t>(bytes) / sizeof(int));
  MPI_Pack(indices.data(), 1, block, taken.data(), bytes, &position, MPI_COMM_SELF);
  MPI_Type_free(&block);
  taken.resize(static_cast<std::size_t>(position) / sizeof(int));
  return taken;
}

TEST(Subarray, IsWhatMpiTakes) {
  need_mpi();
  std::mt19937_64 random(4);
  const auto up_to = [&](int most) { return 1 + static_cast<int>(random() % static_cast<unsigned>(most)); };
  for (int round = 0; round < 300; ++round) {
    const int dimensions = up_to(4), halo = static_cast<int>(random() % 3), element = 4;
    std::vector<int> dims, grid, local, starts, memory_sizes, memory_starts;
    int ranks = 1;
    for (int d = 0; d < dimensions; ++d) {
      grid.push_back(up_to(3));
      dims.push_back(grid.back() + static_cast<int>(random() % 7));
      ranks *= grid.back();
    }
    const int rank = static_cast<int>(random() % static_cast<unsigned>(ranks));
    int rest = rank, ranks_above = ranks;
    for (std::size_t d = 0; d < dims.size(); ++d) {  // as MPI_Cart_coords numbers the ranks
      ranks_above /= grid[d];
      const int at = rest / ranks_above, whole = dims[d] / grid[d], longer = dims[d] % grid[d];
      rest %= ranks_above;
      local.push_back(whole + (at < longer ? 1 : 0));
      starts.push_back(at * whole + std::min(at, longer));
      memory_sizes.push_back(local.back() + 2 * halo);
      memory_starts.push_back(halo);
    }
    const Described subarray(R"("name": "subarray", "memory": "in-place", "count": 2, "dims": )" + list_text(dims) +
                                 ", \"grid\": " + list_text(grid) + ", \"halo\": " + std::to_string(halo),
                             static_cast<std::uint32_t>(ranks));
    const Place place{static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(ranks)};
    const std::vector<int> in_file = taken_by_mpi(dims, local, starts);
    const std::vector<int> in_memory = taken_by_mpi(memory_sizes, local, memory_starts);
    std::vector<int> file_elements, memory_elements;
    for (const Extent& extent : subarray.extents(place, 0))
      for (Number i = 0; i < extent.length; i += element) {
        file_elements.push_back(static_cast<int>((extent.file_offset + i) / element));
        memory_elements.push_back(static_cast<int>((extent.memory_offset + i) / element));
      }
    ASSERT_EQ(file_elements, in_file) << list_text(dims) << " over " << list_text(grid) << " rank " << rank;
    ASSERT_EQ(memory_elements, in_memory) << list_text(dims) << " over " << list_text(grid) << " rank " << rank;
  }
}

TEST(Subarray, OfTheSlidesHas1024Rows) {
  const Described subarray(R"("name": "subarray")", 4);
  const Extents extents = subarray.extents({3, 4}, 0);
  ASSERT_EQ(extents.size(), 1024U);
  EXPECT_EQ(extents[0], (Extent{(1024 * 2048 + 1024) * 4, 0, 4096}));
  EXPECT_EQ(extents[1], (Extent{(1025 * 2048 + 1024) * 4, 4096, 4096}));
  EXPECT_EQ(subarray.made->alignment(4), 4096U);
}

TEST(Subarray, OfWholeRowsIsOneExtent) {
  const Described subarray(R"("name": "subarray", "dims": [8, 6, 5], "grid": [4, 1, 1])", 4);
  EXPECT_EQ(subarray.extents({1, 4}, 0), (Extents{{2 * 30 * 4, 0, 2 * 30 * 4}}));
}

// FLASH with its own sizes: 80 blocks of 8^3 cells within 16^3, 24 variables of 8 bytes.
TEST(Flash, IsTheLoopNestOfTheCheckpoint) {
  const Described flash(R"("name": "flash")", 3);
  EXPECT_EQ(flash.made->memory_bytes({0, 3}), Number{80} * 16 * 16 * 16 * 24 * 8);
  EXPECT_EQ(flash.made->file_size(3), Number{3} * 80 * 8 * 8 * 8 * 24 * 8);
  for (const Number variable : {0, 1, 23})
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      const Extents extents = flash.extents({rank, 3}, variable);
      ASSERT_EQ(extents.size(), Number{80 * 512});
      ASSERT_EQ(extents, flash.formula({rank, 3}, variable));
    }
}

TEST(Vector, HasTheFourCombinationsOfContiguity) {
  const auto extents = [](const std::string& gaps, Place place) {
    return Described(R"("name": "vector", "pieces": 3, "piece": 4, "count": 2)" + gaps, 2).extents(place, 1);
  };
  EXPECT_EQ(extents("", {1, 2}), (Extents{{28, 0, 4}, {36, 4, 4}, {44, 8, 4}}));
  EXPECT_EQ(extents(R"(, "memory_gap": 1)", {1, 2}), (Extents{{28, 0, 4}, {36, 5, 4}, {44, 10, 4}}));
  EXPECT_EQ(extents(R"(, "file_gap": 0)", {1, 2}), (Extents{{36, 0, 12}}));
  EXPECT_EQ(extents(R"(, "file_gap": 0, "memory_gap": 1)", {1, 2}), (Extents{{36, 0, 4}, {40, 5, 4}, {44, 10, 4}}));
}

TEST(Vector, LeavesHolesInAWideGapAndGroupsRanksInANarrowOne) {
  const Described wide(R"("name": "vector", "pieces": 2, "piece": 4, "file_gap": 7)", 2);
  EXPECT_EQ(wide.extents({1, 2}, 0), (Extents{{4, 0, 4}, {15, 4, 4}}));
  EXPECT_EQ(wide.made->file_size(2), 19U);
  const Described narrow(R"("name": "vector", "pieces": 2, "piece": 4, "file_gap": 4)", 3);
  EXPECT_EQ(narrow.extents({1, 3}, 0), (Extents{{4, 0, 4}, {12, 4, 4}}));
  EXPECT_EQ(narrow.extents({2, 3}, 0), (Extents{{16, 0, 4}, {24, 4, 4}}));
}

TEST(Vector, CoversTheFileWithTheGapThatIsItsDefault) {
  for (std::uint32_t ranks = 1; ranks <= 5; ++ranks) {
    const Described vector(R"("name": "vector", "pieces": 3, "piece": 5, "count": 4)", ranks);
    std::vector<int> touched(vector.made->file_size(ranks));
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      for (Number k = 0; k < 4; ++k)
        for (const Extent& extent : vector.extents({rank, ranks}, k))
          for (Number i = 0; i < extent.length; ++i) ++touched.at(extent.file_offset + i);
    EXPECT_EQ(touched, std::vector<int>(touched.size(), 1));
  }
}

TEST(Tiled, NeighboursShareTheirOverlap) {
  const Described tiled(
      R"("name": "tiled", "tiles_x": 2, "tiles_y": 2, "tile_x": 3, "tile_y": 2, "overlap_x": 1, "element": 1)", 4);
  EXPECT_EQ(tiled.made->file_size(4), 20U);  // 5 by 4
  EXPECT_EQ(tiled.extents({0, 4}, 0), (Extents{{0, 0, 3}, {5, 3, 3}}));
  EXPECT_EQ(tiled.extents({3, 4}, 0), (Extents{{12, 0, 3}, {17, 3, 3}}));
  EXPECT_FALSE(tiled.made->disjoint(4));
}

TEST(UnstructuredMesh, DealsRunsOfEveryLengthUpToTheLongest) {
  const std::uint32_t ranks = 5;
  for (const Number run : {1, 2, 5, 8}) {
    const Described mesh(
        R"("name": "unstructured-mesh", "vertices": 100003, "values_per_vertex": 1, "element": 1, "run": )" +
            std::to_string(run),
        ranks);
    std::vector<int> of_length(run + 1);
    std::vector<char> touched(100003);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      EXPECT_NEAR(static_cast<double>(mesh.made->bytes({rank, ranks}, Direction::read)), 100003.0 / ranks,
                  static_cast<double>(run + 1));
      for (const Extent& extent : mesh.extents({rank, ranks}, 0)) {
        ++of_length.at(extent.length);
        for (Number i = 0; i < extent.length; ++i) ASSERT_EQ(touched.at(extent.file_offset + i)++, 0);
      }
    }
    EXPECT_EQ(std::count(touched.begin(), touched.end(), 1), 100003);
    for (Number length = 1; length <= run; ++length) EXPECT_GT(of_length[length], 500) << length << " of " << run;
  }
}

TEST(RandomStrided, TakesEverySlotAboutEquallyOften) {
  const std::uint32_t ranks = 5;
  const Described pattern(R"("name": "random-strided", "transfer": 1, "count": 10000)", ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    std::vector<int> slots(ranks);
    int forward = 0;
    Number last = 0;
    for (Number k = 0; k < 10000; ++k) {
      const Number offset = pattern.extents({rank, ranks}, k)[0].file_offset;
      ++slots[offset % ranks];
      forward += offset > last ? 1 : 0;
      last = offset;
    }
    for (const int count : slots) EXPECT_NEAR(count, 2000, 250);
    EXPECT_NEAR(forward, 5000, 300);
  }
}

TEST(NestedStrided, KnowsWhenItsStridesOverlap) {
  const auto disjoint = [](const std::string& levels) {
    return Described(R"("name": "nested-strided", "transfer": 4, "levels": )" + levels, 2).made->disjoint(2);
  };
  EXPECT_TRUE(disjoint("[3, 5]"));
  EXPECT_TRUE(disjoint("[[3, 100], [5, 16]]"));
  EXPECT_TRUE(disjoint("[[2, 8], [4, 16]]"));
  EXPECT_FALSE(disjoint("[[3, 100], [5, 4]]"));
  EXPECT_FALSE(disjoint("[[3, 32], [5, 16]]"));
}

}  // namespace
}  // namespace strider
