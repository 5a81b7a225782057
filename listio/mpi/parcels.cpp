#include "listio/mpi/parcels.hpp"

#include <algorithm>
#include <cstring>

namespace strider::listio::mpi {

void RunParcel::add(const ByteRun& run) {
  bytes_of_runs_ += run.length;
  if (!runs_.empty() && runs_.back().end() == run.offset) runs_.back().length += run.length;
  else runs_.push_back(run);
}

Bytes RunParcel::pack() {
  const std::uint64_t count = runs_.size();
  bytes_.append(runs_.data(), runs_.size() * sizeof(ByteRun));
  bytes_.append(&count, sizeof(count));
  return std::move(bytes_);
}

std::vector<ByteRun> RunParcel::unpack(const Bytes& packed) {
  std::uint64_t count = 0;
  const std::byte* const end = packed.data() + packed.size() - sizeof(count);
  std::memcpy(&count, end, sizeof(count));
  std::vector<ByteRun> runs(count);
  std::memcpy(runs.data(), end - count * sizeof(ByteRun), count * sizeof(ByteRun));
  return runs;
}

RunUnion::RunUnion(std::span<const std::vector<ByteRun>> lists) {
  std::vector<ByteRun> all;
  std::size_t sorted = 0;
  for (const std::vector<ByteRun>& list : lists) {
    all.insert(all.end(), list.begin(), list.end());
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(sorted);
    std::inplace_merge(all.begin(), middle, all.end(),
                       [](const ByteRun& a, const ByteRun& b) { return a.offset < b.offset; });
    sorted = all.size();
  }
  for (const ByteRun& run : all) {
    if (!runs_.empty() && run.offset <= runs_.back().end()) {
      const std::uint64_t end = std::max(runs_.back().end(), run.end());
      runs_.back().length = end - runs_.back().offset;
    } else {
      runs_.push_back(run);
    }
  }
  for (const ByteRun& run : runs_) {
    before_.push_back(bytes_);
    bytes_ += run.length;
  }
}

}  // namespace strider::listio::mpi
