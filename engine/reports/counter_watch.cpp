#include "reports/counter_watch.hpp"

#include <string>
#include <utility>

#include "foundation/clock.hpp"
#include "measure/counter_sources.hpp"
#include "ranks/exchange.hpp"
#include "reports/node_rows.hpp"

namespace strider {
namespace {

constexpr int counters_tag = 916;

/// Goes before the text of a node's counters.
struct Head {
  std::uint64_t text_bytes = 0;  ///< 0: this rank does not count
  std::uint32_t node = 0;
  double elapsed_s = 0, sampling_s = 0;
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
  int rank = 0;
  MPI_Comm_rank(communicator_, &rank);
  const std::string text = counts_ ? to_text(found_.groups) : "";
  const Head head{text.size(), context_.nodes.mine, found_.elapsed_s, found_.sampling_s};
  const std::vector<Head> heads = strider::gather(head, communicator_, waiting);
  if (rank != 0) {
    if (!text.empty()) send(std::span(text), 0, counters_tag, communicator_, waiting);
    return {};
  }
  NodeRows<NodeCounters> nodes;
  for (std::size_t other = 0; other < heads.size(); ++other) {
    const Head& theirs = heads[other];
    if (theirs.text_bytes == 0) continue;
    std::string received(other == 0 ? text : std::string(theirs.text_bytes, ' '));
    if (other != 0) receive(std::span(received), static_cast<int>(other), counters_tag, communicator_, waiting);
    CounterGroups groups = counters_from_text(received);
    const double moved_bytes = moved_outside(groups);
    nodes.add({theirs.node, theirs.elapsed_s, theirs.sampling_s, std::move(groups)}, moved_bytes);
  }
  return nodes.take();
}

}  // namespace strider
