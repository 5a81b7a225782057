#pragma once
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace strider::listio {

/// Runs an event loop while its thread executes work that may take long. Short work stays in the thread: a handover
/// costs as much as a small request. Work that waits for longer than 10 ms (20 ms at the latest), or runs for 100 ms
/// without waiting, makes the standby thread take over the loop.
class StandbyThread {
 public:
  /// `turn`: one round of the loop. `wake` ends a round that waits.
  StandbyThread(std::function<void()> turn, std::function<void()> wake);
  ~StandbyThread();
  StandbyThread(const StandbyThread&) = delete;
  StandbyThread& operator=(const StandbyThread&) = delete;

  /// While the object lives, the calling thread runs the loop.
  class Duty {
   public:
    explicit Duty(StandbyThread& standby) : lock_(standby.loop_) { standby.on_duty_ = ::gettid(); }

   private:
    std::lock_guard<std::mutex> lock_;
  };

  /// Called by the thread on duty: executes `work`. Returns whether the standby thread ran the loop meanwhile.
  template <typename Work>
  bool step_aside(const Work& work) {
    begin();
    try {
      work();
    } catch (...) {
      end();
      throw;
    }
    return end();
  }

 private:
  void begin();
  bool end();
  void stand_by();
  bool wait_a_moment();
  bool waits() const;

  std::function<void()> turn_, wake_;
  std::mutex loop_;                       ///< held by the thread that runs the loop
  std::atomic<std::uint64_t> works_ = 0;  ///< begun so far
  std::atomic<std::uint64_t> work_ = 0;   ///< the one that is being done; 0: none
  std::uint64_t covered_ = 0;             ///< the last one during which the loop was taken over; of the loop's holder
  std::atomic<pid_t> on_duty_ = 0;        ///< the thread
  std::atomic<bool> asleep_ = false;
  std::mutex mutex_;
  std::condition_variable called_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace strider::listio
