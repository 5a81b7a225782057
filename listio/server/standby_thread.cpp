#include "listio/server/standby_thread.hpp"

#include <chrono>
#include <exception>
#include <fstream>
#include <string>
#include <utility>

namespace strider::listio {
namespace {

constexpr std::chrono::milliseconds look_every{10};
constexpr int most_idle_looks = 20;  // then it sleeps until it is called
constexpr int most_busy_looks = 10;  // at a thread that runs, or would if it had a processor

}  // namespace

StandbyThread::StandbyThread(std::function<void()> turn, std::function<void()> wake)
    : turn_(std::move(turn)), wake_(std::move(wake)), thread_([this] { stand_by(); }) {}

StandbyThread::~StandbyThread() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  called_.notify_one();
  thread_.join();
}

void StandbyThread::begin() {
  work_ = ++works_;
  if (asleep_) {
    const std::lock_guard lock(mutex_);
    asleep_ = false;
    called_.notify_one();
  }
  loop_.unlock();
}

bool StandbyThread::end() {
  work_ = 0;
  if (!loop_.try_lock()) {
    wake_();
    loop_.lock();
  }
  return covered_ == works_;
}

/// False: it is over.
bool StandbyThread::wait_a_moment() {
  std::unique_lock lock(mutex_);
  return !called_.wait_for(lock, look_every, [this] { return ending_; });
}

/// Whether the thread on duty waits, but not for a processor.
bool StandbyThread::waits() const {
  std::ifstream file("/proc/self/task/" + std::to_string(on_duty_) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(") ");
  return name_end == std::string::npos || text[name_end + 2] != 'R';
}

void StandbyThread::stand_by() {
  std::uint64_t seen = 0;
  for (int idle = 0, looks = 0; wait_a_moment();) {
    const std::uint64_t current = work_;
    idle = works_ == seen ? idle + 1 : 0;
    looks = current != 0 && current == seen ? looks + 1 : 0;
    const bool takes_long = looks > most_busy_looks || (looks > 0 && waits());
    seen = works_;
    if (takes_long) {
      const std::lock_guard lock(loop_);
      try {
        while (work_ == current) {
          covered_ = current;
          turn_();
        }
      } catch (const std::exception&) {
        return;  // the thread on duty meets the same error when it is back, and reports it
      }
      idle = 0;
    } else if (idle > most_idle_looks) {
      std::unique_lock lock(mutex_);
      asleep_ = true;
      if (works_ != seen) asleep_ = false;
      called_.wait(lock, [this] { return ending_ || !asleep_; });
      idle = 0;
    }
  }
}

}  // namespace strider::listio
