#include "reports/counter_watch.hpp"

#include <utility>

#include "foundation/clock.hpp"
#include "measure/counter_sources.hpp"
#include "reports/row_codecs.hpp"

namespace strider {
namespace {

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
  return gather_node_rows<NodeCountersCodec>(std::move(rows), communicator_, waiting).take();
}

}  // namespace strider
