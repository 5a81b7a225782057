// Which bytes of a file are written, against a plain map of all its bytes, for every pattern.
#include "plan/coverage.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "patterns/settings.hpp"

namespace strider {
namespace {

constexpr std::uint64_t some_bytes[] = {1, 2, 3, 4, 7, 8, 12, 16, 31, 32, 100, 256, 500, 1000},
                        some_counts[] = {1, 2, 3, 4, 7, 8, 13};
constexpr Choices choices{some_bytes, some_counts};
constexpr int draws = 300;
constexpr std::uint64_t small_file = 100'000;

/// Of each byte of the file whether it is touched: one by one, from each request.
class PlainMap {
 public:
  explicit PlainMap(std::uint64_t bytes) : bytes_(bytes) {}
  void add(const Pattern& pattern, Place place, const IssuedRequests& issued) {
    for (std::uint64_t index = 0; index < issued.count; ++index) {
      if (issued.draw != nullptr && issued.draw->reads(index)) continue;
      std::uint64_t number = 0;
      issued.order.fill(index, {&number, 1});
      std::vector<Extent> extents(pattern.extents(place, number));
      for (const Extent& extent : std::span(extents).first(pattern.fill_request(place, number, extents)))
        for (std::uint64_t i = 0; i < extent.length; ++i) bytes_.at(extent.file_offset + i) = true;
    }
  }
  bool has(std::uint64_t offset) const { return bytes_[offset]; }
  std::uint64_t run_end(std::uint64_t offset, std::uint64_t limit) const {
    std::uint64_t end = offset;
    while (end < limit && bytes_[end] == bytes_[offset]) ++end;
    return end;
  }

 private:
  std::vector<bool> bytes_;
};

/// Both have the same runs in the part.
void expect_same(const ByteSet& set, const PlainMap& map) {
  for (std::uint64_t offset = set.begin(); offset < set.end();) {
    ASSERT_EQ(set.has(offset), map.has(offset)) << "byte " << offset;
    ASSERT_EQ(set.run_end(offset, set.end()), map.run_end(offset, set.end())) << "from byte " << offset;
    offset = set.run_end(offset, set.end());
  }
}

struct RankRequests {
  Order order;
  std::uint64_t count;
  std::optional<Draw> draw;

  IssuedRequests issued() const { return {order, count, draw ? &*draw : nullptr}; }
};
std::vector<RankRequests> draw_requests(const Pattern& pattern, std::uint32_t ranks, std::mt19937_64& random) {
  constexpr OrderKind kinds[] = {OrderKind::forward, OrderKind::backward, OrderKind::random};
  const OrderKind kind = kinds[random() % 3];
  const bool all = random() % 2 == 0;
  std::optional<Draw> draw;
  if (random() % 3 == 0) draw.emplace(0.4, random());
  std::vector<RankRequests> of_ranks;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::uint64_t requests = pattern.requests({rank, ranks}, Direction::write);
    of_ranks.push_back({Order(kind, requests, rank), all ? requests : random() % (requests + 1), draw});
  }
  return of_ranks;
}

/// Looks at the whole file in parts of few bits, so that they begin and end anywhere.
void expect_coverage(const Pattern& pattern, std::uint32_t ranks, std::mt19937_64& random) {
  const std::uint64_t size = pattern.file_size(ranks);
  const std::vector<RankRequests> of_ranks = draw_requests(pattern, ranks, random);
  PlainMap map(size);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) map.add(pattern, {rank, ranks}, of_ranks[rank].issued());
  ByteSet set(unit_of(pattern, ranks), std::max<std::uint64_t>(100, size / 5));
  for (std::uint64_t begin = 0; begin < size; begin = set.end()) {
    set.reset(begin, size);
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      ASSERT_TRUE(add_written(pattern, {rank, ranks}, of_ranks[rank].issued(), [] { return true; }, set));
    ASSERT_NO_FATAL_FAILURE(expect_same(set, map));
  }
}

class CoverageOf : public testing::TestWithParam<const PatternEntry*> {};

TEST_P(CoverageOf, EveryRankAndOrderIsThatOfAPlainMap) {
  std::mt19937_64 random(1);
  int looked_at = 0;
  for (int i = 0; i < draws; ++i) {
    const Settings settings = draw(*GetParam(), choices, Optional::drawn, random);
    const std::uint32_t ranks = draw_ranks(*GetParam(), 9, random);
    const auto pattern = make_if_valid(*GetParam(), settings, ranks);
    if (pattern == nullptr || pattern->file_size(ranks) > small_file) continue;
    ++looked_at;
    ASSERT_NO_FATAL_FAILURE(expect_coverage(*pattern, ranks, random)) << ranks << " ranks, " << describe(settings);
  }
  EXPECT_GT(looked_at, 0);
}

INSTANTIATE_TEST_SUITE_P(Registered, CoverageOf, testing::ValuesIn(all_patterns().begin(), all_patterns().end()),
                         [](const auto& test) {
                           std::string name(test.param->name);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(Coverage, EndsEarlyWhereAsked) {
  std::mt19937_64 random(1);
  const PatternEntry& entry = *find_pattern("segmented");
  const auto pattern = make_if_valid(entry, draw(entry, choices, Optional::drawn, random), 1);
  ASSERT_NE(pattern, nullptr);
  ByteSet set(1, 1000);
  set.reset(0, 1000);
  const std::uint64_t requests = pattern->requests({0, 1}, Direction::write);
  const Order order(OrderKind::forward, requests, 1);
  EXPECT_FALSE(add_written(*pattern, {0, 1}, {order, requests}, [] { return false; }, set));
}

TEST(Coverage, KnowsTheFewRequestsThatTouchAPartWhereTheyAreRegular) {
  Settings settings;
  for (const auto& [name, value] : {std::pair{"pieces", 4}, {"piece", 8}, {"memory_gap", 0}, {"count", 1'000'000'000}})
    settings.set(name, std::uint64_t(value));
  settings.set("file_gap", std::uint64_t{24});
  const auto pattern = find_pattern("vector")->make(settings);
  ByteSet set(8, 1 << 10);
  const std::uint64_t begin = 400'000'000ULL * 128;
  set.reset(begin, begin + 4096);
  int questions = 0;
  const Order order(OrderKind::forward, 1'000'000'000, 1);
  ASSERT_TRUE(add_written(*pattern, {0, 1}, {order, 1'000'000'000}, [&] { return ++questions < 10; }, set));
  EXPECT_TRUE(set.has(begin));
  EXPECT_EQ(set.run_end(begin, set.end()), begin + 8);
  EXPECT_EQ(set.run_end(begin + 8, set.end()), begin + 32);
}

}  // namespace
}  // namespace strider
