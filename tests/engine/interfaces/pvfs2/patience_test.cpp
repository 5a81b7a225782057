// How long a call may wait for servers, on a clock that the test moves; without OrangeFS.
#include "interfaces/pvfs2/patience.hpp"

#include <gtest/gtest.h>

namespace strider {
namespace {

using namespace std::chrono_literals;

struct Clock {
  using time_point = std::chrono::steady_clock::time_point;
  static time_point now() { return time; }
  static inline time_point time{};
};

/// A call that ends with 7, and servers, on the clock of the test.
struct Scene {
  std::chrono::milliseconds ends_after = 1h;
  std::vector<std::string> silent = {};
  int questions = 0;

  Pvfs2Wait wait(std::chrono::milliseconds limit) {
    const Clock::time_point begin = Clock::now();
    const auto wait = wait_patiently<Clock>(
        limit,
        [&]() -> std::optional<int> {
          if (Clock::now() - begin >= ends_after) return 7;
          Clock::time += 10ms;
          return {};
        },
        [&](std::chrono::milliseconds time) {
          ++questions;
          if (!silent.empty()) Clock::time += time;
          return silent;
        });
    took = Clock::now() - begin;
    return wait;
  }
  Clock::time_point::duration took{};
};

TEST(Pvfs2Patience, ACallThatEndsSoonAsksNobody) {
  Scene scene{.ends_after = 4s, .silent = {"tcp://b:3334"}};
  EXPECT_EQ(scene.wait(10s).result, 7);
  EXPECT_EQ(scene.questions, 0);
}

TEST(Pvfs2Patience, ASlowCallGoesOnAsLongAsAllServersAnswer) {
  Scene scene{.ends_after = 5min};
  EXPECT_EQ(scene.wait(10s).result, 7);
  EXPECT_GT(scene.questions, 50);
}

TEST(Pvfs2Patience, ASilentServerEndsACallWithinTheLimit) {
  Scene scene{.silent = {"tcp://b:3334", "tcp://c:3334"}};
  const Pvfs2Wait wait = scene.wait(10s);
  EXPECT_FALSE(wait.result);
  EXPECT_EQ(wait.silent, (std::vector<std::string>{"tcp://b:3334", "tcp://c:3334"}));
  EXPECT_EQ(scene.questions, 1);
  EXPECT_LE(scene.took, 10s + 20ms);
}

TEST(Pvfs2Patience, ACallThatEndsWhileServersAreAskedHasEnded) {
  Scene scene{.ends_after = 7s, .silent = {"tcp://b:3334"}};
  EXPECT_EQ(scene.wait(10s).result, 7);
  EXPECT_EQ(scene.questions, 1);
}

}  // namespace
}  // namespace strider
