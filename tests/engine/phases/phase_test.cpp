#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <regex>
#include <thread>

#include "foundation/folder.hpp"
#include "mpi_session.hpp"
#include "phases/tasks.hpp"
#include "plan/plans.hpp"
#include "repetitions/case_runner.hpp"

namespace strider {
namespace {

constexpr std::chrono::milliseconds time_for_facts{300};

/// Moves nothing, and thinks for long when it is asked for its facts.
class PonderousFile final : public File {
 public:
  void write(const Request&) override {}
  void read(const Request&) override {}
  void sync() override {}
  void close() override {}
  std::uint64_t size() override { return 0; }
  Facts facts() const override {
    std::this_thread::sleep_for(time_for_facts);
    return {{"mood", "ponderous"}};
  }
};

class Ponderous final : public Interface {
 public:
  explicit Ponderous(const Settings&) {}
  std::unique_ptr<File> open(const OpenRequest&) override { return std::make_unique<PonderousFile>(); }
  void remove(const std::string&) override {}
};

/// Keeps what is written, and reads the ends of it alone.
class EdgesFile final : public File {
 public:
  void write(const Request& request) override {
    kept().assign(request.memory, request.memory + request.extents[0].length);
  }
  void read(const Request& request) override {
    request.memory[0] = kept().front();
    request.memory[kept().size() - 1] = kept().back();
  }
  void sync() override {}
  void close() override {}
  std::uint64_t size() override { return kept().size(); }

 private:
  static std::vector<std::byte>& kept() {
    static std::vector<std::byte> bytes;
    return bytes;
  }
};

class Edges final : public Interface {
 public:
  explicit Edges(const Settings&) {}
  std::unique_ptr<File> open(const OpenRequest&) override { return std::make_unique<EdgesFile>(); }
  void remove(const std::string&) override {}
};

constexpr InterfaceEntry edges{"edges", "", {.storage = Storage::kept}, {}, make_interface<Edges>};

constexpr std::chrono::milliseconds time_of_sync{2};

/// Notes its calls: w, r, s for write, read and sync.
class NotingFile final : public File {
 public:
  static std::string calls;
  void write(const Request&) override { calls += 'w'; }
  void read(const Request&) override { calls += 'r'; }
  void sync() override {
    calls += 's';
    std::this_thread::sleep_for(time_of_sync);
  }
  void close() override {}
  std::uint64_t size() override { return 0; }
};
std::string NotingFile::calls;

class Noting final : public Interface {
 public:
  explicit Noting(const Settings&) {}
  std::unique_ptr<File> open(const OpenRequest&) override { return std::make_unique<NotingFile>(); }
  void remove(const std::string&) override {}
};

constexpr InterfaceEntry noting{"noting", "", {}, {}, make_interface<Noting>};

constexpr InterfaceEntry ponderous{"ponderous", "", {}, {}, make_interface<Ponderous>};

double seconds(std::chrono::steady_clock::duration time) { return std::chrono::duration<double>(time).count(); }

class Phase : public testing::Test {
 protected:
  void SetUp() override {
    need_mpi();
    context_.nodes = find_nodes(0, {.stall_timeout_s = 60});
    context_.events = &events_;
  }

  /// Runs the first repetition of a plan's only case through another interface.
  RepetitionOutcome run(Plan plan, const InterfaceEntry& interface) {
    EXPECT_EQ(plan.cases.size(), 1U);
    plan.cases[0].interface = &interface;
    const Schedule schedule(plan);
    return run_repetition(context_, plan.cases[0], 0, MPI_COMM_WORLD, schedule);
  }

  std::string events() const {
    std::ifstream written(folder_.file("events.jsonl"));
    return {std::istreambuf_iterator<char>(written), {}};
  }

 private:
  Folder folder_;
  EventStream events_{folder_.file("events.jsonl")};
  RunContext context_;
};

TEST_F(Phase, DoesNotCountTheTimeThatAFileTakesForItsFacts) {
  const Plan plan = good_plan({case_text(R"("operations": ["write"])")});

  const auto begin = std::chrono::steady_clock::now();
  const RepetitionOutcome outcome = run(plan, ponderous);
  const double all_s = seconds(std::chrono::steady_clock::now() - begin);

  ASSERT_FALSE(outcome.failed);
  const double phase_s = 65536.0 / 1048576 / outcome.rates.at("write");
  EXPECT_LE(phase_s + seconds(time_for_facts), all_s);
}

/// Of 16 requests; where the time ends, the last sync follows what was written.
TEST_F(Phase, RepeatsItsRequestsAndSyncsAfterEachPassUntilTheTimeIsOver) {
  const auto calls_with = [&](const std::string& sync) {
    NotingFile::calls.clear();
    run(good_plan({case_text(R"("operations": ["write"], "runtime": 0.1, "sync": ")" + sync + "\"")}), noting);
    return NotingFile::calls;
  };
  const std::string synced = calls_with("end");
  EXPECT_GT(synced.size(), 17U) << "two passes take less time";
  for (std::size_t i = 0; i < synced.size(); ++i)
    ASSERT_EQ(synced[i], i % 17 == 16 || i + 1 == synced.size() ? 's' : 'w') << "call " << i;
  std::smatch sync_s;
  const std::string written = events();
  ASSERT_TRUE(std::regex_search(written, sync_s, std::regex(R"("sync_s":([0-9.e-]+))"))) << written;
  EXPECT_GE(std::stod(sync_s[1]), seconds(time_of_sync * std::ranges::count(synced, 's'))) << "all syncs together";
  EXPECT_EQ(calls_with("none").find('s'), std::string::npos);
}

TEST_F(Phase, CountsTheCallsOfEachRank) {
  run(good_plan({case_text(R"("operations": ["write"])")}), edges);

  EXPECT_TRUE(std::regex_search(events(), std::regex(R"("event":"rank"[^\n]*"read_calls":\d+)"))) << events();
}

/// The memory of a rank holds what it has written, which is what it has to read.
TEST_F(Phase, FindsThatAReadLeftMemoryAsItWas) {
  run(good_plan({case_text(R"("operations": ["write", "read"], "verify": "full")",
                           R"("name": "segmented", "transfer": 65536, "block": 65536)")}),
      edges);

  // The check of whole files finds it as well: that the phase itself does is what counts.
  EXPECT_TRUE(std::regex_search(events(), std::regex(R"("operation":"read"[^\n]*"class":"unread")"))) << events();
}

/// The first mismatches of a rank are described, and the last of these stands for the rest.
TEST_F(Phase, CountsTheMismatchesThatItDoesNotDescribe) {
  run(good_plan({case_text(R"("operations": ["write", "read"], "verify": "full")",
                           R"("name": "segmented", "transfer": 4096, "block": 65536)")}),
      edges);

  std::uint64_t counted = 0;
  const std::regex error(R"("event":"error"[^\n]*"operation":"read"[^\n]*"kind":"verify"[^\n]*"count":(\d+))");
  const std::string text = events();
  for (std::sregex_iterator found(text.begin(), text.end(), error), none; found != none; ++found)
    counted += std::stoull((*found)[1]);
  EXPECT_EQ(counted, 16U + 1) << text;  // and the size of the file
}

}  // namespace
}  // namespace strider
