// strider-list-transfers VOLUME ROUNDS OFFSET: lists moved by every method alternately, one JSON line for each round of
// each. The memory begins OFFSET bytes into a page.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "foundation/clock.hpp"
#include "foundation/error.hpp"
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

/// All methods on the same connections, as these differ in how the kernel has sized their buffers.
class Bench {
 public:
  Bench(const Volume& volume, std::size_t offset) : held_((std::size_t{16} << 20) + 2 * 4096), client_(volume) {
    void* begin = held_.data();
    std::size_t room = held_.size();
    memory_ = static_cast<std::byte*>(std::align(4096, held_.size() - 4096, begin, room)) + offset;
    std::memset(held_.data(), 7, held_.size());
    file_ = client_.open("transfers", Creation::if_missing);
    client_.method_costs();
  }
  void print_costs() {
    for (const MethodSample& each : client_.method_costs().samples())
      std::printf("{\"piece_bytes\": %zu, \"total_bytes\": %zu, \"gather_us\": %.2f, \"pack_us\": %.2f}\n",
                  each.piece_bytes, each.total_bytes, each.gather_us, each.pack_us);
  }

  void run(const Case& what, int rounds) {
    std::vector<iovec> pieces;
    for (std::size_t i = 0; i < what.pieces; ++i)
      pieces.push_back({&memory_[2 * i * what.piece_bytes], what.piece_bytes});
    const ByteRun run{0, what.pieces * what.piece_bytes};
    client_.write_list(file_, pieces, {&run, 1});
    for (int round = 0; round < rounds; ++round)
      for (const Direction direction : {Direction::write, Direction::read})
        for (std::size_t i = 0; i < std::size(methods); ++i) {
          const Method method = methods[round % 2 == 0 ? i : std::size(methods) - 1 - i];
          const std::uint64_t gathered = client_.counters().gathered_lists;
          const double us = window(method, direction, pieces, run);
          std::printf(
              "{\"pieces\": %zu, \"piece_bytes\": %zu, \"method\": \"%s\", \"direction\": \"%s\", \"us\": %.3f, "
              "\"gathered\": %s}\n",
              what.pieces, what.piece_bytes, std::string(name_of(method)).c_str(),
              direction == Direction::write ? "write" : "read", us,
              client_.counters().gathered_lists > gathered ? "true" : "false");
        }
  }

 private:
  /// What one list takes, in µs, on average over a window of some tenths of a millisecond.
  double window(Method method, Direction direction, std::span<const iovec> pieces, const ByteRun& run) {
    client_.choose(method);
    const std::uint64_t start = monotonic_ns();
    int lists = 0;
    double us = 0;
    do {
      if (direction == Direction::write) client_.write_list(file_, pieces, {&run, 1});
      else client_.read_list(file_, pieces, {&run, 1});
      ++lists;
      us = static_cast<double>(monotonic_ns() - start) * 1e-3;
    } while (us < window_us);
    return us / lists;
  }

  std::vector<std::byte> held_;
  std::byte* memory_;  ///< in `held_`
  Client client_;
  File file_;
};

}  // namespace
}  // namespace strider::listio

int main(int count, char** words) {
  using namespace strider;
  using namespace strider::listio;
  if (count != 4) {
    std::fputs("strider-list-transfers VOLUME ROUNDS OFFSET\n", stderr);
    return 2;
  }
  try {
    const auto offset = static_cast<std::size_t>(std::atoi(words[3]));
    if (offset >= 4096)
      throw InputError("OFFSET", std::string(words[3]) + " is not in a page", "choose less than 4096");
    Bench bench(read_volume(words[1]), offset);
    bench.print_costs();
    for (const Case& what : cases) bench.run(what, std::atoi(words[2]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "strider-list-transfers: %s\n", error.what());
    return 1;
  }
  return 0;
}
