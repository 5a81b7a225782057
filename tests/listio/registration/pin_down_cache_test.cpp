#include "listio/registration/pin_down_cache.hpp"

#include <gtest/gtest.h>

#include "memory.hpp"
#include "random_lists.hpp"

namespace strider::listio {
namespace {

constexpr std::uint64_t plenty = std::uint64_t{1} << 40;

class PinDownCacheTest : public testing::Test {
 protected:
  Region use(PinDownCache& cache, const Range& pages) {
    if (const auto known = cache.find(pages)) return *known;
    return cache.add(pages).region;
  }
  void use_once(PinDownCache& cache, const Range& pages) { cache.release(use(cache, pages)); }
  std::uint64_t live() const { return domain_->counters().registrations - domain_->counters().deregistrations; }

  std::unique_ptr<Domain> domain_ = make_model_domain({.cost = quick_cost});
  Pages memory_{64};
};

// proves listio: cache-hit
TEST_F(PinDownCacheTest, WhatIsInsideAKnownRegionIsNotRegisteredAgain) {
  PinDownCache cache(*domain_, plenty, nullptr);
  use_once(cache, memory_.pages(0, 8));
  use_once(cache, memory_.pages(2, 3));
  use_once(cache, memory_.pages(7, 2));
  EXPECT_EQ(cache.counters().hits, 1);
  EXPECT_EQ(cache.counters().misses, 2);
  EXPECT_EQ(domain_->counters().registrations, 2);
}

// proves listio: cache-bytes
TEST_F(PinDownCacheTest, TheLeastRecentlyUsedGoesFirst) {
  PinDownCache cache(*domain_, 8 * page_bytes(), nullptr);
  use_once(cache, memory_.pages(0, 4));
  use_once(cache, memory_.pages(10, 4));
  use_once(cache, memory_.pages(0, 4));
  use_once(cache, memory_.pages(20, 4));
  EXPECT_EQ(cache.counters().evictions, 1);
  EXPECT_FALSE(cache.find(memory_.pages(10, 4)));
  EXPECT_TRUE(cache.find(memory_.pages(0, 4)));
}

// proves listio: cache-bytes
TEST_F(PinDownCacheTest, WhatIsInUseStaysHoweverLittleRoomThereIs) {
  PinDownCache cache(*domain_, 1, nullptr);
  const Region first = use(cache, memory_.pages(0, 4)), second = use(cache, memory_.pages(8, 4));
  EXPECT_EQ(live(), 2);
  cache.release(first);
  cache.release(second);
  EXPECT_EQ(live(), 0);
}

// proves listio: cache-hit
TEST_F(PinDownCacheTest, ALargerRegionReplacesTheOnesInIt) {
  PinDownCache cache(*domain_, plenty, nullptr);
  const Region small = use(cache, memory_.pages(2, 2));
  use_once(cache, memory_.pages(5, 2));
  use_once(cache, memory_.pages(0, 8));
  EXPECT_EQ(live(), 2) << "one is in use, one is not needed any more";
  cache.release(small);
  EXPECT_EQ(live(), 1);
}

// proves listio: invalidate, watch
TEST_F(PinDownCacheTest, InvalidatedMemoryIsRegisteredAnew) {
  PinDownCache cache(*domain_, plenty, nullptr);
  use_once(cache, memory_.pages(0, 8));
  use_once(cache, memory_.pages(6, 8));
  use_once(cache, memory_.pages(20, 4));
  cache.invalidate(memory_.pages(7, 1));
  EXPECT_EQ(cache.counters().invalidations, 2) << "those that overlap";
  EXPECT_FALSE(cache.find(memory_.pages(0, 1)));
  EXPECT_TRUE(cache.find(memory_.pages(20, 4)));
}

TEST_F(PinDownCacheTest, InvalidatedMemoryThatIsInUseIsDeregisteredInTheEnd) {
  PinDownCache cache(*domain_, plenty, nullptr);
  const Region old = use(cache, memory_.pages(0, 4));
  cache.invalidate(memory_.pages(0, 1));
  const Region fresh = use(cache, memory_.pages(0, 4));
  EXPECT_NE(old, fresh);
  cache.release(old);
  EXPECT_EQ(live(), 1);
  EXPECT_TRUE(cache.find(memory_.pages(0, 4))) << "the fresh one is still there";
}

// proves listio: cache-counters
TEST_F(PinDownCacheTest, BehavesLikeASimpleListOfRegions) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Dice dice(seed);
    {
      PinDownCache cache(*domain_, plenty, nullptr);
      std::vector<Range> known;
      std::vector<Region> in_use;
      const auto forget = [&](const auto& which) { std::erase_if(known, which); };
      for (int step = 0; step < 40; ++step) {
        const std::uint64_t first = dice.roll(0, 63);
        const Range pages = memory_.pages(first, dice.roll(1, std::min<std::uint64_t>(20, 64 - first)));
        if (dice.one_in(5)) {
          cache.invalidate(pages);
          forget([&](const Range& each) { return each.overlaps(pages); });
        } else if (!in_use.empty() && dice.one_in(2)) {
          cache.release(in_use.back());
          in_use.pop_back();
        } else {
          const bool wanted =
              std::any_of(known.begin(), known.end(), [&](const Range& r) { return r.contains(pages); });
          const std::uint64_t hits = cache.counters().hits;
          in_use.push_back(use(cache, pages));
          ASSERT_EQ(cache.counters().hits > hits, wanted) << "seed " << seed << ", step " << step;
          ASSERT_TRUE(in_use.back().range.contains(pages));
          if (wanted) continue;
          forget([&](const Range& each) { return pages.contains(each); });
          known.push_back(pages);
        }
      }
      for (const Region& region : in_use) cache.release(region);
    }
    ASSERT_EQ(live(), 0) << "seed " << seed;
  }
}

class WatchedCacheTest : public PinDownCacheTest {
 protected:
  void SetUp() override {
    auto watch = MappingWatch::make();
    if (!watch) GTEST_SKIP() << "the kernel has no userfaultfd with these events, or forbids it";
    cache_.emplace(*domain_, plenty, std::move(watch));
    use_once(*cache_, memory_.pages(0, 8));
    use_once(*cache_, memory_.pages(20, 8));
  }
  bool knows(const Range& pages) {
    const auto found = cache_->find(pages);
    if (found) cache_->release(*found);
    return found.has_value();
  }
  std::optional<PinDownCache> cache_;
};

TEST_F(WatchedCacheTest, MemoryThatStaysIsKnown) {
  memory_.touch();
  memory_.protect(40, PROT_NONE);
  EXPECT_TRUE(knows(memory_.pages(0, 8)));
  EXPECT_TRUE(knows(memory_.pages(20, 8)));
}

// proves listio: invalidate, watch
TEST_F(WatchedCacheTest, NoticesThatMemoryWasUnmappedAndMappedAgain) {
  memory_.unmap(3, 2);
  memory_.map_again(3, 2);
  EXPECT_FALSE(knows(memory_.pages(0, 8)));
  EXPECT_TRUE(knows(memory_.pages(20, 8)));
}

// proves listio: watch-lock
TEST_F(WatchedCacheTest, NoticesEveryTimeOfMany) {
  for (int round = 0; round < 300; ++round) {
    memory_.unmap(0, 8);
    memory_.map_again(0, 8);
    ASSERT_FALSE(knows(memory_.pages(0, 8))) << "round " << round;
    use_once(*cache_, memory_.pages(0, 8));
    ASSERT_TRUE(knows(memory_.pages(0, 8)));
  }
}

// proves listio: invalidate, watch
TEST_F(WatchedCacheTest, NoticesMemoryThatIsGivenBackOrMoved) {
  ::madvise(memory_.at(2), page_bytes(), MADV_DONTNEED);
  *memory_.at(2) = 3;  // does not wait for a server of the fault
  EXPECT_FALSE(knows(memory_.pages(0, 8)));
  const Pages elsewhere(8);
  ::mremap(memory_.at(20), 8 * page_bytes(), 8 * page_bytes(), MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere.at(0));
  EXPECT_FALSE(knows(memory_.pages(20, 8)));
}

TEST_F(WatchedCacheTest, ForgetsAllWhenMoreHappensThanItCanNote) {
  for (std::uint64_t i = 0; i < MappingWatch::Events::most + 1; ++i)
    ::madvise(memory_.at(0), page_bytes(), MADV_DONTNEED);
  EXPECT_FALSE(knows(memory_.pages(20, 8)));
}

}  // namespace
}  // namespace strider::listio
