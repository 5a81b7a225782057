#include "events/events.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace strider {
namespace {

class Events : public testing::Test {
 protected:
  ~Events() override { std::filesystem::remove(path_); }
  std::string text() const {
    std::stringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }
  const std::string path_ =
      std::filesystem::temp_directory_path() / ("strider-events-" + std::to_string(::getpid()) + ".jsonl");
};

TEST_F(Events, CountersOfTimeAreInSecondsAndAllOthersAsCounted) {
  CounterGroup group{"nfs", "/mnt/nfs", {}};
  group.add("calls", 1'500'000'000);
  group.add("wait_s", 1'500'000'000, CounterKind::time_ns);
  group.add("open_files", 7, CounterKind::level);
  ObservationStream(path_, "host", 1).observed(1, {group});
  EXPECT_NE(text().find(R"("values":{"calls":1500000000,"wait_s":1.5,"open_files":7})"), std::string::npos) << text();
}

TEST_F(Events, TheEndOfARepetitionHasTheRatesThatDecideOnTheNext) {
  EventStream(path_).repetition_ends({2, 3, false, ""}, {.elapsed_s = 1.5, .failed = true, .rates = {{"write", 12.5}}});
  EXPECT_NE(
      text().find(R"("case":2,"repetition":3,"warmup":false,"elapsed_s":1.5,"failed":true,"rates":{"write":12.5}})"),
      std::string::npos)
      << text();
}

TEST_F(Events, OfAResumedRunContinueTheTimesAndTheCounts) {
  EventStream stream(path_);
  // Longer than the machine may be up: the start of the run lies before that of its clock.
  stream.resume({.elapsed_s = 1e9, .samples = 7, .errors = 2});
  stream.run({.run = "r"});
  stream.end("complete");
  EXPECT_NE(text().find(R"({"event":"run","version":1,"time_s":1000000000.0,)"), std::string::npos) << text();
  EXPECT_NE(text().find(R"("event":"end","time_s":100000000)"), std::string::npos) << text();
  EXPECT_NE(text().find(R"("samples":7,"errors":2})"), std::string::npos) << text();
}

TEST_F(Events, AreNotContinuedAfterAnotherProgramHasEndedThem) {
  EventStream stream(path_);
  stream.case_begins({1, 0, false, ""});
  EXPECT_FALSE(stream.is_over());
  std::ofstream(path_, std::ios::app) << R"({"event": "end"})" << '\n';
  const std::string sealed = text();
  stream.case_begins({2, 0, false, ""});
  stream.end("complete");
  EXPECT_EQ(text(), sealed);
  EXPECT_TRUE(stream.is_over());
}

TEST_F(Events, AreOverWithTheirFile) {
  EventStream stream(path_);
  EXPECT_FALSE(stream.is_over());
  std::filesystem::rename(path_, path_ + ".moved");
  EXPECT_FALSE(stream.is_over()) << "names of a network file system may be gone for a moment";
  std::filesystem::rename(path_ + ".moved", path_);
  EXPECT_FALSE(stream.is_over());
  std::filesystem::rename(path_, path_ + ".moved");
  EXPECT_FALSE(stream.is_over()) << "looks in a row count";
  EXPECT_TRUE(stream.is_over());
  std::filesystem::remove(path_ + ".moved");
  EventStream other(path_);
  std::filesystem::remove(path_);
  std::ofstream(path_) << "";
  EXPECT_TRUE(other.is_over()) << "another file is there";
  EXPECT_FALSE(EventStream("/dev/null").is_over());
}

}  // namespace
}  // namespace strider
