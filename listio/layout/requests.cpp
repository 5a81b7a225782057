#include "listio/layout/requests.hpp"

#include <algorithm>

#include "foundation/error.hpp"

namespace strider::listio {
namespace {

/// Adds a run to those that begin at `first`: to the last of them, if it continues that.
void append(std::vector<ByteRun>& runs, std::size_t first, const ByteRun& run) {
  if (runs.size() > first && runs.back().end() == run.offset) runs.back().length += run.length;
  else runs.push_back(run);
}

}  // namespace

Requests::Request Requests::operator[](std::size_t number) const {
  const End &begin = ends_[number], &end = ends_[number + 1];
  return {std::span(runs_).subspan(begin.runs, end.runs - begin.runs),
          std::span(memory_).subspan(begin.memory, end.memory - begin.memory), end.bytes - begin.bytes};
}

Requests split(std::span<const Extent> server_pieces, const RequestLimits& limits) {
  if (limits.most_runs == 0 || limits.most_bytes == 0)
    throw InputError("runs", "the limits of a request are 0 runs or 0 bytes", "allow at least one run and one byte");
  Requests requests;
  Requests::End begun;  // where the request that is being filled began
  std::uint64_t bytes = 0;
  const auto finish = [&] {
    begun = {requests.runs_.size(), requests.memory_.size(), bytes};
    requests.ends_.push_back(begun);
  };
  for (Extent rest : server_pieces) {
    while (rest.length > 0) {
      const bool continued = requests.runs_.size() > begun.runs && requests.runs_.back().end() == rest.file_offset;
      const bool no_run_left = requests.runs_.size() - begun.runs == limits.most_runs && !continued;
      if (no_run_left || bytes - begun.bytes == limits.most_bytes) finish();
      const std::uint64_t length = std::min(rest.length, limits.most_bytes - (bytes - begun.bytes));
      append(requests.runs_, begun.runs, {rest.file_offset, length});
      append(requests.memory_, begun.memory, {rest.memory_offset, length});
      bytes += length;
      rest = {rest.file_offset + length, rest.memory_offset + length, rest.length - length};
    }
  }
  if (bytes > begun.bytes) finish();
  return requests;
}

}  // namespace strider::listio
