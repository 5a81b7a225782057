#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <regex>
#include <thread>

#include "foundation/folder.hpp"
#include "interfaces/own_folder.hpp"
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

/// A storage that is not mounted, with a folder of its own. Notes its calls: c for connect, o and r for opening and
/// removing a file, m and d for making and removing a directory, f for removing the folder.
class Unmounted final : public Interface, public OwnFolder {
 public:
  static std::string calls;
  static bool refuses, keeps_folder;

  explicit Unmounted(const Settings&) {}
  void connect(const std::string& directory) override {
    calls += 'c';
    if (refuses) throw IoError({"connect", directory, 0, 0, ECONNREFUSED});
  }
  std::unique_ptr<File> open(const OpenRequest&) override {
    calls += 'o';
    return std::make_unique<PonderousFile>();
  }
  void remove(const std::string&) override { calls += 'r'; }
  std::unique_ptr<Directory> open_directory(const std::string&) override { return std::make_unique<Directories>(); }
  void remove_own_folder(const std::string& directory) override {
    calls += 'f';
    if (keeps_folder) throw IoError({"remove", directory, 0, 0, ENOTEMPTY});
  }

 private:
  class Directories final : public Directory {
    void make_directory(const char*) override { calls += 'm'; }
    void remove_directory(const char*) override { calls += 'd'; }
  };
};
std::string Unmounted::calls;
bool Unmounted::refuses = false, Unmounted::keeps_folder = false;

constexpr InterfaceEntry unmounted{"unmounted",
                                   "",
                                   {.storage = Storage::kept,
                                    .metadata = {MetadataCall::make_directory, MetadataCall::remove_directory},
                                    .client = StorageClient::library},
                                   {},
                                   make_interface<Unmounted>};

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
    return run_repetition(context_, {plan.cases[0], 0, MPI_COMM_WORLD, nullptr, {}});
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
// proves measuring: with-runtime, runtime, runtime-completes, sync-per-pass, sync-sum
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
// proves measuring: unread, poisoned
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

class OwnFolderOfARun : public Phase {
 protected:
  std::string calls_of(const std::string& test) {
    Unmounted::calls.clear();
    failed = run(good_plan({test}), unmounted).failed;
    return Unmounted::calls;
  }
  void TearDown() override { Unmounted::refuses = Unmounted::keeps_folder = false; }
  bool failed = false;
};

TEST_F(OwnFolderOfARun, IsRemovedAfterAllFiles) {
  EXPECT_EQ(calls_of(case_text(R"("operations": ["write"])")), "corf");
  EXPECT_FALSE(failed);
}

TEST_F(OwnFolderOfARun, IsRemovedAfterAllDirectories) {
  EXPECT_EQ(calls_of(tree_text(R"("operations": ["mkdir"])", R"("items": 2)")), "cmmmdddf");
  EXPECT_FALSE(failed);
}

TEST_F(OwnFolderOfARun, IsRemovedWhereARankCouldNotConnectButOthersMadeIt) {
  Unmounted::refuses = true;
  EXPECT_EQ(calls_of(case_text(R"("operations": ["write"])")), "cf");
  EXPECT_EQ(calls_of(tree_text(R"("operations": ["mkdir"])", R"("items": 2)")), "cf");
  EXPECT_TRUE(failed);
}

TEST_F(OwnFolderOfARun, ThatStaysIsAnError) {
  Unmounted::keeps_folder = true;
  calls_of(case_text(R"("operations": ["write"])"));
  EXPECT_TRUE(failed);
  EXPECT_TRUE(std::regex_search(events(), std::regex(R"("event":"error"[^\n]*"operation":"remove")"))) << events();
}

}  // namespace
}  // namespace strider
