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

}  // namespace
}  // namespace strider
