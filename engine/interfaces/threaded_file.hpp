#pragma once
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "interfaces/interface.hpp"

namespace strider {

/// Keeps requests in flight where each call waits for its bytes: a thread for each of them.
class ThreadedFile final : public QueuedFile {
 public:
  /// Moves a request's bytes, or throws IoError. Called by one thread.
  using Mover = std::function<void(Direction, const Request&)>;

  /// `file` syncs, closes and moves what is not queued; there are as many `movers` as requests in flight.
  ThreadedFile(std::unique_ptr<File> file, std::vector<Mover> movers);
  ThreadedFile(const ThreadedFile&) = delete;
  ThreadedFile& operator=(const ThreadedFile&) = delete;
  ~ThreadedFile() override { stop(); }

  void submit(Direction direction, const Request& request, std::uint32_t slot) override;
  std::size_t complete(std::span<std::uint32_t> slots) override;
  std::size_t complete_within(std::span<std::uint32_t> slots, std::uint64_t most_ns) override;
  void write(const Request& request) override { file_->write(request); }
  void read(const Request& request) override { file_->read(request); }
  void sync() override { file_->sync(); }
  /// Requests that no thread has begun are dropped, the others waited for.
  void close() override {
    stop();
    file_->close();
  }
  std::uint64_t size() override { return file_->size(); }
  Facts facts() const override;

 private:
  struct Slot {
    Direction direction = Direction::read;
    Request request;
    std::exception_ptr failure;
  };
  void serve(const Mover& mover);
  std::size_t take_done(std::span<std::uint32_t> slots, std::unique_lock<std::mutex> lock);
  void stop();

  std::unique_ptr<File> file_;
  std::vector<Mover> movers_;
  std::vector<Slot> slots_;
  std::mutex mutex_;  ///< of what follows
  std::condition_variable submitted_, completed_;
  std::vector<std::uint32_t> waiting_, done_;  ///< slots
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace strider
