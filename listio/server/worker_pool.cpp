#include "listio/server/worker_pool.hpp"

#include <algorithm>

namespace strider::listio {

WorkerPool::WorkerPool(unsigned threads) : most_working_(threads) {
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

void WorkerPool::add(std::uint64_t client, const Subject& subject, Job job, const Deadline& due, Job give_up) {
  const std::lock_guard lock(mutex_);
  Client& of = clients_[client];
  of.items.push_back({subject, std::move(job), due, std::move(give_up)});
  if (of.state == Client::State::idle) queue(client, of);
}

bool WorkerPool::drop(std::uint64_t client) {
  const std::lock_guard lock(mutex_);
  const auto found = clients_.find(client);
  if (found == clients_.end()) return true;
  Client& gone = found->second;
  gone.items.clear();
  if (gone.state != Client::State::running) return true;
  if (!gone.is_gone && gone.subject.file && gone.subject.changes) {
    ++files_[*gone.subject.file].left_over;
    ++left_over_;
  }
  gone.is_gone = true;
  return false;
}

bool WorkerPool::begin(std::uint64_t client, const Subject& subject) {
  const std::lock_guard lock(mutex_);
  if (clients_.contains(client) || !admit(subject)) return false;
  Client& of = clients_[client];
  of.state = Client::State::running;
  of.subject = subject;
  return true;
}

void WorkerPool::end(std::uint64_t client) {
  const std::lock_guard lock(mutex_);
  finish(client);
}

void WorkerPool::hand_over(std::uint64_t client, Job job) {
  const std::lock_guard lock(mutex_);
  Client& of = clients_[client];
  if (of.is_gone) return finish(client);
  of.items.push_front({of.subject, std::move(job), {}, {}});
  make_ready(client, of);
}

Deadline WorkerPool::relieve() {
  const std::lock_guard lock(mutex_);
  if (turns_.empty() || working_ < most_working_) return Deadline::max();
  const Deadline now = std::chrono::steady_clock::now();
  if (now < next_relief_) return next_relief_;
  next_relief_ = now + most_job_time;
  for (auto& [id, client] : clients_) {
    if (!client.is_counted) continue;
    if (now - client.began < most_job_time) {
      next_relief_ = std::min(next_relief_, client.began + most_job_time);
      continue;
    }
    client.is_counted = false;
    --working_;
    ++stalled_;
  }
  const std::size_t wanted = std::min(most_working_ + stalled_, most_working_ * most_growth);
  while (threads_.size() < wanted) threads_.emplace_back([this] { run(); });
  ready_.notify_all();
  return next_relief_;
}

Deadline WorkerPool::give_up() {
  std::vector<Job> late;
  Deadline next = Deadline::max();
  {
    const std::lock_guard lock(mutex_);
    if (left_over_ == 0) return next;
    const Deadline now = std::chrono::steady_clock::now();
    for (const std::uint64_t id : take_late(now, next)) {
      Client& client = clients_[id];
      if (!client.items.empty()) {
        late.push_back(std::move(client.items.front().give_up));
        client.items.pop_front();
      }
      if (client.items.empty()) {
        clients_.erase(id);
      } else {
        queue(id, client);
        next = now;
      }
    }
  }
  for (const Job& each : late) each();
  return next;
}

/// Takes clients out of the queues of files whose next jobs are late; `next` becomes when the next one will be.
std::vector<std::uint64_t> WorkerPool::take_late(const Deadline& now, Deadline& next) {
  std::vector<std::uint64_t> late;
  for (auto& [number, file] : files_) {
    if (file.left_over == 0) continue;
    std::erase_if(file.waiting, [&](std::uint64_t id) {
      const std::deque<Item>& items = clients_[id].items;
      const Deadline due = items.empty() ? now : items.front().due;
      if (due <= now) late.push_back(id);
      else next = std::min(next, due);
      return due <= now;
    });
  }
  return late;
}

/// Whether a job for a file may be ready now; it counts from then on.
bool WorkerPool::admit(const Subject& subject) {
  if (!subject.file) return true;
  File& file = files_[*subject.file];
  if (file.jobs >= most_working_ || file.left_over > 0) return false;
  ++file.jobs;
  return true;
}

/// A client's job for a file is done: others may be ready.
void WorkerPool::leave(const Client& client) {
  if (!client.subject.file) return;
  const FileId id = *client.subject.file;
  File& file = files_[id];
  --file.jobs;
  if (client.is_gone && client.subject.changes) {
    --file.left_over;
    --left_over_;
  }
  while (!file.waiting.empty() && admit({id})) {
    const std::uint64_t next = file.waiting.front();
    file.waiting.pop_front();
    make_ready(next, clients_[next]);
  }
  if (file.jobs == 0 && file.waiting.empty()) files_.erase(id);
}

/// Of a client whose next job is looked at for the first time.
void WorkerPool::queue(std::uint64_t id, Client& client) {
  client.subject = client.items.front().subject;
  if (admit(client.subject)) return make_ready(id, client);
  client.state = Client::State::waiting;
  files_[*client.subject.file].waiting.push_back(id);
}

void WorkerPool::make_ready(std::uint64_t id, Client& client) {
  client.state = Client::State::ready;
  turns_.push_back(id);
  ready_.notify_one();
}

/// The job of a client that was ready or ran is done, or was dropped.
void WorkerPool::finish(std::uint64_t id) {
  const auto found = clients_.find(id);  // of an unordered map: elements stay where they are
  Client& client = found->second;
  leave(client);
  if (client.items.empty()) clients_.erase(found);
  else queue(id, client);
}

void WorkerPool::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ready_.wait(lock, [this] { return stopping_ || (!turns_.empty() && working_ < most_working_); });
    if (stopping_) return;
    const std::uint64_t id = turns_.front();
    turns_.pop_front();
    Client& client = clients_[id];
    if (!client.items.empty()) {
      const Job job = std::move(client.items.front().job);
      client.items.pop_front();
      client.state = Client::State::running;
      client.began = std::chrono::steady_clock::now();
      client.is_counted = true;
      ++working_;
      lock.unlock();
      job();
      lock.lock();
      --(client.is_counted ? working_ : stalled_);
      client.is_counted = false;
    }
    finish(id);
  }
}

}  // namespace strider::listio
