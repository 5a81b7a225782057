// strider-many-clients VOLUME CLIENTS BYTES SECONDS: so many clients, each in a thread and with a file of its own,
// write and read BYTES in turn for SECONDS. Prints their latencies as one JSON line. With BYTES 0 they connect, print
// "ready", and are idle until the end of standard input.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "foundation/clock.hpp"
#include "listio/client/client.hpp"

namespace strider::listio {
namespace {

ClientOptions options_of_clients() {
  ClientOptions options;
  options.method = Method::pack;  // the others are measured first
  options.patience = std::chrono::seconds(60);
  return options;
}

double us_since(std::uint64_t start_ns) { return static_cast<double>(monotonic_ns() - start_ns) * 1e-3; }

/// What one client saw.
struct Result {
  double connect_us = 0;
  std::vector<double> us{};  ///< of each request
  std::string error{};
};

void transfer(Client& client, const File& file, std::vector<std::byte>& bytes, std::uint64_t until_ns, Result& result) {
  for (bool writes = true; monotonic_ns() < until_ns; writes = !writes) {
    const std::uint64_t start = monotonic_ns();
    if (writes) client.write(file, bytes, 0);
    else client.read(file, bytes, 0);
    result.us.push_back(us_since(start));
  }
}

void run_client(const Volume& volume, std::size_t number, std::size_t bytes, std::uint64_t duration_ns,
                std::latch& connected, Result& result) {
  std::unique_ptr<Client> client;
  File file;
  try {
    const std::uint64_t start = monotonic_ns();
    client = std::make_unique<Client>(volume, options_of_clients());
    client->connect();
    result.connect_us = us_since(start);
    file = client->open("client-" + std::to_string(number), Creation::if_missing);
  } catch (const std::exception& error) {
    result.error = error.what();
  }
  connected.arrive_and_wait();
  if (!result.error.empty()) return;
  try {
    std::vector<std::byte> memory(bytes, std::byte{7});
    transfer(*client, file, memory, monotonic_ns() + duration_ns, result);
  } catch (const std::exception& error) {
    result.error = error.what();
  }
}

double percentile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

void print(const std::vector<Result>& results) {
  std::vector<double> us, connect_us;
  std::size_t errors = 0;
  for (const Result& each : results) {
    us.insert(us.end(), each.us.begin(), each.us.end());
    connect_us.push_back(each.connect_us);
    errors += each.error.empty() ? 0 : 1;
    if (!each.error.empty()) std::fprintf(stderr, "%s\n", each.error.c_str());
  }
  std::sort(us.begin(), us.end());
  std::sort(connect_us.begin(), connect_us.end());
  std::printf(
      "{\"clients\": %zu, \"errors\": %zu, \"requests\": %zu, \"p50_us\": %.1f, \"p95_us\": %.1f, \"p99_us\": %.1f, "
      "\"max_us\": %.1f, \"connect_max_us\": %.1f}\n",
      results.size(), errors, us.size(), percentile(us, 0.5), percentile(us, 0.95), percentile(us, 0.99),
      percentile(us, 1), percentile(connect_us, 1));
}

void measure(const Volume& volume, std::size_t clients, std::size_t bytes, double seconds) {
  std::vector<Result> results(clients);
  std::latch connected(static_cast<std::ptrdiff_t>(clients));
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < clients; ++i)
    threads.emplace_back(run_client, std::cref(volume), i, bytes, static_cast<std::uint64_t>(seconds * 1e9),
                         std::ref(connected), std::ref(results[i]));
  for (std::thread& thread : threads) thread.join();
  print(results);
}

void idle(const Volume& volume, std::size_t count) {
  std::vector<std::unique_ptr<Client>> clients;
  for (std::size_t i = 0; i < count; ++i) {
    clients.push_back(std::make_unique<Client>(volume, options_of_clients()));
    clients.back()->connect();
  }
  std::puts("ready");
  std::fflush(stdout);
  while (std::getchar() != EOF) continue;
}

}  // namespace
}  // namespace strider::listio

int main(int count, char** words) {
  if (count != 5) return 2;
  try {
    const strider::listio::Volume volume = strider::listio::read_volume(words[1]);
    const std::size_t clients = std::strtoul(words[2], nullptr, 10), bytes = std::strtoul(words[3], nullptr, 10);
    if (bytes == 0) strider::listio::idle(volume, clients);
    else strider::listio::measure(volume, clients, bytes, std::strtod(words[4], nullptr));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "strider-many-clients: %s\n", error.what());
    return 1;
  }
  return 0;
}
