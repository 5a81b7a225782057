// What must hold for every pattern in the build list, whatever its parameters are called: small parameter sets one by
// one, larger ones by chance.
#include "patterns/pattern.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "foundation/error.hpp"
#include "patterns/formulas.hpp"
#include "patterns/settings.hpp"

namespace strider {
namespace {

constexpr std::uint64_t few_bytes[] = {1, 2, 3, 5, 8, 24}, few_counts[] = {1, 2, 5};
constexpr std::uint64_t more_bytes[] = {1, 2, 3, 4, 7, 8, 12, 16, 31, 32, 100, 256, 500, 1000},
                        more_counts[] = {1, 2, 3, 4, 7, 8, 13};
constexpr std::uint64_t many_bytes[] = {1000, 4096, 47008, 1 << 20, 8192000, 780171000, std::uint64_t{1} << 34},
                        many_counts[] = {1, 3, 1000, 65536, 1000003};
constexpr Choices small{few_bytes, few_counts}, medium{more_bytes, more_counts}, large{many_bytes, many_counts};
constexpr Direction directions[] = {Direction::write, Direction::read};
/// Random settings of a pattern that a test tries: fewer under sanitizers, which take ten times as long.
const int draws = std::getenv("STRIDER_TEST_DRAWS") ? std::atoi(std::getenv("STRIDER_TEST_DRAWS")) : 2000;
constexpr std::uint64_t small_file = 100'000;  // where every byte is looked at

using Extents = std::vector<Extent>;

Extents extents_of(const Pattern& pattern, Place place, std::uint64_t request) {
  Extents extents(pattern.extents(place, request));
  EXPECT_EQ(pattern.fill_request(place, request, extents), extents.size());
  return extents;
}

/// The extents of all requests of a rank.
std::vector<Extents> all_requests(const Pattern& pattern, Place place, Direction direction) {
  std::vector<std::uint64_t> numbers(pattern.requests(place, direction));
  std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
  std::vector<Extents> requests(numbers.size(), Extents(1));
  if (pattern.contiguous()) {
    Extents extents(numbers.size());
    pattern.fill(place, numbers, extents);
    for (const std::uint64_t k : numbers) requests[k][0] = extents[k];
  } else {
    for (const std::uint64_t k : numbers) requests[k] = extents_of(pattern, place, k);
  }
  return requests;
}

/// How often each byte of the file is touched by all ranks.
std::vector<int> touches(const Pattern& pattern, std::uint32_t ranks, Direction direction) {
  std::vector<int> count(pattern.file_size(ranks));
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    for (const Extents& request : all_requests(pattern, {rank, ranks}, direction))
      for (const Extent& extent : request)
        for (std::uint64_t i = 0; i < extent.length; ++i) ++count.at(extent.file_offset + i);
  return count;
}

void expect_inside(const Pattern& pattern, Place place, const Extent& extent) {
  ASSERT_GT(extent.length, 0U);
  ASSERT_LE(extent.length, pattern.file_size(place.ranks));
  ASSERT_LE(extent.file_offset, pattern.file_size(place.ranks) - extent.length);
  ASSERT_LE(extent.memory_offset + extent.length, pattern.memory_bytes(place));
}

/// In increasing file offset; neither in the file nor in memory is a byte part of two extents.
void expect_apart(Extents request) {
  for (std::size_t i = 1; i < request.size(); ++i)
    ASSERT_GE(request[i].file_offset, request[i - 1].file_offset + request[i - 1].length) << "extent " << i;
  std::sort(request.begin(), request.end(),
            [](const Extent& a, const Extent& b) { return a.memory_offset < b.memory_offset; });
  for (std::size_t i = 1; i < request.size(); ++i)
    ASSERT_GE(request[i].memory_offset, request[i - 1].memory_offset + request[i - 1].length) << "extent " << i;
}

void expect_consistent(const Pattern& pattern, Place place, Direction direction) {
  const std::vector<Extents> requests = all_requests(pattern, place, direction);
  const std::uint64_t alignment = pattern.alignment(place.ranks);
  ASSERT_EQ(alignment & (alignment - 1), 0U) << "not a power of two";
  std::uint64_t bytes = 0;
  for (std::uint64_t k = 0; k < requests.size(); ++k) {
    SCOPED_TRACE("request " + std::to_string(k));
    ASSERT_LE(requests[k].size(), pattern.most_extents(place));
    ASSERT_LE(bytes_of(requests[k]), pattern.request_bytes(place.ranks));
    ASSERT_NO_FATAL_FAILURE(expect_apart(requests[k]));
    for (const Extent& extent : requests[k]) {
      ASSERT_NO_FATAL_FAILURE(expect_inside(pattern, place, extent));
      ASSERT_EQ((extent.file_offset | extent.memory_offset | extent.length) % alignment, 0U);
    }
    ASSERT_EQ(extents_of(pattern, place, k), requests[k]) << "alone it is another";
    bytes += bytes_of(requests[k]);
  }
  ASSERT_EQ(pattern.bytes(place, direction), bytes);
}

/// Where a pattern says that its requests are the first one moved along the file, they are.
void expect_shifted(const Pattern& pattern, Place place, Direction direction) {
  const std::uint64_t shift = pattern.file_shift(place);
  const std::vector<Extents> requests = all_requests(pattern, place, direction);
  if (shift == 0 || requests.empty()) return;
  const Extents& first = requests.front();
  ASSERT_GE(shift, first.back().file_offset + first.back().length - first.front().file_offset);
  for (std::uint64_t k = 0; k < requests.size(); ++k) {
    ASSERT_EQ(requests[k].size(), first.size());
    for (std::size_t i = 0; i < first.size(); ++i) {
      ASSERT_EQ(requests[k][i].file_offset, first[i].file_offset + k * shift);
      ASSERT_EQ(requests[k][i].length, first[i].length);
    }
  }
}

void expect_formula(const Formula& formula, const Settings& settings, const Pattern& pattern, Place place,
                    Direction direction) {
  const std::uint64_t requests = pattern.requests(place, direction);
  ASSERT_EQ(requests, formula.requests(settings, place, direction));
  const std::uint64_t step = requests / (pattern.contiguous() ? 50 : 3) + 1;
  for (std::uint64_t k = 0; k < requests; k += step)
    ASSERT_EQ(extents_of(pattern, place, k), formula.extents(settings, place, k)) << "request " << k;
}

class EveryPattern : public testing::TestWithParam<const PatternEntry*> {
 protected:
  const PatternEntry& entry() const { return *GetParam(); }

  using Expect = std::function<void(const Settings&, const Pattern&, std::uint32_t ranks)>;

  /// Calls `expect` with the pattern where it takes the parameters and the file is not too large, and says for which
  /// ones it fails; false where it was not called.
  bool try_out(const Settings& settings, std::uint32_t ranks, std::uint64_t largest, const Expect& expect) const {
    if (testing::Test::HasFatalFailure()) return false;
    const auto pattern = make_if_valid(entry(), settings, ranks);
    if (pattern == nullptr || pattern->file_size(ranks) > largest) return false;
    SCOPED_TRACE(describe(settings) + "ranks=" + std::to_string(ranks));
    expect(settings, *pattern, ranks);
    return true;
  }
  /// Tries out parameter sets by chance until enough of them were taken.
  void for_draws(const Choices& choices, Optional optional, std::uint32_t most_ranks, std::uint64_t largest,
                 const Expect& expect) const {
    std::mt19937_64 random(20021121);
    int taken = 0;
    for (int i = 0; i < 100 * draws && taken < draws; ++i) {
      const Settings settings = draw(entry(), choices, optional, random);
      const auto limit = static_cast<std::uint32_t>(1 + random() % most_ranks);
      taken += try_out(settings, draw_ranks(entry(), limit, random), largest, expect) ? 1 : 0;
    }
    EXPECT_TRUE(taken == draws || HasFatalFailure()) << "only " << taken << " parameter sets were taken";
  }
  /// Small files, whose every byte is looked at: small parameter sets one by one, and larger ones by chance.
  void for_small_files(const Expect& expect) const {
    for (std::uint32_t ranks = 1; ranks <= 4; ++ranks)
      each_combination(entry(), small, [&](const Settings& settings) { try_out(settings, ranks, small_file, expect); });
    for_draws(medium, Optional::drawn, 9, small_file, expect);
  }
};

TEST_P(EveryPattern, StaysInsideTheFileAndCountsItsBytes) {
  for_small_files([](const Settings&, const Pattern& pattern, std::uint32_t ranks) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      for (const Direction direction : directions)
        ASSERT_NO_FATAL_FAILURE(expect_consistent(pattern, {rank, ranks}, direction)) << "rank " << rank;
  });
}

TEST_P(EveryPattern, MovesItsRequestsAsFarAsItSays) {
  for_small_files([](const Settings&, const Pattern& pattern, std::uint32_t ranks) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      ASSERT_NO_FATAL_FAILURE(expect_shifted(pattern, {rank, ranks}, Direction::read)) << "rank " << rank;
  });
}

TEST_P(EveryPattern, IsWhatItsFormulaSays) {
  const Formula* formula = find_formula(entry().name);
  ASSERT_NE(formula, nullptr) << "write the formula of " << entry().name << " into patterns/formulas.cpp";
  for_small_files([&](const Settings& settings, const Pattern& pattern, std::uint32_t ranks) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      for (const Direction direction : directions)
        ASSERT_NO_FATAL_FAILURE(expect_formula(*formula, settings, pattern, {rank, ranks}, direction))
            << "rank " << rank;
  });
}

TEST_P(EveryPattern, TouchesNoByteTwiceWhereItSaysSo) {
  for_small_files([](const Settings&, const Pattern& pattern, std::uint32_t ranks) {
    if (!pattern.disjoint(ranks)) return;
    for (const int count : touches(pattern, ranks, Direction::write)) ASSERT_LE(count, 1);
  });
}

TEST_P(EveryPattern, CoversEachByteOnceWhereItTiles) {
  if (!entry().tiles) return;
  for_draws(medium, Optional::absent, 9, small_file, [](const Settings&, const Pattern& pattern, std::uint32_t ranks) {
    for (const Direction direction : directions)
      for (const int count : touches(pattern, ranks, direction)) ASSERT_EQ(count, 1);
  });
}

TEST_P(EveryPattern, LargeFilesDoNotOverflow) {
  std::mt19937_64 random(2);
  for_draws(large, Optional::drawn, 100'000, ~std::uint64_t{0},
            [&](const Settings&, const Pattern& pattern, std::uint32_t ranks) {
              const Place place{static_cast<std::uint32_t>(random() % ranks), ranks};
              for (const Direction direction : directions) {
                const std::uint64_t requests = pattern.requests(place, direction);
                if (requests == 0 || pattern.most_extents(place) > 1000) continue;
                for (const std::uint64_t k : {std::uint64_t{0}, random() % requests, requests - 1})
                  for (const Extent& extent : extents_of(pattern, place, k))
                    ASSERT_NO_FATAL_FAILURE(expect_inside(pattern, place, extent)) << "request " << k;
              }
            });
}

TEST_P(EveryPattern, RefusesFilesThatNoOffsetReaches) {
  const std::uint64_t huge_bytes[] = {std::uint64_t{1} << 62, std::uint64_t{1} << 63, ~std::uint64_t{0}};
  const std::uint64_t huge_counts[] = {1, std::uint64_t{1} << 20, ~std::uint64_t{0}};
  each_combination(entry(), {huge_bytes, huge_counts}, [&](const Settings& settings) {
    for (const std::uint32_t ranks : {1U, 2U, 3U, 1'000'000U}) {
      const auto pattern = make_if_valid(entry(), settings, ranks);
      if (pattern != nullptr) {
        EXPECT_LT(pattern->file_size(ranks), std::uint64_t{1} << 63) << describe(settings) << "ranks=" << ranks;
      }
    }
  });
}

TEST_P(EveryPattern, FollowsTheSeedAlone) {
  for_small_files([&](const Settings& settings, const Pattern& pattern, std::uint32_t ranks) {
    const auto again = entry().make(settings);
    ASSERT_EQ(all_requests(pattern, {ranks - 1, ranks}, Direction::read),
              all_requests(*again, {ranks - 1, ranks}, Direction::read));
  });
}

TEST_P(EveryPattern, DescribesItself) {
  EXPECT_NE(entry().doc, "");
  EXPECT_NE(entry().formula, "");
  EXPECT_NE(entry().source, "");
  EXPECT_EQ(find_pattern(entry().name), &entry());
  for (const Parameter& parameter : entry().parameters) EXPECT_NE(parameter.doc, "") << parameter.name;
}

std::string name_of_test(const testing::TestParamInfo<const PatternEntry*>& test) {
  std::string name(test.param->name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Registered, EveryPattern, testing::ValuesIn(all_patterns().begin(), all_patterns().end()),
                         name_of_test);

TEST(Pattern, OfAnUnknownNameThereIsNone) { EXPECT_EQ(find_pattern("stided"), nullptr); }

std::string key_refused(std::string_view name, const Settings& settings, std::uint32_t ranks) {
  try {
    find_pattern(name)->make(settings)->check(ranks);
  } catch (const InputError& error) {
    EXPECT_NE(error.remedy(), "");
    return error.key();
  }
  return "nothing";
}

Settings settings_of(std::initializer_list<std::pair<std::string, Value>> values) {
  Settings settings;
  settings.set("seed", std::uint64_t{1});
  for (const auto& [name, value] : values) settings.set(name, value);
  return settings;
}
using Number = std::uint64_t;

TEST(Pattern, BlamesTheKeyThatDoesNotFit) {
  EXPECT_EQ(key_refused("segmented",
                        settings_of({{"transfer", Number{8}}, {"block", Number{4}}, {"segments", Number{1}}}), 1),
            "transfer");
  EXPECT_EQ(
      key_refused("sequential", settings_of({{"transfer", Number{8}}, {"size", Number{4}}, {"overlap", false}}), 1),
      "transfer");
  EXPECT_EQ(
      key_refused("random", settings_of({{"transfer", Number{8}}, {"size", Number{4}}, {"replacement", false}}), 1),
      "transfer");
  EXPECT_EQ(
      key_refused("random", settings_of({{"transfer", Number{8}}, {"size", Number{64}}, {"replacement", true}}), 1),
      "count");
  EXPECT_EQ(
      key_refused("random", settings_of({{"transfer", Number{8}}, {"size", Number{64}}, {"replacement", false}}), 9),
      "size");
  EXPECT_EQ(
      key_refused(
          "random",
          settings_of({{"transfer", Number{8}}, {"size", Number{64}}, {"count", Number{3}}, {"replacement", false}}),
          3),
      "count");
  EXPECT_EQ(key_refused("strided", settings_of({{"transfer", Number{1} << 40}, {"count", Number{1} << 22}}), 2),
            "count");
}

TEST(Pattern, AcceptsTheLargestThatFitsAndRefusesTheNext) {
  const auto random = [](Number count) {
    return settings_of({{"transfer", Number{8}}, {"size", Number{64}}, {"count", count}, {"replacement", false}});
  };
  EXPECT_EQ(key_refused("random", random(4), 2), "nothing");
  EXPECT_EQ(key_refused("random", random(5), 2), "count");

  // Strides in bytes do not grow with the number of ranks.
  const auto nested = [](Number stride) {
    return settings_of({{"transfer", Number{8}}, {"levels", Numbers{3, stride}}});
  };
  EXPECT_EQ(key_refused("nested-strided", nested(Number{1} << 61), 2), "nothing");

  // A row of a plane is an extent: rows in y times planes in z.
  const auto btio = [](Number planes) {
    return settings_of({{"grid", Numbers{1, Number{1} << 20, planes}},
                        {"dumps", Number{1}},
                        {"class", std::string("A")},
                        {"request", std::string("dump")}});
  };
  EXPECT_EQ(key_refused("btio", btio(64), 1), "nothing");
  EXPECT_EQ(key_refused("btio", btio(65), 1), "grid");
}

TEST(Pattern, RandomWithReplacementSpreadsOverTheWholeFile) {
  const Settings settings = settings_of({{"transfer", Number{1000}},
                                         {"size", Number{10'000'000}},
                                         {"count", Number{20'000}},
                                         {"align", Number{1}},
                                         {"replacement", true}});
  const auto pattern = find_pattern("random")->make(settings);
  std::vector<int> tenths(10);
  for (const Extents& request : all_requests(*pattern, {0, 2}, Direction::read))
    ++tenths.at(request[0].file_offset / 1'000'000);
  for (const int count : tenths) EXPECT_NEAR(count, 2000, 250);
  EXPECT_NE(extents_of(*pattern, {0, 2}, 0), extents_of(*pattern, {1, 2}, 0)) << "each rank has a stream of its own";
}

TEST(CommonAlignment, IsTheLargestPowerOfTwoThatDividesAll) {
  EXPECT_EQ(common_alignment({4096, 512}), 512U);
  EXPECT_EQ(common_alignment({47008}), 32U);
  EXPECT_EQ(common_alignment({0, 24}), 8U);
  EXPECT_EQ(common_alignment({3, 1024}), 1U);
}

TEST(CheckedProduct, RefusesWhatNoFileOffsetHolds) {
  EXPECT_EQ(checked_product(1 << 20, 1 << 20, "size"), std::uint64_t{1} << 40);
  EXPECT_THROW(checked_product(std::uint64_t{1} << 32, std::uint64_t{1} << 31, "size"), InputError);
  EXPECT_THROW(checked_product(std::uint64_t{1} << 40, std::uint64_t{1} << 40, "size"), InputError);
}

}  // namespace
}  // namespace strider
