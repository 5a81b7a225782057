// With any method, transport, registration and number of servers: lists write and read the same as a
// plain array of bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "listio/client/client.hpp"
#include "random_lists.hpp"
#include "registration/memory.hpp"
#include "service.hpp"

namespace strider::listio {
namespace {

constexpr std::size_t memory_bytes = 1 << 18, file_bytes = 1 << 18;

struct WayToRegister {
  const char* name;
  const char* domain;
  Strategy strategy;
  std::uint64_t cache_bytes;
};
constexpr WayToRegister ways[] = {
    {"none", "model", Strategy::none, 0},        {"individual", "model", Strategy::individual, 0},
    {"single", "model", Strategy::single, 0},    {"ogr", "model", Strategy::ogr, 0},
    {"cached", "model", Strategy::ogr, 1 << 20}, {"mlock", "mlock", Strategy::ogr, 0},
    {"uring", "uring", Strategy::ogr, 0},
};

/// Memory, and the data written to the file so far.
class Oracle {
 public:
  Oracle(Client& client, std::uint64_t seed, const Striping& striping)
      : dice_(seed), client_(client), memory_(memory_bytes), content_(file_bytes + memory_bytes) {
    const std::string path = "oracle-" + std::to_string(seed);
    file_ =
        client_.open(path, Creation::exclusive, 0644, {striping.strip_bytes(), striping.servers(), striping.first()});
  }

  void step() {
    make_lists();
    if (dice_.one_in(2)) write();
    else read();
  }
  void finish() {
    EXPECT_EQ(client_.size(file_), end_);
    client_.unlink(file_.path);
  }

 private:
  /// Pieces of memory that do not overlap, and runs of the file, which may when written.
  void make_lists() {
    const std::uint64_t bytes = dice_.one_in(20) ? 0 : dice_.roll(1, dice_.one_in(4) ? 100'000 : 3'000);
    const std::uint64_t most = dice_.roll(1, dice_.one_in(3) ? 20'000 : 200);
    memory_runs_ = random_runs(dice_, bytes, most, dice_.one_in(2) ? 0 : dice_.roll(0, 40));
    file_runs_ = random_runs(dice_, bytes, dice_.roll(1, 3000), dice_.one_in(3) ? 0 : dice_.roll(0, 60));
    const auto fits = [](const std::vector<ByteRun>& runs, std::uint64_t room) {
      return runs.empty() || runs.back().end() <= room;
    };
    if (!fits(memory_runs_, memory_bytes) || !fits(file_runs_, file_bytes)) return make_lists();
    if (dice_.one_in(2)) memory_runs_ = shuffled(dice_, memory_runs_);
    if (dice_.one_in(3)) file_runs_ = shuffled(dice_, file_runs_);
    if (dice_.one_in(4))  // runs that overlap
      for (ByteRun& run : file_runs_) run.offset = dice_.roll(0, bytes);
    pieces_.clear();
    for (const ByteRun& run : memory_runs_) pieces_.push_back({memory_.data() + run.offset, run.length});
  }

  /// The bytes of the memory list, one after the other.
  std::vector<std::byte> gathered() const {
    std::vector<std::byte> all;
    for (const ByteRun& run : memory_runs_) {
      const auto begin = memory_.begin() + static_cast<std::ptrdiff_t>(run.offset);
      all.insert(all.end(), begin, begin + static_cast<std::ptrdiff_t>(run.length));
    }
    return all;
  }

  void write() {
    for (std::byte& each : memory_) each = static_cast<std::byte>(dice_.roll(0, 255));
    client_.write_list(file_, pieces_, file_runs_);
    const std::vector<std::byte> all = gathered();
    auto from = all.begin();
    for (const ByteRun& run : file_runs_) {
      std::copy_n(from, run.length, content_.begin() + static_cast<std::ptrdiff_t>(run.offset));
      from += static_cast<std::ptrdiff_t>(run.length);
      if (run.length > 0) end_ = std::max(end_, run.end());
    }
  }

  void read() {
    std::fill(memory_.begin(), memory_.end(), std::byte{0xa5});
    std::uint64_t before_end = 0;
    std::vector<std::byte> expected;
    for (const ByteRun& run : file_runs_) {
      const auto begin = content_.begin() + static_cast<std::ptrdiff_t>(run.offset);
      const std::uint64_t there = run.offset < end_ ? std::min(run.length, end_ - run.offset) : 0;
      expected.insert(expected.end(), begin, begin + static_cast<std::ptrdiff_t>(there));
      expected.insert(expected.end(), run.length - there, std::byte{0xa5});  // stays as it is
      before_end += there;
    }
    EXPECT_EQ(client_.read_list(file_, pieces_, file_runs_), before_end);
    ASSERT_TRUE(gathered() == expected);
    for (const ByteRun& run : memory_runs_)
      std::fill_n(memory_.begin() + static_cast<std::ptrdiff_t>(run.offset), run.length, std::byte{0xa5});
    ASSERT_TRUE(std::all_of(memory_.begin(), memory_.end(), [](std::byte each) { return each == std::byte{0xa5}; }))
        << "something else was written to";
  }

  Dice dice_;
  Client& client_;
  File file_;
  std::vector<std::byte> memory_, content_;
  std::uint64_t end_ = 0;
  std::vector<ByteRun> memory_runs_, file_runs_;
  std::vector<iovec> pieces_;
};

class OracleTest : public testing::TestWithParam<std::tuple<std::string_view, Method, WayToRegister>> {};

// proves listio: self-overlap, order-kept, last-piece-wins, increasing-offsets
TEST_P(OracleTest, ListsReadAndWriteWhatAPlainFileWould) {
  const auto& [transport, method, registering] = GetParam();
  if (!try_domain(registering.domain)) GTEST_SKIP() << "the kernel has no " << registering.domain << ", or forbids it";
  constexpr std::uint32_t most_servers = 8;
  // Small buffers and few runs, so that lists become many requests.
  ServerOptions server;
  server.transport = transport;
  server.buffer_bytes = 8192;
  server.most_runs = 16;
  const Service service(most_servers, server);
  ClientOptions options;
  options.method = method;
  options.threshold_bytes = 300;
  options.registration = registering.domain;
  options.registrar.strategy = registering.strategy;
  options.registrar.cache_bytes = registering.cache_bytes;
  options.registrar.invalidation = Invalidation::by_caller;
  options.checking = Checking::strict;
  Client client(service.volume(), options);
  Dice dice(static_cast<std::uint64_t>(method) * 97 + transport.size() +
            static_cast<unsigned char>(registering.name[0]));
  for (std::uint64_t servers = 1; servers <= most_servers; ++servers) {
    const Striping striping(static_cast<std::uint32_t>(servers), dice.roll(1, dice.one_in(2) ? 100 : 70'000),
                            static_cast<std::uint32_t>(dice.roll(0, servers - 1)));
    Oracle oracle(client, servers, striping);
    for (int step = 0; step < 12; ++step) {
      oracle.step();
      if (HasFatalFailure()) return;
    }
    oracle.finish();
  }
}

INSTANTIATE_TEST_SUITE_P(All, OracleTest,
                         testing::Combine(testing::ValuesIn(transport_names()),
                                          testing::Values(Method::multiple, Method::pack, Method::gather,
                                                          Method::hybrid),
                                          testing::ValuesIn(ways)),
                         [](const auto& each) {
                           return std::string(std::get<0>(each.param)) + "_" +
                                  std::string(name_of(std::get<1>(each.param))) + "_" + std::get<2>(each.param).name;
                         });

}  // namespace
}  // namespace strider::listio
