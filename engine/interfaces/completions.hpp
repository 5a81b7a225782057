#pragma once
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "foundation/error.hpp"

namespace strider {

/// Requests in flight, each in parts that a library completes in threads of its own.
class Completions {
 public:
  explicit Completions(std::uint32_t depth) : missing_(depth) { done_.reserve(depth); }

  /// Before the parts of a slot's request are handed over.
  void begin(std::uint32_t slot, std::size_t parts) {
    const std::lock_guard lock(mutex_);
    missing_[slot] = parts;
    in_flight_ += parts;
  }
  /// In any thread. What comes last of a request completes it.
  void part_done(std::uint32_t slot, std::optional<IoError> problem = {}) {
    const std::lock_guard lock(mutex_);
    if (problem && !problem_) problem_ = std::move(problem);
    if (--missing_[slot] == 0) done_.push_back(slot);
    --in_flight_;
    // Under the lock: who waits may destroy this as soon as it is free.
    changed_.notify_one();
  }
  /// Waits for requests that are done; how many there are in `slots`. Throws where one has failed.
  std::size_t wait(std::span<std::uint32_t> slots) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !done_.empty() || problem_; });
    if (problem_) throw IoError(*problem_);
    std::copy(done_.begin(), done_.end(), slots.begin());
    const std::size_t count = done_.size();
    done_.clear();
    return count;
  }
  void wait_for_all() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return in_flight_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::size_t> missing_;  ///< parts of the request in each slot
  std::vector<std::uint32_t> done_;
  std::size_t in_flight_ = 0;
  std::optional<IoError> problem_;
};

}  // namespace strider
