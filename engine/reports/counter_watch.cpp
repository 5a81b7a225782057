#include "reports/counter_watch.hpp"

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "foundation/clock.hpp"
#include "measure/counter_sources.hpp"
#include "reports/gather_rows.hpp"

namespace strider {
namespace {

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

/// Bytes that a node moved to and from devices and networks.
double moved_outside(const CounterGroups& groups) {
  const StorageTraffic traffic = StorageTraffic::of(groups, StorageSource::unknown);
  double bytes = 0;
  for (const Moved& each : {traffic.network, traffic.block})
    bytes += static_cast<double>(each.read) + static_cast<double>(each.written);
  return bytes;
}

}  // namespace

CounterWatch::CounterWatch(const RunContext& context, MPI_Comm communicator)
    : context_(context),
      communicator_(communicator),
      counts_(context.nodes.counts && context.counters != CounterScope::none) {
  if (!counts_) return;
  before_ = read();
  begin_ns_ = monotonic_ns();
}

CounterGroups CounterWatch::read() {
  const std::uint64_t begin = monotonic_ns();
  CounterGroups groups = CounterSources(context_.counters, "", context_.processes).read();
  found_.sampling_s += static_cast<double>(monotonic_ns() - begin) * 1e-9;
  return groups;
}

void CounterWatch::finish() {
  if (!counts_) return;
  found_.node = context_.nodes.mine;
  found_.elapsed_s = static_cast<double>(monotonic_ns() - begin_ns_) * 1e-9;
  found_.groups = difference(before_, read());
  storage_ = StorageTraffic::of(found_.groups, context_.storage.source);
}

std::vector<NodeCounters> CounterWatch::gather(const WaitOptions& waiting) const {
  if (context_.counters == CounterScope::none) return {};
  NodeRows<NodeCounters> rows;
  if (counts_) rows.add(found_, moved_outside(found_.groups));
  return gather_rows<NodeCountersCodec>(std::move(rows), communicator_, waiting).take();
}

}  // namespace strider
