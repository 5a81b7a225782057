#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "foundation/deadline.hpp"
#include "listio/server/serving.hpp"

namespace strider::listio {
namespace {

/// Two clients, of which each ends a change only when the other one has begun its next, or a while later.
TEST(FillTurnsTest, AFillStartsWhileChangesOverlapWithoutAnEnd) {
  constexpr int rounds = 300;
  FillTurns turns;
  std::array<std::atomic<int>, 2> begun{};
  std::atomic<bool> has_started = false;
  const auto change = [&](std::size_t client) {
    while (!has_started && begun[client] < rounds)
      turns.carry_out({DataCopy::first, false, 1}, true, [&] {
        const int other = begun[1 - client];
        ++begun[client];
        for (const Deadline deadline = in(std::chrono::milliseconds(20));
             begun[1 - client] == other && !has_passed(deadline);)
          std::this_thread::yield();
        return Errno{0};
      });
  };
  std::jthread first([&] { change(0); }), second([&] { change(1); });
  while (begun[0] == 0 || begun[1] == 0) std::this_thread::yield();
  turns.start({7, 1, 2}, true);
  has_started = true;
  EXPECT_LT(begun[0], rounds);
  EXPECT_LT(begun[1], rounds);
}

}  // namespace
}  // namespace strider::listio
