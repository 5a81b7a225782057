#pragma once
#include <sys/resource.h>

#include <cstdint>

#include "foundation/field.hpp"

namespace strider {

/// What this process has used since it began.
struct Usage {
  double user_s = 0;
  double system_s = 0;
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;

  static Usage now() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return {seconds(usage.ru_utime), seconds(usage.ru_stime), static_cast<std::uint64_t>(usage.ru_nvcsw),
            static_cast<std::uint64_t>(usage.ru_nivcsw)};
  }

  static constexpr std::string_view record_name = "Usage";
  static constexpr std::string_view record_about = "Resource usage of processes.";
  static constexpr auto fields() {
    return std::tuple{
        field({"user_s", "Processor time in user mode.", Over::sum, "null"}, &Usage::user_s),
        field({"system_s", "Processor time in the kernel.", Over::sum, "null"}, &Usage::system_s),
        field({"voluntary_switches", "Voluntary context switches: the process had to wait.", Over::sum, "null"},
              &Usage::voluntary_switches),
        field({"involuntary_switches", "Involuntary context switches: the process was preempted.", Over::sum, "null"},
              &Usage::involuntary_switches)};
  }
  Usage operator-(const Usage& before) const { return difference_of(*this, before); }
};

}  // namespace strider
