#include "listio/registration/ofi_domain.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "foundation/error.hpp"
#include "listio/registration/registrar.hpp"
#include "memory.hpp"

namespace strider::listio {
namespace {

/// 64 pages, of which every other one is a piece, and memory is missing in two of the holes.
struct PiecesWithHoles {
  PiecesWithHoles() : memory(64) {
    for (std::uint64_t page = 0; page < 64; page += 2) pieces.push_back(memory.pages(page, 1));
    memory.unmap(21);
    memory.protect(43, PROT_NONE);
  }
  Pages memory;
  std::vector<Range> pieces;
};

TEST(OfiDomain, RegistersAndDeregistersAndUsesNumbersAgain) {
  const auto domain = make_domain("ofi");
  EXPECT_EQ(domain->name(), "ofi");
  const Pages memory(8);
  const auto first = domain->register_range(memory.pages(1, 4)), second = domain->register_range(memory.pages(0, 8));
  ASSERT_EQ(first.outcome, Outcome::registered);
  ASSERT_EQ(second.outcome, Outcome::registered);
  EXPECT_EQ(first.region.range, memory.pages(1, 4));
  EXPECT_NE(first.region.slot, second.region.slot);
  domain->deregister(first.region);
  EXPECT_EQ(domain->register_range(memory.pages(5, 1)).region.slot, first.region.slot);
  EXPECT_EQ(domain->counters().registrations, 3);
  EXPECT_EQ(domain->counters().deregistrations, 1);
  EXPECT_EQ(domain->counters().pages, 13);
}

TEST(OfiDomain, HoldsManyRegionsAndClosesThemWhenItEnds) {
  const Pages memory(1);
  const auto domain = make_domain("ofi");
  std::set<std::uint32_t> slots;
  for (int i = 0; i < 1000; ++i) {
    const auto result = domain->register_range(memory.pages(0, 1));
    ASSERT_EQ(result.outcome, Outcome::registered);
    slots.insert(result.region.slot);
  }
  EXPECT_EQ(slots.size(), 1000);
}

TEST(OfiDomain, KnowsWhatACardWantsToBeTold) {
  const auto fabric = std::make_shared<ofi::Fabric>("", "");
  OfiDomain domain(fabric);
  const Pages memory(2);
  const auto result = domain.register_range(memory.pages(0, 2));
  ASSERT_EQ(result.outcome, Outcome::registered);
  EXPECT_TRUE(domain.descriptor(result.region) != nullptr || !domain.is_needed());
  EXPECT_EQ(domain.is_needed(), fabric->provider().starts_with("verbs"));
}

// proves listio: ofi-domain
TEST(OfiDomain, OfACardFaultsOnHolesAndGroupsAreCutAtThem) {
  OfiDomain domain(std::make_shared<ofi::Fabric>("", ""));
  if (!domain.is_needed())
    GTEST_SKIP() << "machine: no network card; " << domain.fabric().provider() << " pins nothing";
  const PiecesWithHoles list;
  EXPECT_EQ(domain.register_range(list.memory.pages(20, 4)).outcome, Outcome::fault);
  EXPECT_EQ(domain.register_range(list.memory.pages(42, 4)).outcome, Outcome::fault);
  Registrar single(domain, {.strategy = Strategy::single});
  EXPECT_EQ(single.acquire(list.pieces).verdict, Verdict::fault);
  Registrar ogr(domain, {.strategy = Strategy::ogr});
  const Registration registration = ogr.acquire(list.pieces);
  ASSERT_EQ(registration.verdict, Verdict::registered);
  EXPECT_EQ(registration.lease.regions().size(), 3);
  EXPECT_EQ(ogr.counters().cuts, 1);
  for (const Range& piece : list.pieces) EXPECT_NE(registration.lease.find(piece), nullptr);
}

// proves listio: ofi-domain
TEST(OfiDomain, OfSoftwareTakesHolesForGood) {
  OfiDomain domain(std::make_shared<ofi::Fabric>("", ""));
  if (domain.is_needed()) GTEST_SKIP() << "machine: " << domain.fabric().provider() << " is a network card";
  const PiecesWithHoles list;
  Registrar ogr(domain, {.strategy = Strategy::ogr});
  const Registration registration = ogr.acquire(list.pieces);
  ASSERT_EQ(registration.verdict, Verdict::registered);
  EXPECT_EQ(registration.lease.regions().size(), 1) << "registering is so cheap that all holes are";
}

// proves listio: providers
TEST(OfiFabric, SaysWhatItDoesNotHave) {
  try {
    ofi::Fabric fabric("nonsense", "127.0.0.1");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("nonsense"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("127.0.0.1"), std::string::npos);
  }
}

// proves listio: ofi-cache, ofi-cache-off
TEST(OfiFabric, KeepsNoRegionsByItselfUnlessItIsAskedTo) {
  const auto domain = make_domain("ofi");
  const char* monitor = std::getenv("FI_MR_CACHE_MONITOR");
  ASSERT_NE(monitor, nullptr);
  EXPECT_STREQ(monitor, "disabled");
}

// proves listio: shm-not-selected
TEST(OfiFabric, NeverChoosesSocketsByItself) {
  const auto all = ofi::preferred_providers();
  EXPECT_EQ(std::find(all.begin(), all.end(), "sockets"), all.end());
  EXPECT_EQ(std::find(all.begin(), all.end(), "shm"), all.end());
}

// proves listio: shm-signals
TEST(OfiFabric, LeavesSignalsAsTheyAre) {
  struct sigaction before{}, after{};
  ::sigaction(SIGTERM, nullptr, &before);
  if (!ofi::is_available("shm", "")) GTEST_SKIP() << "libfabric has no shm here";
  const ofi::Fabric fabric("shm", "");
  ::sigaction(SIGTERM, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

// proves listio: shm-files
TEST(OfiFabric, SweepsWhatDeadProcessesOfThisUserHaveLeft) {
  const pid_t dead = ::fork();
  if (dead == 0) ::_exit(0);
  ::waitpid(dead, nullptr, 0);
  const std::string folder = testing::TempDir() + "/ofi-sweep-" + std::to_string(::getpid());
  std::filesystem::create_directory(folder);
  const std::string user = std::to_string(::geteuid()), other = std::to_string(::geteuid() + 1);
  const std::string left = std::to_string(dead) + ":" + user + ":0";
  const std::vector<std::string> kept{std::to_string(::getpid()) + ":" + user + ":0",
                                      std::to_string(dead) + ":" + other + ":0",
                                      std::to_string(dead) + ":" + user,
                                      left + "x",
                                      left + ":1",
                                      "psm2_shm"};
  std::ofstream(folder + "/" + left) << "x";
  for (const std::string& name : kept) std::ofstream(folder + "/" + name) << "x";
  EXPECT_EQ(ofi::sweep_shared_memory(folder), 1);
  EXPECT_FALSE(std::filesystem::exists(folder + "/" + left));
  for (const std::string& name : kept) EXPECT_TRUE(std::filesystem::exists(folder + "/" + name)) << name;
  EXPECT_EQ(ofi::sweep_shared_memory(folder + "/none"), 0);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace strider::listio
