#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

namespace strider::listio {

/// Threads that do what clients ask for. What one client asks for is done in order, one at a time; clients take turns,
/// so that one with much to do does not hold up the others.
class WorkerPool {
 public:
  using Job = std::function<void()>;

  explicit WorkerPool(unsigned threads);
  /// Waits for jobs that have begun; the others are forgotten.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  void add(std::uint64_t client, Job job);
  /// Forgets what a client still waits for. Whether nothing of it is being done at the moment.
  bool drop(std::uint64_t client);

 private:
  struct Queue {
    std::deque<Job> jobs;
    bool busy = false;  ///< a thread works on it, or it is in `turns_`
    bool running = false;
  };
  void run();

  std::mutex mutex_;
  std::condition_variable ready_;
  std::unordered_map<std::uint64_t, Queue> queues_;
  std::deque<std::uint64_t> turns_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace strider::listio
