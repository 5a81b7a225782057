#pragma once
#include <memory>
#include <vector>

#include "operations/transfer.hpp"

namespace strider {

constexpr std::uint64_t long_ago = 1;  ///< a deadline that has passed

using Calls = std::vector<std::string>;

/// Watches and lets everything go on, until told otherwise.
class PatientWatch final : public Watch {
 public:
  bool go_on(const Tally&) override { return ++looks <= allowed; }
  int looks = 0;
  int allowed = 1 << 30;
};

/// Two ranks' requests of four bytes, alternating: rank 0 has 0+4, 8+4, …
inline std::unique_ptr<Pattern> strided(std::uint64_t count) {
  Settings settings;
  settings.set("transfer", std::uint64_t{4});
  settings.set("count", count);
  settings.set("seed", std::uint64_t{1});
  return find_pattern("strided")->make(settings);
}

/// All that a transfer of one rank needs.
struct Job {
  explicit Job(Operation operation, std::uint64_t requests = 3, OrderKind kind = OrderKind::forward)
      : pattern(strided(requests)), order(kind, requests, 1) {
    work.operation = operation;
  }
  std::unique_ptr<Pattern> pattern;
  Order order;
  std::vector<std::byte> memory = std::vector<std::byte>(4);
  Work work{.operation = Operation::write,
            .pattern = pattern.get(),
            .order = &order,
            .place = {0, 2},
            .sync = SyncPolicy::end,
            .memory = memory,
            .depth = 1,
            .written = nullptr,
            .values = nullptr,
            .mixed = nullptr,
            .expected = {},
            .timing = {}};
  Timer timer;
  Tally tally;
  PatientWatch watch;
};

}  // namespace strider
