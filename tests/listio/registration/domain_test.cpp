#include "listio/registration/domain.hpp"

#include <gtest/gtest.h>

#include "foundation/error.hpp"
#include "memory.hpp"
#include "random_lists.hpp"

namespace strider::listio {
namespace {

class DomainTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    domain_ = try_domain(GetParam());
    if (!domain_) GTEST_SKIP() << "the kernel has no " << GetParam() << ", or forbids it";
    before_ = lasting_pinned_pages();
  }
  Outcome outcome_of(const Range& pages) { return domain_->register_range(pages).outcome; }
  bool pins() const { return domain_->name() != "model"; }
  std::uint64_t pinned() const { return pinned_pages() - before_; }

  std::unique_ptr<Domain> domain_;
  std::uint64_t before_ = 0;
};

// proves listio: domain-counters
TEST_P(DomainTest, RegistersAndDeregisters) {
  const Pages memory(8);
  const auto result = domain_->register_range(memory.pages(1, 4));
  ASSERT_EQ(result.outcome, Outcome::registered);
  EXPECT_EQ(result.region.range, memory.pages(1, 4));
  EXPECT_EQ(pinned(), pins() ? 4 : 0);
  domain_->deregister(result.region);
  EXPECT_EQ(pinned(), 0);
  EXPECT_EQ(domain_->counters().registrations, 1);
  EXPECT_EQ(domain_->counters().deregistrations, 1);
  EXPECT_EQ(domain_->counters().pages, 4);
  EXPECT_GT(domain_->counters().register_us, 0);
}

// proves listio: uring, model
TEST_P(DomainTest, FaultsOnAHoleAndLeavesNothingBehind) {
  const Pages memory(8);
  memory.unmap(5);
  EXPECT_EQ(outcome_of(memory.pages(0, 8)), Outcome::fault);
  EXPECT_EQ(pinned(), 0);
  EXPECT_EQ(domain_->counters().faults, 1);
}

// proves listio: access-of-domain, no-access-is-hole
TEST_P(DomainTest, FailsOnPagesWithoutAccess) {
  const Pages memory(8);
  memory.protect(5, PROT_NONE);
  EXPECT_EQ(outcome_of(memory.pages(0, 8)), Outcome::fault);
  EXPECT_EQ(pinned(), 0);
}

// proves listio: access-of-domain, no-access-is-hole
TEST_P(DomainTest, TakesReadOnlyPagesOnlyIfItSaysSo) {
  const Pages memory(2);
  memory.protect(0, PROT_READ, 2);
  const bool read_is_enough = domain_->capabilities().access == Access::read;
  EXPECT_EQ(outcome_of(memory.pages(0, 2)), read_is_enough ? Outcome::registered : Outcome::fault);
}

// proves listio: mlock
TEST_P(DomainTest, RegionsThatOverlapHoldTheirPagesUntilTheLastOneGoes) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Dice dice(seed);
    const Pages memory(16);
    std::vector<Region> live;
    for (int step = 0; step < 12; ++step) {
      if (!live.empty() && dice.one_in(3)) {
        const auto gone = live.begin() + static_cast<std::ptrdiff_t>(dice.roll(0, live.size() - 1));
        domain_->deregister(*gone);
        live.erase(gone);
      } else {
        const std::uint64_t first = dice.roll(0, 15);
        const auto result = domain_->register_range(memory.pages(first, dice.roll(1, 16 - first)));
        ASSERT_EQ(result.outcome, Outcome::registered);
        live.push_back(result.region);
      }
      if (domain_->name() != "mlock") continue;  // the kernel counts a page once for each region with io_uring
      std::uint64_t covered = 0;
      for (std::uint64_t page = 0; page < 16; ++page)
        covered += std::any_of(live.begin(), live.end(),
                               [&](const Region& region) { return region.range.contains(memory.pages(page, 1)); });
      ASSERT_EQ(pinned(), covered) << "seed " << seed;
    }
    for (const Region& region : live) domain_->deregister(region);
    ASSERT_EQ(pinned(), 0) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Domains, DomainTest, testing::Values("uring", "mlock", "model"));

// proves listio: mlock
TEST(PinningDomains, RefuseBeyondTheLimitOfLockedMemory) {
  for (const std::string name : {"uring", "mlock"}) {
    if (!try_domain(name)) continue;
    const int wrong = with_little_memory(32, [&] {
      const auto domain = make_domain(name);
      const Pages memory(64);
      if (domain->register_range(memory.pages(0, 60)).outcome != Outcome::no_memory) return 1;
      if (pinned_pages() != 0) return 2;
      if (domain->register_range(memory.pages(0, 16)).outcome != Outcome::registered) return 3;
      return domain->register_range(memory.pages(16, 20)).outcome == Outcome::no_memory ? 0 : 4;
    });
    EXPECT_EQ(wrong, 0) << name;
  }
}

// proves listio: uring
TEST(UringDomain, HasAsManyRegionsAsSlots) {
  if (!try_domain("uring")) GTEST_SKIP() << "no io_uring";
  const auto domain = make_uring_domain({.most_regions = 2});
  const Pages memory(3);
  const auto first = domain->register_range(memory.pages(0, 1));
  domain->register_range(memory.pages(1, 1));
  EXPECT_EQ(domain->register_range(memory.pages(2, 1)).outcome, Outcome::no_region);
  domain->deregister(first.region);
  EXPECT_EQ(domain->register_range(memory.pages(2, 1)).outcome, Outcome::registered);
}

TEST(UringDomain, RefusesARingThatIsNone) { EXPECT_THROW(make_uring_domain({.ring = 0}), std::system_error); }

TEST(Domains, AreFoundByName) {
  EXPECT_EQ(make_domain("model")->name(), "model");
  EXPECT_THROW(make_domain("verbs"), InputError);
}

}  // namespace
}  // namespace strider::listio
