#pragma once
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace strider::listio {

/// Keeps an event loop going while the thread that runs it does something that may take long. Where that is done soon
/// nothing changes hands, which would cost as much as a small request; where it has waited for longer than 10 ms (20 ms
/// at the latest), or has lasted for 100 ms without waiting, a thread that stands by takes the loop over.
class StandIn {
 public:
  /// `turn` is one round of the loop, `wake` ends one that waits.
  StandIn(std::function<void()> turn, std::function<void()> wake);
  ~StandIn();
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;

  /// The calling thread runs the loop as long as the object lives.
  class Duty {
   public:
    explicit Duty(StandIn& stand_in) : lock_(stand_in.loop_) { stand_in.on_duty_ = ::gettid(); }

   private:
    std::lock_guard<std::mutex> lock_;
  };

  /// Of the thread on duty: does `work`, during which the loop may go on. Whether another thread ran it.
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
  std::uint64_t covered_ = 0;             ///< the last one during which the loop was taken over; of who holds the loop
  std::atomic<pid_t> on_duty_ = 0;        ///< the thread
  std::atomic<bool> asleep_ = false;
  std::mutex mutex_;
  std::condition_variable called_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace strider::listio
