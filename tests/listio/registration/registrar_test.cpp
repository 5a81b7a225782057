#include "listio/registration/registrar.hpp"

#include <gtest/gtest.h>

#include "foundation/error.hpp"
#include "memory.hpp"
#include "random_lists.hpp"

namespace strider::listio {
namespace {

enum class Holes { none, unmapped, inaccessible };

/// The seed's second experiment in memory: 1024 rows of a page at a stride of two, and ten of the pages between them
/// missing.
struct Rows {
  explicit Rows(Holes holes) : memory(2048) {
    for (std::uint64_t row = 0; row < 1024; ++row) pieces.push_back(memory.pages(2 * row, 1));
    for (std::uint64_t hole = 0; hole < 10 && holes != Holes::none; ++hole) {
      const std::uint64_t page = 2 * (50 + hole * 97) + 1;
      if (holes == Holes::unmapped) memory.unmap(page);
      else memory.protect(page, PROT_NONE);
    }
  }
  Pages memory;
  std::vector<Range> pieces;
};

class RegistrarTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    domain_ = try_domain(GetParam());
    if (!domain_) GTEST_SKIP() << "the kernel has no " << GetParam() << ", or forbids it";
  }
  std::uint64_t registrations() const { return domain_->counters().registrations; }
  std::uint64_t live() const { return registrations() - domain_->counters().deregistrations; }

  std::unique_ptr<Domain> domain_;
};

// proves listio: ogr-first-try
TEST_P(RegistrarTest, GroupsOneRegistrationWhereNoHoleIsMissing) {
  const Rows rows(Holes::none);
  Registrar registrar(*domain_, {.strategy = Strategy::ogr});
  const Registration registration = registrar.acquire(rows.pieces);
  EXPECT_EQ(registration.verdict, Verdict::registered);
  EXPECT_EQ(registrations(), 1);
  EXPECT_EQ(registrar.counters().hole_pages, 1023);
  EXPECT_EQ(registrar.counters().queries, 0) << "optimistic: nobody asks before something fails";
}

// proves listio: ogr-on-fault, ogr-wrong-answer, registrar-counters
TEST_P(RegistrarTest, GroupsElevenRegistrationsAroundTenHoles) {
  for (const Holes holes : {Holes::unmapped, Holes::inaccessible})
    for (const auto source : {AddressSpace::Source::best, AddressSpace::Source::text}) {
      const Rows rows(holes);
      const std::uint64_t before = registrations(), faults = domain_->counters().faults;
      Registrar registrar(*domain_, {.strategy = Strategy::ogr, .source = source});
      const Registration registration = registrar.acquire(rows.pieces);
      EXPECT_EQ(registration.verdict, Verdict::registered) << registration.message;
      EXPECT_EQ(registrations() - before, 11);
      EXPECT_EQ(domain_->counters().faults - faults, 1);
      EXPECT_EQ(registrar.counters().hole_pages, 1013);
      EXPECT_EQ(registrar.counters().cuts, 1);
    }
}

// proves listio: individual
TEST_P(RegistrarTest, IndividuallyEveryPieceIsRegistered) {
  const Rows rows(Holes::unmapped);
  Registrar registrar(*domain_, {.strategy = Strategy::individual});
  const Registration registration = registrar.acquire(rows.pieces);
  EXPECT_EQ(registration.verdict, Verdict::registered);
  EXPECT_EQ(registrations(), 1024);
  EXPECT_EQ(registrar.counters().hole_pages, 0);
}

// proves listio: single, single-fails
TEST_P(RegistrarTest, ASingleRegistrationFailsOverAHoleAndSaysWhatToDo) {
  const Rows whole(Holes::none), holed(Holes::unmapped);
  Registrar registrar(*domain_, {.strategy = Strategy::single});
  EXPECT_EQ(registrar.acquire(whole.pieces).verdict, Verdict::registered);
  const Registration failed = registrar.acquire(holed.pieces);
  EXPECT_EQ(failed.verdict, Verdict::fault);
  EXPECT_NE(failed.message.find("there are holes between the pieces; use strategy ogr or individual"),
            std::string::npos)
      << failed.message;
  EXPECT_EQ(live(), 0);
}

// proves listio: no-registration
TEST_P(RegistrarTest, NoneRegistersNothing) {
  const Rows rows(Holes::unmapped);
  Registrar registrar(*domain_, {.strategy = Strategy::none});
  EXPECT_EQ(registrar.acquire(rows.pieces).verdict, Verdict::registered);
  EXPECT_EQ(registrations(), 0);
}

TEST_P(RegistrarTest, APieceThatIsNotThereIsAFaultOfEveryStrategy) {
  for (const Strategy strategy : {Strategy::individual, Strategy::single, Strategy::ogr}) {
    const Rows rows(Holes::none);
    rows.memory.unmap(200);
    Registrar registrar(*domain_, {.strategy = strategy});
    EXPECT_EQ(registrar.acquire(rows.pieces).verdict, Verdict::fault) << name_of(strategy);
    EXPECT_EQ(live(), 0) << name_of(strategy);
  }
}

TEST_P(RegistrarTest, ALeaseFindsTheRegionOfEveryPiece) {
  const Rows rows(Holes::unmapped);
  Registrar registrar(*domain_, {.strategy = Strategy::ogr});
  const Registration registration = registrar.acquire(rows.pieces);
  for (const Range& piece : rows.pieces) {
    const Region* const region = registration.lease.find(piece);
    ASSERT_TRUE(region != nullptr && region->range.contains(piece));
  }
  EXPECT_EQ(registration.lease.find(rows.memory.pages(101, 1)), nullptr) << "a hole";
}

/// Pages that are there, are not, or may not be touched, in short stretches; and pieces of those that are there.
struct RandomMemory {
  static constexpr std::uint64_t count = 160;

  explicit RandomMemory(std::uint64_t seed) : dice(seed), memory(count), there(count, true) {
    for (std::uint64_t page = 0; page < count;) {
      const std::uint64_t length = std::min(dice.roll(1, dice.one_in(4) ? 40 : 4), count - page);
      const std::uint64_t gone = std::min<std::uint64_t>(length, dice.roll(1, 12));
      switch (dice.roll(1, 5)) {
        case 1: take_away(page, gone, PROT_NONE); break;
        case 2: take_away(page, gone, unmapped); break;
        default: break;
      }
      page += length;
    }
    for (std::uint64_t tries = dice.roll(0, 60); tries > 0; --tries) add_piece();
  }

  Dice dice;
  Pages memory;
  std::vector<bool> there;
  std::vector<Range> pieces;

 private:
  static constexpr int unmapped = -1;

  void take_away(std::uint64_t first, std::uint64_t length, int how) {
    if (how == unmapped) memory.unmap(first, length);
    else memory.protect(first, how, length);
    std::fill_n(there.begin() + static_cast<std::ptrdiff_t>(first), length, false);
  }
  void add_piece() {
    const std::uint64_t begin = dice.roll(0, memory.bytes() - 1);
    const std::uint64_t end = std::min(memory.bytes(), begin + dice.roll(0, dice.one_in(3) ? 6 * page_bytes() : 600));
    for (std::uint64_t page = begin / page_bytes(); page * page_bytes() < end; ++page)
      if (!there[page]) return;
    pieces.push_back({memory.begin() + begin, memory.begin() + end});
  }
};

void expect_covered(const RandomMemory& c, const Lease& lease, Strategy strategy) {
  std::vector<bool> registered(RandomMemory::count, false);
  std::uintptr_t end = 0;
  for (const Region& region : lease.regions()) {
    const std::uint64_t first = (region.range.begin - c.memory.begin()) / page_bytes();
    for (std::uint64_t page = first; page < first + pages_in(region.range); ++page) {
      ASSERT_TRUE(c.there[page]) << "page " << page << " may not be touched";
      registered[page] = true;
    }
    ASSERT_TRUE(strategy != Strategy::ogr || region.range.begin >= end) << "regions overlap";
    end = region.range.end;
  }
  for (const Range& piece : c.pieces) {
    if (piece.end == piece.begin) continue;
    const Range pages = pages_around(piece);
    for (std::uintptr_t page = pages.begin; page < pages.end; page += page_bytes())
      ASSERT_TRUE(registered[(page - c.memory.begin()) / page_bytes()]);
    ASSERT_NE(lease.find(piece), nullptr);
  }
}

TEST_P(RegistrarTest, CoversAllPiecesAndNoPageThatMayNotBeTouched) {
  const std::uint64_t before = lasting_pinned_pages();
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomMemory c(seed);
    const Strategy strategy = seed % 4 == 0 ? Strategy::individual : Strategy::ogr;
    Registrar registrar(*domain_, {.strategy = strategy,
                                   .cache_bytes = seed % 3 == 0 ? 64 * page_bytes() : 0,
                                   .invalidation = Invalidation::by_caller,
                                   .source = seed % 2 == 0 ? AddressSpace::Source::best : AddressSpace::Source::text});
    for (int time = 0; time < 2; ++time) {
      const Registration registration = registrar.acquire(c.pieces);
      ASSERT_EQ(registration.verdict, Verdict::registered) << registration.message;
      // A cached region may be larger than needed, and overlap others.
      expect_covered(c, registration.lease, registrar.cache() ? Strategy::individual : strategy);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_EQ(live(), 0);
  EXPECT_EQ(pinned_pages(), before);
}

TEST_P(RegistrarTest, AStaleRegionIsNoticed) {
  const Pages memory(8);
  const std::vector<Range> pieces{memory.pages(0, 8)};
  for (const Invalidation how : {Invalidation::by_caller, Invalidation::watched}) {
    Registrar registrar(*domain_, {.strategy = Strategy::ogr, .cache_bytes = memory.bytes(), .invalidation = how});
    if (how == Invalidation::watched && !registrar.cache()->watched()) GTEST_SKIP() << "no userfaultfd";
    const std::uint64_t before = registrations();
    registrar.acquire(pieces);
    registrar.acquire(pieces);
    EXPECT_EQ(registrations() - before, 1) << "known";
    memory.unmap(0, 8);
    memory.map_again(0, 8);
    if (how == Invalidation::by_caller) registrar.invalidate(pieces[0]);
    EXPECT_EQ(registrar.acquire(pieces).verdict, Verdict::registered);
    EXPECT_EQ(registrations() - before, 2);
    EXPECT_EQ(registrar.cache()->counters().invalidations, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Domains, RegistrarTest, testing::Values("uring", "mlock", "model"));

std::vector<Range> every_second_page(const Pages& memory, std::uint64_t first, std::uint64_t count) {
  std::vector<Range> pieces;
  for (std::uint64_t i = 0; i < count; ++i) pieces.push_back(memory.pages(first + 2 * i, 1));
  return pieces;
}

/// Where memory for pinning is short (64 pages): the number of the first thing that is wrong, or 0.
int lists_with_little_memory(Domain& domain) {
  const Pages memory(512);
  const auto live = [&] { return domain.counters().registrations - domain.counters().deregistrations; };
  {
    Registrar registrar(domain, {.strategy = Strategy::ogr});
    {
      const Registration dense = registrar.acquire(every_second_page(memory, 0, 40));
      if (dense.verdict != Verdict::registered || live() != 40) return 1;  // 79 pages with the holes
      if (registrar.counters().shrinks != 1) return 2;
    }
    const Registration too_much = registrar.acquire(every_second_page(memory, 0, 80));
    if (too_much.verdict != Verdict::pack || too_much.message.find("ulimit -l") == std::string::npos) return 3;
    if (live() != 0) return 4;
  }
  Registrar individual(domain, {.strategy = Strategy::individual});
  if (individual.acquire(every_second_page(memory, 0, 80)).verdict != Verdict::pack || live() != 0) return 5;
  Registrar cached(domain, {.cache_bytes = memory.bytes(), .invalidation = Invalidation::by_caller});
  if (cached.acquire(every_second_page(memory, 0, 25)).verdict != Verdict::registered) return 6;
  if (cached.acquire(every_second_page(memory, 100, 25)).verdict != Verdict::registered) return 7;
  if (cached.counters().flushes != 1 || cached.counters().shrinks != 0 || live() != 1) return 8;
  return 0;
}

// proves listio: pins-exhausted, pack-at-last
TEST(RegistrarWithLittleMemory, OfAModelShrinksFlushesAndInTheEndPacks) {
  const auto domain = make_model_domain({.cost = quick_cost, .most_pages = 64});
  EXPECT_EQ(lists_with_little_memory(*domain), 0);
}

// proves listio: pack-without-memory, pins-exhausted, pack-at-last
TEST(RegistrarWithLittleMemory, OfTheKernelShrinksFlushesAndInTheEndPacks) {
  for (const std::string name : {"uring", "mlock"}) {
    if (!try_domain(name)) continue;
    const int wrong = with_little_memory(64, [&] { return lists_with_little_memory(*make_domain(name)); });
    EXPECT_EQ(wrong, 0) << name;
  }
}

TEST(RegistrarWithFewRegions, PacksWhenNoneIsFree) {
  const auto domain = make_model_domain({.cost = quick_cost, .most_regions = 4});
  const Pages memory(512);
  Registrar registrar(*domain, {.strategy = Strategy::individual});
  const Registration registration = registrar.acquire(every_second_page(memory, 0, 5));
  EXPECT_EQ(registration.verdict, Verdict::pack);
  EXPECT_NE(registration.message.find("no region is free"), std::string::npos) << registration.message;
  EXPECT_EQ(domain->counters().registrations, domain->counters().deregistrations);
}

TEST(Strategies, AreFoundByName) {
  for (const Strategy strategy : {Strategy::none, Strategy::individual, Strategy::single, Strategy::ogr})
    EXPECT_EQ(strategy_of(name_of(strategy)), strategy);
  EXPECT_THROW(strategy_of("group"), InputError);
}

}  // namespace
}  // namespace strider::listio
