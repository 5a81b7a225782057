// The engine's work in memory alone: making data, checking it, and making the requests of a plan's cases.
//
//   strider-benchmarks PLAN [OPTIONS OF GOOGLE BENCHMARK]
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>
#include <vector>

#include "plan/plan.hpp"
#include "verify/examiner.hpp"

namespace strider {
namespace {

constexpr FileData::Identity identity{1, 2, 3, 4};

void count_bytes(benchmark::State& state) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}

void generate_data(benchmark::State& state) {
  std::vector<std::byte> memory(static_cast<std::size_t>(state.range(0)));
  const FileData data(identity);
  std::uint64_t file_offset = 0;
  for ([[maybe_unused]] auto step : state) {
    data.fill(memory, file_offset);
    benchmark::ClobberMemory();
    file_offset += memory.size();
  }
  count_bytes(state);
}

/// Preparation of memory before the first read.
void spoil_memory(benchmark::State& state) {
  std::vector<std::byte> memory(static_cast<std::size_t>(state.range(0)));
  for ([[maybe_unused]] auto step : state) {
    spoil(memory);
    benchmark::ClobberMemory();
  }
  count_bytes(state);
}

/// Errors in the data of a request without any.
void classify_data(benchmark::State& state) {
  std::vector<std::byte> memory(static_cast<std::size_t>(state.range(0)), std::byte{0x5a});
  for ([[maybe_unused]] auto step : state) {
    Classifier classifier({identity, 1, memory.size()});
    benchmark::DoNotOptimize(classifier.classify(memory, 0));
  }
  count_bytes(state);
}

/// All work on the data of a read request, except for spoiling it.
void verify_data(benchmark::State& state) {
  std::vector<std::byte> memory(static_cast<std::size_t>(state.range(0)));
  FileData(identity).fill(memory, 0);
  Examiner examiner(identity, 1, memory.size());
  for ([[maybe_unused]] auto step : state) {
    examiner.examine(memory, {0, 0, memory.size()}, FileData::Then::keep);
    benchmark::ClobberMemory();
  }
  if (examiner.mismatches() > 0) state.SkipWithError("right data was found to be wrong");
  count_bytes(state);
}

/// A rank's requests, again and again, in the portions in which transfers take them. An item is a request of one extent
/// or an extent of a request of several.
void generate_requests(benchmark::State& state, const Case& test) {
  constexpr std::uint64_t most_at_once = 64;
  const auto pattern = make_pattern_of(test);
  const Place place{test.clients - 1, test.clients};
  const std::uint64_t requests = pattern->requests(place, Direction::read);
  const Order order = order_of(test, place.rank, requests);
  std::array<std::uint64_t, most_at_once> numbers{};
  std::vector<Extent> extents(std::max(most_at_once, pattern->most_extents(place)));
  std::uint64_t next = 0, items = 0;
  for ([[maybe_unused]] auto step : state) {
    const std::uint64_t count = pattern->contiguous() ? std::min(most_at_once, requests - next) : 1;
    const auto some = std::span(numbers).first(count);
    order.fill(next, some);
    if (pattern->contiguous()) {
      pattern->fill(place, some, std::span(extents).first(count));
      items += count;
    } else {
      items += pattern->fill_request(place, some[0], extents);
    }
    benchmark::ClobberMemory();
    next = next + count < requests ? next + count : 0;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(items));
}

Plan plan_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<PlanError> errors;
  Plan plan = read_plan({std::istreambuf_iterator<char>(file), {}}, errors);
  for (const PlanError& error : errors)
    std::cerr << path << ": case " << error.case_number << ": " << error.message << '\n';
  if (!errors.empty()) std::exit(2);
  return plan;
}

void register_all(const Plan& plan) {
  for (const std::int64_t bytes : {std::int64_t{4} << 10, std::int64_t{1} << 20, std::int64_t{64} << 20}) {
    benchmark::RegisterBenchmark("generate", generate_data)->Arg(bytes);
    benchmark::RegisterBenchmark("verify", verify_data)->Arg(bytes);
    benchmark::RegisterBenchmark("spoil", spoil_memory)->Arg(bytes);
    benchmark::RegisterBenchmark("classify", classify_data)->Arg(bytes);
  }
  for (const Case& test : plan.cases)
    benchmark::RegisterBenchmark(test.name.c_str(),
                                 [&test](benchmark::State& state) { generate_requests(state, test); });
}

}  // namespace
}  // namespace strider

int main(int count, char** words) {
  benchmark::Initialize(&count, words);
  if (count != 2) {
    std::cerr << "usage: strider-benchmarks PLAN [--benchmark_…]\n";
    return 2;
  }
  const strider::Plan plan = strider::plan_of(words[1]);
  strider::register_all(plan);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
