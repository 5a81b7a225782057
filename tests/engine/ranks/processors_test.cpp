#include "ranks/processors.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

namespace strider {
namespace {

/// Binds this process to one of its CPUs, until the end.
class Bound {
 public:
  Bound() {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &before_)) {
        CPU_SET(cpu, &one);
        break;
      }
    sched_setaffinity(0, sizeof one, &one);
  }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;
  ~Bound() { sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_{};
};

TEST(Processors, AreThoseOfThisHost) {
  const Processors found = find_processors();
  EXPECT_EQ(found.online, static_cast<std::uint32_t>(sysconf(_SC_NPROCESSORS_ONLN)));
  EXPECT_GE(found.allowed, 1U);
}

TEST(Processors, AreAllowedAsTheProcessIsBound) {
  const std::uint32_t before = find_processors().allowed;
  {
    const Bound bound;
    EXPECT_EQ(find_processors().allowed, 1U);
  }
  EXPECT_EQ(find_processors().allowed, before);
}

}  // namespace
}  // namespace strider
