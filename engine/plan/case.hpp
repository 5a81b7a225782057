#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/extent.hpp"
#include "core/parameter.hpp"
#include "interfaces/interface.hpp"
#include "patterns/order.hpp"
#include "patterns/pattern.hpp"

namespace strider {

enum class Operation { write, rewrite, read, reread, read_modify_write, prefill };
enum class SharingKind { shared, per_rank, per_node, files };
enum class Readback { same, shift, shuffle };
enum class SyncPolicy { none, end, each };
enum class Verify { off, full };
enum class WearOut { no, yes };

struct Sharing {
  SharingKind kind = SharingKind::shared;
  std::uint32_t files = 1;  ///< with SharingKind::files
};

struct Repetitions {
  std::uint64_t minimum = 1;
  std::uint64_t maximum = 1;
  double until = 0;  ///< half-width of the 95 % interval of the mean rate, relative to it; 0: always `maximum`
};

/// One fully resolved combination of parameters.
struct Case {
  std::uint64_t number = 0;
  std::string name;
  std::uint32_t clients = 1;
  const InterfaceEntry* interface = nullptr;
  Settings interface_settings;
  const PatternEntry* pattern = nullptr;
  Settings pattern_settings;
  std::vector<Operation> operations;
  Repetitions repetitions;
  std::uint64_t warmup = 0;
  OrderKind order = OrderKind::forward;
  Sharing sharing;
  Readback readback = Readback::same;
  std::uint32_t shift = 1;  ///< ranks, with Readback::shift
  SyncPolicy sync = SyncPolicy::end;
  Verify verify = Verify::off;
  double deadline_s = 0;
  WearOut wear_out = WearOut::yes;
  double settle_s = 0;
  std::uint64_t seed = 1;
  /// Hash of everything that fixes the data in the files: the same for cases that differ only in their interface.
  std::uint64_t workload = 0;
};

struct OperationEntry {
  Operation operation;
  std::string_view name;
  std::string_view direction;  ///< read, write, both
  std::string_view doc;
};
/// The operations a suite may name.
std::span<const OperationEntry> all_operations();
std::string_view name_of(Operation operation);

constexpr bool reads(Operation operation) {
  return operation == Operation::read || operation == Operation::reread || operation == Operation::read_modify_write;
}
constexpr bool writes(Operation operation) { return operation != Operation::read && operation != Operation::reread; }
/// Whose share of the pattern an operation works on: a lone writer's, or every reader's.
constexpr Direction role_of(Operation operation) { return writes(operation) ? Direction::write : Direction::read; }

/// The parameters that every case has.
std::span<const Parameter> case_parameters();

}  // namespace strider
