#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "foundation/deadline.hpp"
#include "listio/protocol/messages.hpp"

namespace strider::listio {

/// Threads that execute the requests of clients. Those of one client are executed in order, one at a time; clients take
/// turns, so that one with much to do does not hold up the others.
///
/// Nor does a file that takes long: at most as many jobs as there are threads are for one file at a time, and a job
/// that takes longer than `most_job_time` does not count: another thread takes its place.
///
/// A change that a lost client began is not overtaken: until that is done, no job of others for the file
/// begins.
class WorkerPool {
 public:
  using Job = std::function<void()>;
  /// Subject of a job.
  struct Subject {
    std::optional<FileId> file;  ///< nothing if it is for none in particular
    bool changes = false;        ///< the file
  };
  static constexpr std::chrono::milliseconds most_job_time{50};
  static constexpr std::size_t most_growth = 16;  ///< threads at most, as a multiple of those it begins with

  explicit WorkerPool(unsigned threads);
  /// Waits for jobs that have begun; the others are forgotten.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// `give_up` takes the place of `job` if that has waited for a client that is gone until the deadline.
  void add(std::uint64_t client, const Subject& subject, Job job, const Deadline& due, Job give_up);
  /// Of a client that is gone: removes its waiting jobs. Whether nothing of it is being done at the moment.
  bool drop(std::uint64_t client);

  /// Whether a job may begin at once, in the caller's own thread. Then `end` or `hand_over` has to follow.
  bool begin(std::uint64_t client, const Subject& subject);
  void end(std::uint64_t client);
  /// Lets a thread execute the jobs that the caller could have begun.
  void hand_over(std::uint64_t client, Job job);

  /// Puts other threads in the place of those whose jobs take long, if a client waits. When to call it again.
  Deadline relieve();
  /// Gives up jobs that have waited too long for clients that are gone. When to call it again.
  Deadline give_up();

 private:
  struct Item {
    Subject subject;
    Job job;
    Deadline due;
    Job give_up;
  };
  struct Client {
    std::deque<Item> items;
    enum class State { idle, waiting, ready, running } state = State::idle;
    Subject subject;          ///< of the job that is ready or runs
    Deadline began;           ///< of the job that runs
    bool is_counted = false;  ///< the job that runs is one of `working_`
    bool is_gone = false;
  };
  struct File {
    std::size_t jobs = 0;               ///< ready or running
    std::size_t left_over = 0;          ///< changes that are made for clients that are gone
    std::deque<std::uint64_t> waiting;  ///< clients whose next job is for this file
  };

  void run();
  bool admit(const Subject& subject);
  void leave(const Client& client);
  std::vector<std::uint64_t> take_late(const Deadline& now, Deadline& next);
  void queue(std::uint64_t id, Client& client);
  void make_ready(std::uint64_t id, Client& client);
  void finish(std::uint64_t id);

  const std::size_t most_working_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::unordered_map<std::uint64_t, Client> clients_;  ///< that have jobs
  std::unordered_map<FileId, File> files_;             ///< that have jobs
  std::deque<std::uint64_t> turns_;                    ///< clients that are ready
  std::size_t working_ = 0, stalled_ = 0;              ///< threads with jobs: those that count, and the others
  std::size_t left_over_ = 0;                          ///< of all files
  Deadline next_relief_{};
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace strider::listio
