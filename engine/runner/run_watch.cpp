#include "runner/run_watch.hpp"

#include <signal.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <utility>

#include "foundation/folder_identity.hpp"
#include "ranks/interrupt.hpp"

namespace strider {
namespace {

constexpr double between_looks_s = 4, time_to_stop_s = 20;
constexpr int misses_to_believe = 2;  // names of a network file system may be gone for a moment
constexpr int could_not_run = 3;

}  // namespace

RunWatch::RunWatch(Signs signs, std::string name) : signs_(std::move(signs)), name_(std::move(name)) {
  folder_is_gone();  // from now on it is known
  sigset_t all{}, before{};
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the rank
  thread_ = std::thread([this] { watch(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

RunWatch::~RunWatch() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  stopping_.notify_all();
  thread_.join();
  if (const std::string signal = foreign_interrupt(); !signal.empty())
    std::cerr << "strider-engine: " << name_ << " received " << signal << '\n';
}

void RunWatch::watch() {
  std::string why;
  // Not all ranks at a time: they ask the file system that is measured.
  const auto share = static_cast<double>(std::hash<std::string>{}(name_) % 1000) / 1000;
  if (wait_s(share * between_looks_s)) return;
  while (why.empty()) {
    if (wait_s(between_looks_s)) return;
    why = look();
  }
  std::cerr << "strider-engine: " << name_ << ": the run is over for strider run: " << why
            << ": this rank stops, and writes nothing more\n";
  note_end_of_run();
  if (wait_s(time_to_stop_s)) return;
  std::cerr << "strider-engine: " << name_ << ": not stopped after " << time_to_stop_s << " s: this rank exits\n";
  std::_Exit(could_not_run);
}

std::string RunWatch::look() {
  if (signs_.events_are_over && signs_.events_are_over()) return "its events were closed, moved or continued";
  misses_ = folder_is_gone() ? misses_ + 1 : 0;
  return misses_ >= misses_to_believe ? "its folder " + signs_.folder + " was removed or replaced" : "";
}

/// Only once it has been there: what is wrong with it at the start is an error of a case.
bool RunWatch::folder_is_gone() {
  if (signs_.folder.empty()) return false;
  struct stat found{};
  if (::lstat(signs_.folder.c_str(), &found) != 0) return errno == ENOENT && folder_inode_ != 0;
  if (folder_inode_ == 0) folder_inode_ = found.st_ino;
  return found.st_ino != folder_inode_ && !has_numbers_of_its_client(signs_.folder);
}

/// Whether the rank's work ended meanwhile.
bool RunWatch::wait_s(double seconds) {
  std::unique_lock lock(mutex_);
  return stopping_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return stops_; });
}

}  // namespace strider
