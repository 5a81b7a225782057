// The same seed gives the same extents on any machine and in any later version: literal numbers.
#include <gtest/gtest.h>

#include <vector>

#include "foundation/random.hpp"
#include "patterns/order.hpp"
#include "patterns/pattern.hpp"

namespace strider {
namespace {

Numbers offsets(std::string_view name, std::initializer_list<std::pair<const char*, Value>> values, Place place) {
  Settings settings;
  for (const auto& [key, value] : values) settings.set(key, value);
  const auto pattern = find_pattern(name)->make(settings);
  Numbers numbers;
  for (std::uint64_t k = 0; k < 6; ++k) {
    Extent extent;
    pattern->fill(place, {&k, 1}, {&extent, 1});
    numbers.push_back(extent.file_offset);
  }
  return numbers;
}
Value number(std::uint64_t value) { return value; }

TEST(Golden, Permutation) {
  Numbers images;
  for (std::uint64_t x = 0; x < 10; ++x) images.push_back(Permutation(10, 1)(x));
  EXPECT_EQ(images, (Numbers{9, 0, 2, 7, 6, 1, 4, 3, 5, 8}));
  images.clear();
  for (std::uint64_t x = 0; x < 4; ++x) images.push_back(Permutation(1'000'003, 20021121)(x));
  EXPECT_EQ(images, (Numbers{949893, 942392, 655867, 382813}));
}

TEST(Golden, RandomOrder) {
  Numbers order(8);
  Order(OrderKind::random, 8, 1).fill(0, order);
  EXPECT_EQ(order, (Numbers{6, 1, 3, 5, 2, 0, 4, 7}));
}

TEST(Golden, RandomWithoutReplacement) {
  const auto pattern = [](Place place) {
    return offsets("random",
                   {{"transfer", number(4096)}, {"size", number(1 << 20)}, {"seed", number(7)}, {"replacement", false}},
                   place);
  };
  EXPECT_EQ(pattern({0, 3}), (Numbers{12288, 610304, 765952, 536576, 823296, 585728}));
  EXPECT_EQ(pattern({2, 3}), (Numbers{413696, 720896, 90112, 770048, 487424, 581632}));
}

// The random seek and read of "Scalable I/O on Clusters" (2002).
TEST(Golden, RandomWithReplacement) {
  const auto pattern = [](Place place) {
    return offsets("random",
                   {{"transfer", number(8'192'000)},
                    {"size", number(780'171'000)},
                    {"count", number(1000)},
                    {"align", number(1)},
                    {"seed", number(1)},
                    {"replacement", true}},
                   place);
  };
  EXPECT_EQ(pattern({0, 2}), (Numbers{681401032, 638704850, 722930232, 618802116, 331836727, 465142320}));
  EXPECT_EQ(pattern({1, 2}), (Numbers{333400608, 111706971, 762100857, 711137223, 487966679, 574353677}));
}

TEST(Golden, Segmented) {
  EXPECT_EQ(
      offsets("segmented",
              {{"transfer", number(4)}, {"block", number(10)}, {"segments", number(2)}, {"seed", number(1)}}, {1, 3}),
      (Numbers{10, 14, 18, 40, 44, 48}));
}

TEST(Golden, Strided) {
  EXPECT_EQ(offsets("strided", {{"transfer", number(4)}, {"count", number(6)}, {"seed", number(1)}}, {1, 3}),
            (Numbers{4, 16, 28, 40, 52, 64}));
}

TEST(Golden, NestedStrided) {
  EXPECT_EQ(offsets("nested-strided", {{"transfer", number(4)}, {"levels", Numbers{2, 0, 3, 0}}}, {1, 2}),
            (Numbers{4, 12, 20, 28, 36, 44}));
  EXPECT_EQ(offsets("nested-strided", {{"transfer", number(4)}, {"levels", Numbers{2, 100, 3, 16}}}, {1, 2}),
            (Numbers{4, 20, 36, 104, 120, 136}));
}

TEST(Golden, RandomStrided) {
  const auto pattern = [](Place place) {
    return offsets("random-strided", {{"transfer", number(1)}, {"count", number(6)}, {"seed", number(7)}}, place);
  };
  EXPECT_EQ(pattern({0, 3}), (Numbers{3, 14, 1, 10, 16, 8}));
  EXPECT_EQ(pattern({1, 3}), (Numbers{4, 13, 0, 11, 15, 6}));
  EXPECT_EQ(pattern({2, 3}), (Numbers{5, 12, 2, 9, 17, 7}));
}

TEST(Golden, UnstructuredMesh) {
  Settings settings;
  for (const auto& [key, value] : std::initializer_list<std::pair<const char*, std::uint64_t>>{
           {"vertices", 30}, {"values_per_vertex", 1}, {"element", 1}, {"run", 4}, {"seed", 7}})
    settings.set(key, value);
  const auto pattern = find_pattern("unstructured-mesh")->make(settings);
  const auto runs = [&](Place place) {
    std::vector<Extent> extents(pattern->extents(place, 0));
    pattern->fill_request(place, 0, extents);
    Numbers numbers;  // first, length, first, length, …
    for (const Extent& extent : extents) numbers.insert(numbers.end(), {extent.file_offset, extent.length});
    return numbers;
  };
  EXPECT_EQ(runs({0, 3}), (Numbers{0, 3, 7, 2, 17, 3, 25, 2}));
  EXPECT_EQ(runs({1, 3}), (Numbers{6, 1, 11, 4, 15, 2, 22, 3}));
  EXPECT_EQ(runs({2, 3}), (Numbers{3, 3, 9, 2, 20, 2, 27, 3}));
}

}  // namespace
}  // namespace strider
