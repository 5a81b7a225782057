#pragma once
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

namespace strider {

/// How long a file system may take to answer at all.
inline constexpr std::chrono::seconds connect_limit{15};

/// What `call` returns; nothing where it takes too long. It then goes on alone, so it must hold whatever it works on.
template <typename Call>
std::optional<int> result_within(std::chrono::seconds limit, Call call) {
  std::packaged_task<int()> task(std::move(call));
  std::future<int> result = task.get_future();
  std::thread(std::move(task)).detach();
  if (result.wait_for(limit) != std::future_status::ready) return {};
  return result.get();
}

}  // namespace strider
