#pragma once
#define FUSE_USE_VERSION 35
#include <fuse_lowlevel.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <thread>

namespace forgetfs {

/// Requests that wait: for a time, or until they are interrupted or let go. No thread waits with them, so that any
/// number of them leaves the rest of the file system alive.
class Parking {
 public:
  Parking();
  ~Parking() { stop(); }
  /// Carries out a request later; with EINTR instead if the kernel interrupts it before.
  void hold(fuse_req_t request, std::optional<std::chrono::milliseconds> time, std::function<void()> carry_out);
  /// Answers all of them with an error; how many those were.
  std::size_t let_go(int error);
  /// Forgets what waits; to be called before the session ends.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;
  struct Held {
    fuse_req_t request;
    std::optional<Clock::time_point> due;
    std::function<void()> carry_out;
    bool settled = false;      ///< the kernel can interrupt it
    std::optional<int> error;  ///< to be answered with
  };
  static void interrupted(fuse_req_t request, void* self);
  void run();
  std::list<Held> take_ready();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Held> held_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace forgetfs
