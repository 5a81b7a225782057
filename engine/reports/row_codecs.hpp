#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "events/rows.hpp"
#include "reports/gather_rows.hpp"

namespace strider {

/// How rows of nodes travel between ranks, for `gather_node_rows`.

struct NodeCountersCodec {
  /// Goes before the text of the counters.
  struct Head {
    std::uint64_t text_bytes;
    std::optional<std::uint32_t> node;
    std::uint32_t nodes;
    double elapsed_s, sampling_s;
  };
  static void pack(const NodeCounters& row, PackedBytes& bytes) {
    const std::string text = to_text(row.groups);
    bytes.add(Head{text.size(), row.node, row.nodes, row.elapsed_s, row.sampling_s});
    bytes.add(std::span(std::as_const(text)));
  }
  static NodeCounters unpack(UnpackedBytes& bytes) {
    const auto head = bytes.take<Head>();
    std::string text(head.text_bytes, ' ');
    bytes.take(std::span(text));
    return {head.node, head.elapsed_s, head.sampling_s, counters_from_text(text), head.nodes};
  }
};

struct TimelineCodec {
  /// Goes before the intervals.
  struct Head {
    std::uint64_t intervals;
    std::optional<std::uint32_t> node;
    std::uint32_t nodes;
    double start_s, interval_s;
  };
  static void pack(const TimelineRow& row, PackedBytes& bytes) {
    bytes.add(Head{row.intervals.size(), row.node, row.nodes, row.start_s, row.interval_s});
    bytes.add(std::span(row.intervals));
  }
  static TimelineRow unpack(UnpackedBytes& bytes) {
    const auto head = bytes.take<Head>();
    std::vector<Timeline::Interval> intervals(head.intervals);
    bytes.take(std::span(intervals));
    return {{}, head.node, head.nodes, head.start_s, head.interval_s, std::move(intervals)};
  }
};

}  // namespace strider
