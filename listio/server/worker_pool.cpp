#include "listio/server/worker_pool.hpp"

namespace strider::listio {

WorkerPool::WorkerPool(unsigned threads) {
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ready_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::add(std::uint64_t client, Job job) {
  {
    const std::lock_guard lock(mutex_);
    Queue& queue = queues_[client];
    queue.jobs.push_back(std::move(job));
    if (queue.busy) return;
    queue.busy = true;
    turns_.push_back(client);
  }
  ready_.notify_one();
}

bool WorkerPool::drop(std::uint64_t client) {
  const std::lock_guard lock(mutex_);
  const auto found = queues_.find(client);
  if (found == queues_.end()) return true;
  found->second.jobs.clear();
  return !found->second.running;
}

void WorkerPool::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ready_.wait(lock, [this] { return stopping_ || !turns_.empty(); });
    if (stopping_) return;
    const std::uint64_t client = turns_.front();
    turns_.pop_front();
    Queue& queue = queues_[client];
    if (!queue.jobs.empty()) {
      const Job job = std::move(queue.jobs.front());
      queue.jobs.pop_front();
      queue.running = true;
      lock.unlock();
      job();
      lock.lock();
      queue.running = false;  // of an unordered map: elements stay where they are
    }
    if (queue.jobs.empty()) {
      queues_.erase(client);
    } else {
      turns_.push_back(client);
      ready_.notify_one();
    }
  }
}

}  // namespace strider::listio
