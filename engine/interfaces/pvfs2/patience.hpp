#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace strider {

/// How the wait for a call ended: with its result, or because servers are silent.
struct Pvfs2Wait {
  std::optional<int> result;
  std::vector<std::string> silent;
};

/// Waits for a call for as long as the servers answer, however slow they are: a sync may take minutes. A silent server
/// ends it after `limit`: half of that passes before they are asked, and they have the other half to answer.
/// `result()` waits a moment; `silent(time)` returns the servers that do not answer within it.
template <typename Clock = std::chrono::steady_clock, typename Result, typename Silent>
Pvfs2Wait wait_patiently(std::chrono::milliseconds limit, const Result& result, const Silent& silent) {
  const std::chrono::milliseconds half = limit / 2;
  auto asks_at = Clock::now() + half;
  for (;;) {
    if (const std::optional<int> found = result()) return {found, {}};
    if (Clock::now() < asks_at) continue;
    std::vector<std::string> quiet = silent(half);
    if (const std::optional<int> found = result()) return {found, {}};
    if (!quiet.empty()) return {{}, std::move(quiet)};
    asks_at = Clock::now() + half;
  }
}

}  // namespace strider
