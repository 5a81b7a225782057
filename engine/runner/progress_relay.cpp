#include "runner/progress_relay.hpp"

#include <chrono>
#include <thread>
#include <utility>

namespace strider {
namespace {

constexpr int progress_tag = 921;
constexpr int most_attempts = 100;
constexpr std::chrono::milliseconds between_attempts{10};

}  // namespace

void ProgressRelay::send(std::string line) {
  int done = 1;
  MPI_Test(&request_, &done, MPI_STATUS_IGNORE);
  if (done == 0) return;
  line_ = std::move(line);
  MPI_Isend(line_.data(), static_cast<int>(line_.size()), MPI_CHAR, 0, progress_tag, MPI_COMM_WORLD, &request_);
  ++sent_;
}

void ProgressRelay::send_last(const std::string& lines) {
  const std::uint64_t before = sent_;
  for (int attempt = 0; attempt < most_attempts && sent_ == before; ++attempt) {
    send(lines);
    if (sent_ == before) std::this_thread::sleep_for(between_attempts);
  }
}

std::uint64_t ProgressRelay::finish() {
  wait(request_, idle);  // rank 0 comes to it when it waits for this rank's report
  return std::exchange(sent_, 0);
}

void ProgressRelay::look() {
  for (int there = 1; there != 0;) {
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, progress_tag, MPI_COMM_WORLD, &there, &status);
    if (there != 0) take(status);
  }
}

void ProgressRelay::take_all(int sender, std::uint64_t sent) {
  while (taken_[sender] < sent) {
    MPI_Status status;
    MPI_Probe(sender, progress_tag, MPI_COMM_WORLD, &status);  // it was sent before the report
    take(status);
  }
  taken_.erase(sender);
}

void ProgressRelay::take(const MPI_Status& status) {
  int bytes = 0;
  MPI_Get_count(&status, MPI_CHAR, &bytes);
  std::string line(static_cast<std::size_t>(bytes), ' ');
  MPI_Recv(line.data(), bytes, MPI_CHAR, status.MPI_SOURCE, progress_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  ++taken_[status.MPI_SOURCE];
  events_.add({.lines = std::move(line)});
}

}  // namespace strider
