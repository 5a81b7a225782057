// strider-list-transfers VOLUME [ROUNDS]: lists moved by every method in turns, one JSON line for each round of each.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "listio/client/client.hpp"

namespace strider::listio {
namespace {

struct Case {
  std::size_t pieces;
  std::size_t piece_bytes;
};
/// 128 pieces, as the slides have it, and 1024 rows of a 1024 × 1024 block of integers in one of 2048 × 2048.
constexpr Case cases[] = {{128, 128},  {128, 256},   {128, 512},   {128, 1024},  {128, 2048}, {128, 4096},
                          {128, 8192}, {128, 16384}, {128, 32768}, {128, 65536}, {1024, 4096}};
constexpr Method methods[] = {Method::multiple, Method::pack, Method::gather, Method::hybrid};
constexpr double window_us = 400;  // short: other work on the machine leaves some of them alone

class Bench {
 public:
  explicit Bench(const Volume& volume) : memory_(std::size_t{16} << 20) {
    std::memset(memory_.data(), 7, memory_.size());
    for (const Method method : methods) {
      ClientOptions options;
      options.method = method;
      clients_.push_back(std::make_unique<Client>(volume, options));
      files_.push_back(clients_.back()->open("transfers-" + std::string(name_of(method)), Creation::if_missing));
    }
    clients_.back()->method_costs();
  }
  void print_costs() const {
    for (const MethodSample& each : clients_.back()->method_costs().samples())
      std::printf("{\"piece_bytes\": %zu, \"total_bytes\": %zu, \"gather_us\": %.2f, \"pack_us\": %.2f}\n",
                  each.piece_bytes, each.total_bytes, each.gather_us, each.pack_us);
  }

  void run(const Case& what, int rounds) {
    std::vector<iovec> pieces;
    for (std::size_t i = 0; i < what.pieces; ++i)
      pieces.push_back({&memory_[2 * i * what.piece_bytes], what.piece_bytes});
    const ByteRun run{0, what.pieces * what.piece_bytes};
    for (std::size_t m = 0; m < clients_.size(); ++m) clients_[m]->write_list(files_[m], pieces, {&run, 1});
    for (int round = 0; round < rounds; ++round)
      for (const Direction direction : {Direction::write, Direction::read})
        for (std::size_t m = 0; m < clients_.size(); ++m) {
          const std::uint64_t gathered = clients_[m]->counters().gathered_lists;
          const double us = window(m, direction, pieces, run);
          std::printf(
              "{\"pieces\": %zu, \"piece_bytes\": %zu, \"method\": \"%s\", \"direction\": \"%s\", \"us\": %.3f, "
              "\"gathered\": %s}\n",
              what.pieces, what.piece_bytes, std::string(name_of(methods[m])).c_str(),
              direction == Direction::write ? "write" : "read", us,
              clients_[m]->counters().gathered_lists > gathered ? "true" : "false");
        }
  }

 private:
  /// What one list takes, in µs, on average over a window of some tenths of a millisecond.
  double window(std::size_t m, Direction direction, std::span<const iovec> pieces, const ByteRun& run) {
    const std::uint64_t start = monotonic_ns();
    int lists = 0;
    double us = 0;
    do {
      if (direction == Direction::write) clients_[m]->write_list(files_[m], pieces, {&run, 1});
      else clients_[m]->read_list(files_[m], pieces, {&run, 1});
      ++lists;
      us = static_cast<double>(monotonic_ns() - start) * 1e-3;
    } while (us < window_us);
    return us / lists;
  }

  std::vector<std::byte> memory_;
  std::vector<std::unique_ptr<Client>> clients_;  ///< one for each method
  std::vector<File> files_;
};

}  // namespace
}  // namespace strider::listio

int main(int count, char** words) {
  using namespace strider::listio;
  if (count < 2) {
    std::fputs("strider-list-transfers VOLUME [ROUNDS]\n", stderr);
    return 2;
  }
  try {
    Bench bench(read_volume(words[1]));
    bench.print_costs();
    for (const Case& what : cases) bench.run(what, count > 2 ? std::atoi(words[2]) : 20);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "strider-list-transfers: %s\n", error.what());
    return 1;
  }
  return 0;
}
