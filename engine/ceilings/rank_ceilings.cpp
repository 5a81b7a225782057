#include "ceilings/rank_ceilings.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <tuple>

#include "foundation/clock.hpp"
#include "foundation/units.hpp"
#include "measure/job_limits.hpp"
#include "measure/memory_copy.hpp"
#include "operations/transfer.hpp"
#include "ranks/exchange.hpp"
#include "ranks/interrupt.hpp"
#include "reports/reduction.hpp"

namespace strider {
namespace {

/// One figure of a round: long beside the millisecond by which ranks may begin apart, short beside a user's patience.
constexpr std::uint64_t memory_ns = 30'000'000;
/// As large as usual requests, so that what is generated and verified is in the cache as it is in a case.
constexpr std::size_t data_bytes = mib;
constexpr double data_mib = 1;

/// Amount per second of a step that is repeated until the slice is over; the step returns its amount.
template <typename Step>
double repeat(std::uint64_t begin_ns, const Step& step) {
  double amount = 0;
  std::uint64_t now = begin_ns;
  while (now < begin_ns + memory_ns && !interrupted()) {
    amount += step();
    now = monotonic_ns();
  }
  return now > begin_ns ? amount / (static_cast<double>(now - begin_ns) * 1e-9) : 0;
}

/// MiB/s of examining what was read. That there is right data to examine each time is not part of it.
double verification_rate(const FileData& data, std::span<std::byte> memory, Examiner& examiner) {
  std::uint64_t spent_ns = 0, rounds = 0;
  for (; spent_ns < memory_ns && !interrupted(); ++rounds) {
    data.fill(memory, 0);
    const std::uint64_t begin = monotonic_ns();
    examiner.examine(memory, {0, 0, memory.size()});
    spent_ns += monotonic_ns() - begin;
  }
  return spent_ns > 0 ? static_cast<double>(rounds) * data_mib / (static_cast<double>(spent_ns) * 1e-9) : 0;
}

/// The loop of a phase, on an interface that moves nothing.
class NullRequests {
 public:
  NullRequests() : file_(find_interface("null")->make({})->open({})), order_(OrderKind::forward, requests, 1) {
    Settings settings;
    settings.set("transfer", std::uint64_t{1});
    settings.set("size", requests);
    settings.set("overlap", true);
    settings.set("seed", std::uint64_t{1});
    pattern_ = find_pattern("sequential")->make(settings);
    work_ = {.operation = Operation::write,
             .pattern = pattern_.get(),
             .order = &order_,
             .place = {0, 1},
             .sync = SyncPolicy::end,
             .memory = memory_,
             .depth = 1,
             .written = nullptr,
             .values = nullptr,
             .mixed = nullptr,
             .expected = {},
             .timing = {}};
  }
  /// Requests per second of a slice.
  double rate() {
    Tally tally;
    SliceWatch watch;
    Transfer transfer(work_, *file_, timer_, tally, watch);
    const std::uint64_t begin = monotonic_ns();
    watch.end_ns = begin + memory_ns;
    transfer.run(requests, 0);
    return static_cast<double>(tally.requests) / (static_cast<double>(monotonic_ns() - begin) * 1e-9);
  }

 private:
  struct SliceWatch final : Watch {
    bool go_on(const Tally&) override { return monotonic_ns() < end_ns && !interrupted(); }
    std::uint64_t end_ns = 0;
  };
  static constexpr std::uint64_t requests = std::uint64_t{1} << 40;  // more than any slice gets to
  std::unique_ptr<File> file_;
  std::unique_ptr<Pattern> pattern_;
  Order order_;
  std::array<std::byte, 1> memory_{};
  Work work_{};
  Timer timer_;
};

/// What a rank brings for one figure after the other.
class RankWork {
 public:
  RankWork(const RunContext& context, std::uint64_t buffer_bytes)
      : copy_(buffer_bytes),
        identity_{context.data_seed, 0, 0, 0},
        data_(identity_),
        memory_(data_bytes),
        examiner_(identity_, 1, data_bytes) {
    data_.fill(memory_, 0);
  }
  static constexpr std::size_t kinds = 4;
  double rate(std::size_t kind) {
    const std::uint64_t begin = monotonic_ns();
    switch (kind) {
      case 0: return repeat(begin, [&] { return static_cast<double>(copy_.copy_piece()) / mib; });
      case 1: return repeat(begin, [&] { return data_.fill(memory_, 0), data_mib; });
      case 2: return verification_rate(data_, memory_, examiner_);
      default: return requests_.rate();
    }
  }

 private:
  MemoryCopy copy_;
  FileData::Identity identity_;
  FileData data_;
  std::vector<std::byte> memory_;
  Examiner examiner_;
  NullRequests requests_;
};

/// What ranks exchange after a round.
struct Round {
  std::array<double, RankWork::kinds> rates{};
  double interrupted = 0, without_memory = 0;  ///< number of ranks

  static constexpr auto figures() {
    return std::tuple{summed(&Round::rates), summed(&Round::interrupted), summed(&Round::without_memory)};
  }
};

Round measure_round(RankWork* work, MPI_Comm communicator, const WaitOptions& waiting) {
  Round round;
  for (std::size_t kind = 0; kind < RankWork::kinds; ++kind) {
    barrier(communicator, waiting);
    if (work != nullptr) round.rates[kind] = work->rate(kind);
  }
  round.interrupted = interrupted() ? 1 : 0;
  round.without_memory = work == nullptr ? 1 : 0;
  Reduction(round).to_all(communicator, waiting);
  return round;
}

std::string about_copy(const CopySize& size, std::size_t ranks_here) {
  const std::string buffers = std::to_string(size.buffer_bytes >> 20) + " MiB in each of " +
                              std::to_string(ranks_here) + (ranks_here == 1 ? " rank" : " ranks") + " of a node";
  return size.exceeds_caches ? buffers : buffers + ", which may fit into the CPU caches";
}

std::vector<Ceiling> ceilings_of(const std::array<std::vector<double>, RankWork::kinds>& found, std::string copy) {
  constexpr std::array<const char*, RankWork::kinds> names{"memory_copy", "data_generation", "verification",
                                                           "null_requests"};
  const std::array<std::string, RankWork::kinds> about{std::move(copy), "1 MiB at a time", "1 MiB at a time",
                                                       "requests to the interface null"};
  std::vector<Ceiling> ceilings;
  for (std::size_t kind = 0; kind < RankWork::kinds; ++kind)
    ceilings.push_back(
        ceiling_of(names[kind], kind == RankWork::kinds - 1 ? "requests/s" : "MiB/s", found[kind], about[kind]));
  return ceilings;
}

}  // namespace

std::vector<Ceiling> measure_ranks(const RunContext& context, MPI_Comm communicator, std::uint32_t here,
                                   bool& was_interrupted) {
  const WaitOptions waiting{.stall_timeout_s = context.stall_timeout_s};
  const CopySize size = copy_size(here, last_level_cache_bytes(), available_memory_bytes());
  std::unique_ptr<RankWork> work;
  try {
    work = std::make_unique<RankWork>(context, size.buffer_bytes);
  } catch (const std::bad_alloc&) {
    // The others have to know; it takes part without work.
  }
  std::array<std::vector<double>, RankWork::kinds> found;
  double lacking = 0;
  for (int round = 0; round < ceiling_rounds && !was_interrupted; ++round) {
    const Round all = measure_round(work.get(), communicator, waiting);
    was_interrupted = all.interrupted > 0;
    lacking = all.without_memory;
    for (std::size_t kind = 0; kind < RankWork::kinds && !was_interrupted; ++kind)
      found[kind].push_back(all.rates[kind]);
  }
  if (was_interrupted) return {};
  if (lacking > 0)
    return {{"memory_copy", "MiB/s", std::nullopt, std::nullopt, "a rank has too little memory for the buffers"}};
  return ceilings_of(found, about_copy(size, here));
}

}  // namespace strider
