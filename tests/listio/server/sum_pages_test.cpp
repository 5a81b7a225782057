// Checksums in memory are those of their file, and are written by flush alone, within a limit of pages.
#include "listio/server/sum_pages.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <system_error>
#include <vector>

#include "service.hpp"

namespace strider::listio {
namespace {

constexpr std::uint64_t page = SumPages::page_sums;

class SumPagesTest : public testing::Test {
 protected:
  std::vector<Sum> loaded(SumPages& pages, std::uint64_t first, std::size_t count) {
    std::vector<Sum> sums(count, 0x5555);
    pages.load(file_, first, sums);
    return sums;
  }
  std::vector<Sum> stored(SumPages& pages, std::uint64_t first, std::size_t count) {
    std::vector<Sum> sums(count, 0x5555);
    pages.load_stored(file_, first, sums);
    return sums;
  }
  void put(SumPages& pages, std::uint64_t first, const std::vector<Sum>& sums) {
    pages.prepare(file_, first, sums.size());
    pages.store(file_, first, sums);
  }
  Sum in_file(std::uint64_t block) {
    Sum sum = 0;
    EXPECT_GE(::pread(file_.get(), &sum, sizeof sum, static_cast<off_t>(sum_offset(block))), 0);
    return sum;
  }

  TemporaryFolder place_;
  Descriptor file_{::open((place_.path() + "/sums").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
  SumMemory memory_{4};
};

TEST_F(SumPagesTest, ChangesAreInMemoryUntilTheyAreFlushed) {
  SumPages pages(memory_);
  put(pages, page - 1, {1, 2});
  EXPECT_EQ(loaded(pages, page - 2, 4), (std::vector<Sum>{0, 1, 2, 0}));
  EXPECT_EQ(stored(pages, page - 2, 4), (std::vector<Sum>{0, 1, 2, 0}));
  EXPECT_EQ(in_file(page - 1), 0U);
  pages.flush(file_);
  EXPECT_EQ(in_file(page - 1), 1U);
  EXPECT_EQ(in_file(page), 2U);
  pages.drop();
  EXPECT_TRUE(pages.is_empty());
  EXPECT_EQ(loaded(pages, page - 1, 2), (std::vector<Sum>{1, 2}));
}

TEST_F(SumPagesTest, WhatIsStoredIsReadFromTheFileUnlessItWasChanged) {
  SumPages pages(memory_);
  put(pages, 0, {1, 2});
  put(pages, page, {3});
  pages.flush(file_);
  put(pages, page, {4});
  const Sum other = 9;
  for (const std::uint64_t block : {std::uint64_t{0}, page})
    ASSERT_EQ(::pwrite(file_.get(), &other, sizeof other, static_cast<off_t>(sum_offset(block))), 4);
  EXPECT_EQ(stored(pages, 0, 2), (std::vector<Sum>{9, 2}));
  EXPECT_EQ(stored(pages, page, 1), (std::vector<Sum>{4}));
  EXPECT_EQ(loaded(pages, 0, 2), (std::vector<Sum>{1, 2}));
}

TEST_F(SumPagesTest, CutSumsAreZero) {
  SumPages pages(memory_);
  put(pages, 0, std::vector<Sum>(2 * page, 7));
  pages.cut(5);
  EXPECT_EQ(loaded(pages, 4, 2), (std::vector<Sum>{7, 0}));
  EXPECT_EQ(loaded(pages, 2 * page - 1, 1), std::vector<Sum>{0});
  pages.flush(file_);
  EXPECT_EQ(in_file(4), 7U);
  EXPECT_EQ(in_file(page), 0U);
}

// proves listio: checksum-memory
TEST_F(SumPagesTest, TheLimitIsOfAllFiles) {
  SumPages first(memory_);
  {
    SumPages second(memory_);
    put(first, 0, std::vector<Sum>(3 * page, 1));
    put(second, 0, std::vector<Sum>(1, 2));
    EXPECT_TRUE(memory_.is_full());
    put(first, 3 * page, {5, 6});
    EXPECT_EQ(memory_.used_pages(), 4U);
    EXPECT_EQ(in_file(3 * page + 1), 6U) << "at once, where there is no memory";
    EXPECT_EQ(loaded(first, 3 * page - 1, 3), (std::vector<Sum>{1, 5, 6}));
  }
  EXPECT_EQ(memory_.used_pages(), 3U);
  EXPECT_FALSE(memory_.is_half_free());
  first.drop();
  EXPECT_EQ(memory_.used_pages(), 0U);
  EXPECT_TRUE(memory_.is_half_free());
}

TEST_F(SumPagesTest, WhatCannotBeFlushedIsFlushedLater) {
  SumPages pages(memory_);
  put(pages, 0, {1});
  const Descriptor read_only(::open((place_.path() + "/sums").c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_THROW(pages.flush(read_only), std::system_error);
  EXPECT_EQ(in_file(0), 0U);
  pages.flush(file_);
  EXPECT_EQ(in_file(0), 1U);
}

TEST_F(SumPagesTest, RandomCallsAreThoseOfAPlainVector) {
  std::mt19937_64 random(3);
  std::vector<Sum> model(6 * page);
  SumPages pages(memory_);
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t first = random() % model.size();
    const std::size_t count = 1 + random() % std::min<std::size_t>(model.size() - first, 2 * page);
    const auto begin = model.begin() + static_cast<std::ptrdiff_t>(first);
    switch (random() % 8) {
      case 0: pages.flush(file_); break;
      case 1:
        pages.flush(file_);
        pages.drop();
        break;
      case 2:
      case 3:
      case 4: {
        std::vector<Sum> sums(count);
        for (Sum& sum : sums) sum = static_cast<Sum>(random());
        put(pages, first, sums);
        std::ranges::copy(sums, begin);
        break;
      }
      default:
        ASSERT_TRUE(std::ranges::equal(loaded(pages, first, count), std::span(begin, count))) << i;
        ASSERT_TRUE(std::ranges::equal(stored(pages, first, count), std::span(begin, count))) << i;
    }
    ASSERT_LE(memory_.used_pages(), 4U);
  }
}

}  // namespace
}  // namespace strider::listio
