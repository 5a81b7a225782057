#include "listio/mount/locks.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <optional>
#include <utility>

#include "foundation/error.hpp"
#include "service.hpp"

namespace strider::listio {
namespace {

constexpr auto shared = LockKind::shared, exclusive = LockKind::exclusive, none = LockKind::none;

int error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const IoError& error) {
    return error.details().error_number;
  }
  return 0;
}

/// Two mounts of a volume, a file, and a waiter.
class MountLocksTest : public testing::Test {
 protected:
  MountLocks::Lock lock(MountLocks::Owner owner, LockKind kind, const ByteRun& range, std::uint64_t handle = 1) const {
    return {file, owner, handle, static_cast<pid_t>(1000 + owner), kind, range};
  }
  MountLocks::Waiter waiter() {
    return {[this] { return interrupted; }, [this](int error) { ended = error; }};
  }
  int ending(MountLocks& locks) {
    while (!ended) locks.progress();
    return *std::exchange(ended, std::nullopt);
  }

  Service service{2};
  Client one{service.volume()}, two{service.volume()};
  const File file = one.open("data", Creation::exclusive);
  MountLocks first{one}, second{two};
  bool interrupted = false;
  std::optional<int> ended;
};

TEST_F(MountLocksTest, HoldAgainstOtherOwnersAndOtherMounts) {
  first.set(lock(1, exclusive, {0, 10}));
  EXPECT_EQ(error_of([&] { first.set(lock(2, shared, {9, 1})); }), EAGAIN);
  EXPECT_EQ(error_of([&] { second.set(lock(1, shared, {9, 1})); }), EAGAIN) << "the same number on another mount";
  EXPECT_EQ(error_of([&] { second.set(lock(1, shared, {10, 1})); }), 0);
}

TEST_F(MountLocksTest, ChangeInPlaceAndInParts) {
  first.set(lock(1, exclusive, {0, 30}));
  first.set(lock(1, shared, {10, 10}));
  EXPECT_EQ(error_of([&] { second.set(lock(1, shared, {10, 10})); }), 0);
  EXPECT_EQ(error_of([&] { first.set(lock(1, exclusive, {10, 10})); }), EAGAIN) << "another shares them";
  first.set(lock(1, none, {0, 5}));
  EXPECT_EQ(error_of([&] { second.set(lock(1, exclusive, {0, 5})); }), 0);
  EXPECT_EQ(error_of([&] { second.set(lock(1, exclusive, {5, 1})); }), EAGAIN);
}

TEST_F(MountLocksTest, TellWhoHoldsOneByItsProcess) {
  first.set(lock(1, exclusive, {5, 10}));
  const auto here = first.find(lock(2, shared, {0, 100}));
  ASSERT_TRUE(here.has_value());
  EXPECT_EQ(here->process, 1001);
  EXPECT_EQ(here->kind, exclusive);
  EXPECT_EQ(here->range, (ByteRun{5, 10}));
  const auto there = second.find(lock(2, shared, {0, 100}));
  ASSERT_TRUE(there.has_value());
  EXPECT_EQ(there->process, 0) << "numbers of processes of other mounts mean nothing here";
  EXPECT_FALSE(first.find(lock(1, exclusive, {5, 10})).has_value());
}

TEST_F(MountLocksTest, AreGivenUpWhenAFileIsClosed) {
  first.set(lock(1, exclusive, {0, 10}));
  first.set(lock(2, exclusive, {20, 10}, 2));
  first.release(file, 1);
  EXPECT_EQ(error_of([&] { second.set(lock(1, exclusive, {0, 10})); }), 0);
  EXPECT_EQ(error_of([&] { second.set(lock(1, exclusive, {20, 10})); }), EAGAIN);
  first.release(std::uint64_t{2});
  EXPECT_EQ(error_of([&] { second.set(lock(1, exclusive, {20, 10})); }), 0);
}

TEST_F(MountLocksTest, ClosingAFileWithoutLocksAsksNoServer) {
  const std::uint64_t before = one.counters().requests;
  first.release(file, 1);
  first.release(std::uint64_t{1});
  first.set(lock(1, none, {0, 10}));
  EXPECT_EQ(one.counters().requests, before);
}

TEST_F(MountLocksTest, WhoWaitsIsToldWhenItIsHis) {
  first.set(lock(1, exclusive, {0, 10}));
  second.wait(lock(1, exclusive, {0, 10}), waiter());
  EXPECT_TRUE(second.are_waiting());
  second.progress();
  EXPECT_FALSE(ended.has_value());
  first.set(lock(1, none, {0, 10}));
  EXPECT_EQ(ending(second), 0);
  EXPECT_FALSE(second.are_waiting());
  EXPECT_EQ(error_of([&] { first.set(lock(1, exclusive, {0, 10})); }), EAGAIN);
}

TEST_F(MountLocksTest, AnInterruptedWaitLeavesEverythingAsItWas) {
  first.set(lock(1, exclusive, {0, 10}));
  second.set(lock(1, shared, {20, 10}));
  second.wait(lock(1, exclusive, {0, 30}), waiter());
  interrupted = true;
  EXPECT_EQ(ending(second), EINTR);
  first.set(lock(1, none, {0, 10}));
  EXPECT_EQ(error_of([&] { first.set(lock(1, exclusive, {0, 10})); }), 0) << "no lock waits for it";
  EXPECT_EQ(error_of([&] { first.set(lock(1, exclusive, {20, 1})); }), EAGAIN) << "the lock of before is still there";
}

TEST_F(MountLocksTest, AServerThatEndsEndsTheWait) {
  first.set(lock(1, exclusive, {0, 10}));
  second.wait(lock(1, exclusive, {0, 10}), waiter());
  service.stop(Client::lock_server(file));
  EXPECT_EQ(ending(second), ECONNRESET);
}

}  // namespace
}  // namespace strider::listio
