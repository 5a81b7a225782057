// strider-locks VOLUME ROUNDS TRIALS: round trips of locks and cells beside the size of a file, one JSON line for each
// round, and lists that overlapping writers tear, with locks and without.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "foundation/clock.hpp"
#include "listio/client/client.hpp"

namespace strider::listio {
namespace {

constexpr int window_calls = 50;  // of one round: short, so that other work leaves some of them alone

template <typename Action>
void print_round(const char* what, const Action& action) {
  const std::uint64_t start = monotonic_ns();
  for (int i = 0; i < window_calls; ++i) action();
  const double us = static_cast<double>(monotonic_ns() - start) * 1e-3 / window_calls;
  std::printf("{\"what\": \"%s\", \"us\": %.3f}\n", what, us);
}

void measure_round_trips(const Volume& volume, int rounds) {
  Client client(volume);
  const File file = client.open("locked", Creation::if_missing, 0644, {.servers = 1, .first = 0});
  const ByteRun one{0, 4096};
  std::vector<ByteRun> many;
  for (std::uint64_t i = 0; i < 128; ++i) many.push_back({i * 8192, 4096});
  const CellId cell = client.make_cell();
  for (int round = 0; round < rounds; ++round) {
    print_round("size of a file", [&] { client.size(file); });
    print_round("lock and unlock", [&] { client.unlock(client.lock(file, {&one, 1}, LockKind::exclusive)); });
    print_round("lock and unlock 128 ranges", [&] { client.unlock(client.lock(file, many, LockKind::exclusive)); });
    print_round("fetch and add", [&] { client.fetch_add(cell, 1); });
  }
}

/// Three writers of one list, each with numbers of its own, and a reader that looks whether all it reads is one number.
class Trials {
 public:
  Trials(const Volume& volume, bool locks) : volume_(volume), locks_(locks) {
    for (std::uint64_t i = 0; i < 16; ++i) runs_.push_back({i * 9000, 3000});
    bytes_ = 16 * 3000;
  }
  void run(int wanted) {
    Client reader(volume_);
    const File file = reader.open("overlap", Creation::if_missing);
    transfer(reader, file, LockKind::exclusive, 0);
    std::atomic<int> written = 0;
    std::vector<std::thread> writers;
    for (int number = 1; number <= 3; ++number)
      writers.emplace_back([&, number] {
        Client client(volume_);
        while (written < wanted) {
          transfer(client, file, LockKind::exclusive, number + 10 * (written % 20));
          ++written;
        }
      });
    int reads = 0, torn = 0;
    for (; written < wanted || reads < wanted; ++reads) torn += transfer(reader, file, LockKind::shared, 0) ? 0 : 1;
    for (std::thread& writer : writers) writer.join();
    std::printf("{\"locks\": %s, \"writes\": %d, \"reads\": %d, \"torn\": %d}\n", locks_ ? "true" : "false",
                written.load(), reads, torn);
  }

 private:
  /// Writes (exclusive) or reads (shared); whether all bytes are equal.
  bool transfer(Client& client, const File& file, LockKind kind, int number) const {
    std::vector<std::byte> bytes(bytes_, static_cast<std::byte>(number));
    const iovec memory{bytes.data(), bytes.size()};
    const LockId lock = locks_ ? client.lock(file, runs_, kind) : 0;
    if (kind == LockKind::exclusive) client.write_list(file, {&memory, 1}, runs_);
    else client.read_list(file, {&memory, 1}, runs_);
    if (locks_) client.unlock(lock);
    return std::ranges::all_of(bytes, [&](std::byte each) { return each == bytes.front(); });
  }

  Volume volume_;
  bool locks_;
  std::vector<ByteRun> runs_;
  std::size_t bytes_ = 0;
};

}  // namespace
}  // namespace strider::listio

int main(int count, char** words) {
  using namespace strider::listio;
  if (count != 4) {
    std::fputs("strider-locks VOLUME ROUNDS TRIALS\n", stderr);
    return 2;
  }
  try {
    const Volume volume = read_volume(words[1]);
    measure_round_trips(volume, std::atoi(words[2]));
    for (const bool locks : {false, true}) Trials(volume, locks).run(std::atoi(words[3]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "strider-locks: %s\n", error.what());
    return 1;
  }
  return 0;
}
