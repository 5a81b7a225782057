#include "confinement/descendants.hpp"

#include <chrono>
#include <csignal>
#include <fstream>
#include <ranges>
#include <string>
#include <thread>

namespace strider {

std::vector<pid_t> descendants_of(pid_t process) {
  std::vector<pid_t> found;
  pid_t parent = process;
  for (std::size_t next = 0;; parent = found[next++]) {
    const std::string id = std::to_string(parent);
    std::ifstream children("/proc/" + id + "/task/" + id + "/children");
    for (pid_t child = 0; children >> child;) found.push_back(child);
    if (next == found.size()) return found;
  }
}

void kill_descendants(pid_t process) {
  constexpr int most_rounds = 50;
  constexpr std::chrono::milliseconds pause{10};
  for (int round = 0; round < most_rounds; ++round) {
    const std::vector<pid_t> found = descendants_of(process);
    if (found.empty()) return;
    for (const pid_t one : found | std::views::reverse) ::kill(one, SIGKILL);
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace strider
