#include "phases/write_record.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "patterns/settings.hpp"
#include "plan/plans.hpp"

namespace strider {
namespace {

/// Two ranks, three requests of ten bytes each, in one file of 60 bytes.
class WriteRecordTest : public testing::Test {
 protected:
  Case test = good_case(case_text(R"("clients": 2)", R"("name": "strided", "transfer": 10, "count": 3)"));
  std::unique_ptr<Pattern> pattern = test.pattern->make(test.pattern_settings);
  std::unique_ptr<Interface> interface = test.interface->make(test.interface_settings);
  FileAssignments assignments{test.sharing, 2, {}};
  WriteRecord record{test, *pattern, assignments, *interface};
};

TEST_F(WriteRecordTest, AFileEndsWhereTheLastByteWasWritten) {
  EXPECT_EQ(record.size_of(0).most, 0U);
  record.written(Operation::write, 1, {{2, 30}, {1, 20}});
  EXPECT_EQ(record.size_of(0).least, 30U);
  record.written(Operation::write, 2, {{1, 10}, {1, 20}});
  EXPECT_EQ(record.size_of(0).least, 30U) << "writing less does not cut it";
  EXPECT_EQ(record.size_of(0).most, 30U);
  record.prefilled(3);
  EXPECT_EQ(record.size_of(0).least, 60U);
}

TEST_F(WriteRecordTest, APhaseThatWasCutShortLiesOverTheOneBefore) {
  record.written(Operation::write, 1, {{3, 50}, {3, 60}});
  record.written(Operation::write, 2, {{3, 50}, {2, 40}});
  ASSERT_EQ(record.layers().size(), 2U);
  EXPECT_EQ(record.layers()[0].generation, 2U);
  EXPECT_FALSE(record.layers()[0].whole);
  EXPECT_TRUE(record.layers()[1].whole);
}

TEST_F(WriteRecordTest, ACompletePhaseHidesAllThatWereBefore) {
  record.written(Operation::write, 1, {{3, 50}, {2, 40}});
  record.written(Operation::write, 2, {{3, 50}, {3, 60}});
  ASSERT_EQ(record.layers().size(), 1U);
  EXPECT_EQ(record.layers()[0].generation, 2U);
  EXPECT_TRUE(record.layers()[0].whole);
}

TEST_F(WriteRecordTest, ARuntimeLeavesTheLastTwoPassesOfEachRank) {
  record.written(Operation::write, 1, {{7, 50}, {3, 60}});  // of three requests each: two passes and a third, one pass
  ASSERT_EQ(record.layers().size(), 3U);
  const auto expect_layer = [&](std::size_t i, std::uint64_t pass, std::vector<std::uint64_t> requests) {
    EXPECT_EQ(record.layers()[i].pass, pass);
    EXPECT_EQ(record.layers()[i].requests, requests);
  };
  expect_layer(0, 2, {1, 0});
  expect_layer(1, 1, {3, 0});
  expect_layer(2, 0, {0, 3});
  EXPECT_EQ(record.passes_of(0).last_at(0), 2U);
  EXPECT_EQ(record.passes_of(0).last_at(1), 1U);
  EXPECT_EQ(record.passes_of(1).last_at(2), 0U);
}

TEST_F(WriteRecordTest, AWholePassIsTheWholeFile) {
  record.written(Operation::write, 1, {{6, 50}, {6, 60}});
  ASSERT_EQ(record.layers().size(), 1U);
  EXPECT_EQ(record.layers()[0].pass, 1U);
  EXPECT_TRUE(record.layers()[0].whole);
}

TEST_F(WriteRecordTest, ReadWriteLeavesWhatItReadsAsItWas) {
  record.written(Operation::write, 1, {{3, 50}, {3, 60}});
  EXPECT_FALSE(record.older_data_of(0));
  record.written(Operation::read_write, 2, {{3, 50}, {3, 60}});
  record.written(Operation::read_write, 3, {{3, 50}, {3, 60}});
  ASSERT_TRUE(record.older_data_of(0));
  EXPECT_EQ(record.older_data_of(0)->generation, 1U);
  EXPECT_EQ(record.layers().size(), 3U) << "what read-write has not drawn shows through";
  record.written(Operation::write, 4, {{3, 50}, {3, 60}});
  EXPECT_FALSE(record.older_data_of(0));
  EXPECT_EQ(record.layers().size(), 1U);
}

TEST_F(WriteRecordTest, APreparedFileHasNoPasses) {
  record.written(Operation::write, 1, {{6, 50}, {6, 60}});
  record.prefilled(2);
  EXPECT_FALSE(record.passes_of(0).repeated());
}

constexpr std::uint64_t some_bytes[] = {1, 2, 4, 8, 12, 32, 100}, some_counts[] = {1, 2, 3, 4, 7};
constexpr Choices choices{some_bytes, some_counts};
constexpr std::uint64_t small_file = 100'000;

/// What a byte holds; generation 0: it was never written.
struct Content {
  std::uint64_t generation = 0, pass = 0;
  bool operator==(const Content&) const = default;
};

/// The bytes of one file, painted request by request.
class Picture {
 public:
  Picture(const Pattern& pattern, std::uint32_t ranks) : pattern_(pattern), bytes_(pattern.file_size(ranks)) {}
  void paint(Place place, std::uint64_t number, const Content& content) {
    for (const Extent& extent : extents_of(place, number))
      std::fill_n(bytes_.begin() + static_cast<std::ptrdiff_t>(extent.file_offset), extent.length, content);
  }
  bool is_painted(Place place, std::uint64_t number, const Content& content) const {
    return std::ranges::all_of(extents_of(place, number), [&](const Extent& extent) {
      const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(extent.file_offset);
      return std::all_of(begin, begin + static_cast<std::ptrdiff_t>(extent.length),
                         [&](const Content& byte) { return byte == content; });
    });
  }
  bool operator==(const Picture& other) const { return bytes_ == other.bytes_; }

 private:
  std::vector<Extent> extents_of(Place place, std::uint64_t number) const {
    std::vector<Extent> extents(pattern_.extents(place, number));
    extents.resize(pattern_.fill_request(place, number, extents));
    return extents;
  }
  const Pattern& pattern_;
  std::vector<Content> bytes_;
};

std::uint64_t request_at(const Order& order, std::uint64_t index) {
  std::uint64_t number = 0;
  order.fill(index, {&number, 1});
  return number;
}

class WriteRecordOf : public testing::TestWithParam<const PatternEntry*> {
 protected:
  /// Phases that stop after any number of requests, with as many = 0=per_pass == 0in a pass as every rank has written
  /// before. All but the first write all of their requests or, as read-write, some.
  void expect_truth(const Case& test, const Pattern& pattern, std::mt19937_64& random) {
    const auto interface = test.interface->make(test.interface_settings);
    const FileAssignments assignments(test.sharing, test.clients, {});
    WriteRecord record(test, pattern, assignments, *interface);
    Picture truth(pattern, test.clients);
    std::uint64_t available = WriteRecord::no_limit;
    for (std::uint64_t generation = 1; generation <= 3; ++generation) {
      const bool drawn = generation > 1 && random() % 2 == 0;
      std::vector<WriteRecord::Part> parts;
      std::uint64_t fewest = WriteRecord::no_limit;
      for (std::uint32_t rank = 0; rank < test.clients; ++rank) {
        const Place place{rank, test.clients};
        const Order order = order_of(test, rank, pattern.requests(place, Direction::write));
        const std::uint64_t per_pass = std::min(pattern.requests(place, Direction::write), available);
        const std::uint64_t requests = per_pass == 0 ? 0 : 1 + random() % (4 * per_pass);
        const Draw draw = draw_of(test);
        for (std::uint64_t n = 0; n < requests; ++n)
          if (!drawn || !draw.reads(n % per_pass))
            truth.paint(place, request_at(order, n % per_pass), {generation, n / per_pass});
        if (requests < per_pass) fewest = std::min(fewest, requests);
        parts.push_back({requests, 0});
      }
      record.written(drawn ? Operation::read_write : Operation::write, generation, parts, available);
      available = std::min(available, fewest);
      ASSERT_TRUE(picture_of(test, pattern, record) == truth) << "generation " << generation;
      ASSERT_NO_FATAL_FAILURE(expect_readable(test, pattern, record, {generation, 0}, available, truth));
    }
  }

 private:
  /// As the check of whole files sees it: the newest layer lies over the others.
  static Picture picture_of(const Case& test, const Pattern& pattern, const WriteRecord& record) {
    Picture picture(pattern, test.clients);
    for (auto layer = record.layers().rbegin(); layer != record.layers().rend(); ++layer)
      for (std::uint32_t rank = 0; rank < test.clients; ++rank) {
        const Place place{rank, test.clients};
        const Order order = order_of(test, rank, pattern.requests(place, Direction::write));
        for (std::uint64_t index = 0; index < layer->requests[rank]; ++index)
          if (!layer->drawn || !draw_of(test).reads(index))
            picture.paint(place, request_at(order, index), {layer->generation, layer->pass});
      }
    return picture;
  }
  /// As a phase that reads sees it, index by index.
  static void expect_readable(const Case& test, const Pattern& pattern, const WriteRecord& record, Content content,
                              std::uint64_t available, const Picture& truth) {
    for (std::uint32_t rank = 0; rank < test.clients; ++rank) {
      const Place place{rank, test.clients};
      const std::uint64_t requests = pattern.requests(place, Direction::read);
      if (requests != pattern.requests(place, Direction::write)) return;  // refused with verify = "full"
      const Order order = order_of(test, rank, requests);
      for (std::uint64_t index = 0; index < std::min(requests, available); ++index) {
        Content expected{content.generation, record.passes_of(rank).last_at(index)};
        if (const auto older = record.older_data_of(rank); older && older->draw.reads(index))
          expected = {older->generation, older->left.last_at(index)};
        ASSERT_TRUE(truth.is_painted(place, request_at(order, index), expected))
            << "rank " << rank << ", index " << index;
      }
    }
  }
};

// proves measuring: newest-pass, later-phases-know
TEST_P(WriteRecordOf, ARuntimeLeavesWhatARecordOfEveryRequestSays) {
  constexpr OrderKind kinds[] = {OrderKind::forward, OrderKind::backward, OrderKind::random};
  std::mt19937_64 random(1);
  int looked_at = 0, overlapping = 0;
  for (int i = 0; i < 300 && looked_at < 20; ++i) {
    Case test = good_case(case_text());
    test.pattern = GetParam();
    test.pattern_settings = draw(*GetParam(), choices, Optional::drawn, random);
    test.clients = draw_ranks(*GetParam(), 5, random);
    test.order = kinds[random() % 3];
    const auto pattern = make_if_valid(*GetParam(), test.pattern_settings, test.clients);
    if (pattern == nullptr || pattern->file_size(test.clients) > small_file) continue;
    if (!pattern->disjoint(test.clients)) {
      ++overlapping;  // such a case cannot be verified
      continue;
    }
    ++looked_at;
    ASSERT_NO_FATAL_FAILURE(expect_truth(test, *pattern, random))
        << test.clients << " ranks, " << describe(test.pattern_settings);
  }
  EXPECT_GT(looked_at + overlapping, 0);
}

INSTANTIATE_TEST_SUITE_P(Registered, WriteRecordOf, testing::ValuesIn(all_patterns().begin(), all_patterns().end()),
                         [](const auto& test) {
                           std::string name(test.param->name);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace strider
