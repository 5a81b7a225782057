#pragma once
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace strider {

/// Looks in a thread of its own, every few seconds, whether the run is over for its starter while this rank still
/// works: the starter may have lost its connection to the launcher, have ended the run and removed its folder. Then
/// this rank stops as after an interruption; if the others do not answer, the process exits.
class RunWatch {
 public:
  struct Signs {
    std::function<bool()> events_are_over;  ///< on rank 0; empty elsewhere
    std::string folder;                     ///< the run's own; empty: it may go away and come back
  };
  /// `name`: of this rank, for the message.
  RunWatch(Signs signs, std::string name);
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;
  ~RunWatch();

 private:
  void watch();
  /// Why the run is over; empty where it is not.
  std::string look();
  bool folder_is_gone();
  bool wait_s(double seconds);

  Signs signs_;
  std::string name_;
  std::uint64_t folder_inode_ = 0;  ///< 0: not seen yet
  int misses_ = 0;                  ///< looks in a row that did not find it
  bool stops_ = false;
  std::mutex mutex_;
  std::condition_variable stopping_;
  std::thread thread_;
};

}  // namespace strider
