#include "interfaces/threaded_file.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <system_error>
#include <utility>

namespace strider {
namespace {

/// Signals are for the thread that runs the case.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

ThreadedFile::ThreadedFile(std::unique_ptr<File> file, std::vector<Mover> movers)
    : file_(std::move(file)), movers_(std::move(movers)), slots_(movers_.size()) {
  waiting_.reserve(slots_.size());
  done_.reserve(slots_.size());
  const SignalsBlocked blocked;
  try {
    for (const Mover& mover : movers_) threads_.emplace_back([this, &mover] { serve(mover); });
  } catch (const std::system_error& error) {
    stop();
    throw IoError(
        {"pthread_create", "", 0, 0, error.code().value()},
        "cannot start another I/O thread; running threads: " + std::to_string(threads_.size()) + ": " + error.what());
  }
}

void ThreadedFile::submit(Direction direction, const Request& request, std::uint32_t slot) {
  slots_[slot] = {direction, request, nullptr};
  {
    const std::scoped_lock lock(mutex_);
    waiting_.push_back(slot);
  }
  submitted_.notify_one();
}

std::size_t ThreadedFile::complete(std::span<std::uint32_t> slots) {
  std::unique_lock lock(mutex_);
  completed_.wait(lock, [this] { return !done_.empty(); });
  return take_done(slots, std::move(lock));
}

std::size_t ThreadedFile::complete_within(std::span<std::uint32_t> slots, std::uint64_t most_ns) {
  std::unique_lock lock(mutex_);
  completed_.wait_for(lock, std::chrono::nanoseconds(most_ns), [this] { return !done_.empty(); });
  return take_done(slots, std::move(lock));
}

std::size_t ThreadedFile::take_done(std::span<std::uint32_t> slots, std::unique_lock<std::mutex> lock) {
  const std::size_t count = std::min(slots.size(), done_.size());
  std::copy_n(done_.begin(), count, slots.begin());
  done_.erase(done_.begin(), done_.begin() + static_cast<std::ptrdiff_t>(count));
  lock.unlock();
  for (const std::uint32_t slot : slots.first(count))
    if (slots_[slot].failure != nullptr) std::rethrow_exception(std::exchange(slots_[slot].failure, nullptr));
  return count;
}

Facts ThreadedFile::facts() const {
  Facts facts = file_->facts();
  facts["threads"] = std::to_string(threads_.size());
  return facts;
}

void ThreadedFile::serve(const Mover& mover) {
  std::unique_lock lock(mutex_);
  while (true) {
    submitted_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    const std::uint32_t number = waiting_.front();  // the first one first: storage may care
    waiting_.erase(waiting_.begin());
    lock.unlock();
    Slot& slot = slots_[number];
    try {
      mover(slot.direction, slot.request);
    } catch (...) {
      slot.failure = std::current_exception();
    }
    lock.lock();
    done_.push_back(number);
    completed_.notify_one();
  }
}

void ThreadedFile::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  submitted_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace strider
