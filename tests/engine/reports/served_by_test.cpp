#include "reports/served_by.hpp"

#include <gtest/gtest.h>

namespace strider {
namespace {

using Client = ServedBy::Client;

constexpr std::uint64_t bytes = 1000;

// proves measuring: shown-counters
TEST(ServedBy, NoSourceIsBelievedBeforeItHasSeenAWrite) {
  const ServedBy served;
  const Seen seen{.process = {bytes, 0}, .traffic = {.client = {bytes, 0}, .network = {bytes, 0}}};
  for (const StorageSource source : {StorageSource::process, StorageSource::nfs, StorageSource::traffic})
    EXPECT_FALSE(served.of_read(Client::kernel, source, seen));
}

// proves measuring: served-process
TEST(ServedBy, OnALocalFileSystemTheProcessesSayIt) {
  ServedBy served;
  served.note_write(Client::kernel, StorageSource::process, bytes, {.process = {0, bytes}});
  const auto answer = served.of_read(Client::kernel, StorageSource::process, {.process = {42, 0}});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->bytes, 42);
  EXPECT_EQ(answer->source, "process");
}

// proves measuring: shown-counters
TEST(ServedBy, ACounterIsBelievedThatHasSeenNineTenthsOfTheWrite) {
  const auto believed = [](std::uint64_t seen) {
    ServedBy served;
    served.note_write(Client::kernel, StorageSource::process, bytes, {.process = {0, seen}});
    return served.of_read(Client::kernel, StorageSource::process, {.process = {42, 0}}).has_value();
  };
  EXPECT_TRUE(believed(bytes * 9 / 10));
  EXPECT_FALSE(believed(bytes * 9 / 10 - 1));
}

// proves measuring: hidden-traffic, next-row, no-counter
TEST(ServedBy, AnOverlayOnMemoryIsNoCache) {
  ServedBy served;
  served.note_write(Client::kernel, StorageSource::process, bytes, {.traffic = {.block = {0, bytes}}});
  EXPECT_FALSE(served.of_read(Client::kernel, StorageSource::process, {}));
}

// proves measuring: served-source, served-client
TEST(ServedBy, TheKernelsClientComesBeforeTraffic) {
  ServedBy served;
  const Seen written{.traffic = {.client = {0, bytes}, .network = {0, bytes + 50}}};
  served.note_write(Client::kernel, StorageSource::nfs, bytes, written);
  const Seen read{.traffic = {.client = {100, 0}, .network = {900, 0}}};
  const auto answer = served.of_read(Client::kernel, StorageSource::nfs, read);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->bytes, 100);
  EXPECT_EQ(answer->source, "nfs");
}

// proves measuring: hidden-traffic, next-row, no-counter
TEST(ServedBy, StatisticsForRootAloneLeaveTraffic) {
  ServedBy served;
  served.note_write(Client::kernel, StorageSource::ceph, bytes, {.traffic = {.network = {0, bytes}}});
  const auto answer = served.of_read(Client::kernel, StorageSource::ceph, {.traffic = {.network = {700, 0}}});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->bytes, 700);
  EXPECT_EQ(answer->source, "network");
}

// proves measuring: served-network
TEST(ServedBy, OfTwoThatSawTheWriteTheLargerIsTheBound) {
  ServedBy served;
  const Seen written{.traffic = {.network = {0, bytes}, .block = {0, bytes}}};
  served.note_write(Client::kernel, StorageSource::traffic, bytes, written);
  const Seen read{.traffic = {.network = {5, 0}, .block = {600, 0}}};
  const auto answer = served.of_read(Client::kernel, StorageSource::traffic, read);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->bytes, 600);
  EXPECT_EQ(answer->source, "block");
}

// proves measuring: served-network
TEST(ServedBy, OtherTrafficIsNotItsOwn) {
  ServedBy served;
  served.note_write(Client::kernel, StorageSource::traffic, bytes, {.traffic = {.network = {0, bytes}}});
  const Seen read{.traffic = {.network = {5, 0}, .block = {600, 0}}};
  const auto answer = served.of_read(Client::kernel, StorageSource::traffic, read);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->bytes, 5);
  EXPECT_EQ(answer->source, "network");
}

// proves measuring: hidden-traffic, next-row, no-counter
TEST(ServedBy, ADaemonInAnotherNetworkIsNotSeen) {
  ServedBy served;
  served.note_write(Client::kernel, StorageSource::traffic, bytes, {.traffic = {.network = {0, 300}}});
  EXPECT_FALSE(served.of_read(Client::kernel, StorageSource::traffic, {}));
}

// proves measuring: served-network
TEST(ServedBy, AnInterfaceWithAClientOfItsOwnIsJudgedByItself) {
  ServedBy served;
  const Seen written{.process = {0, bytes}, .traffic = {.client = {0, bytes}, .network = {0, bytes}}};
  served.note_write(Client::kernel, StorageSource::nfs, bytes, written);
  EXPECT_FALSE(served.of_read(Client::own, StorageSource::nfs, written));
  served.note_write(Client::own, StorageSource::nfs, bytes, written);
  const auto answer = served.of_read(Client::own, StorageSource::nfs, {.traffic = {.network = {33, 0}}});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->source, "network");
}

// proves measuring: served-unknown
TEST(ServedBy, InMemoryNoSourceReportsIt) {
  ServedBy served;
  const Seen written{.process = {0, bytes}, .traffic = {.network = {0, bytes}}};
  served.note_write(Client::kernel, StorageSource::unknown, bytes, written);
  EXPECT_FALSE(served.of_read(Client::kernel, StorageSource::unknown, written));
}

}  // namespace
}  // namespace strider
