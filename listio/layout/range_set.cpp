#include "listio/layout/range_set.hpp"

#include <algorithm>

namespace strider::listio {

RangeSet::RangeSet(std::span<const ByteRun> runs) {
  std::vector<ByteRun> sorted;
  sorted.reserve(runs.size());
  for (const ByteRun& run : runs)
    if (run.length > 0) sorted.push_back(run);
  std::ranges::sort(sorted, {}, &ByteRun::offset);
  for (const ByteRun& run : sorted) {
    if (runs_.empty() || runs_.back().end() < run.offset) runs_.push_back(run);
    else runs_.back().length = std::max(runs_.back().end(), run.end()) - runs_.back().offset;
  }
}

void RangeSet::add(const RangeSet& other) {
  if (other.empty()) return;
  std::vector<ByteRun> all = runs_;
  all.insert(all.end(), other.runs_.begin(), other.runs_.end());
  *this = RangeSet(all);
}

void RangeSet::remove(const RangeSet& other) {
  std::vector<ByteRun> left;
  auto cut = other.runs_.begin();
  for (const ByteRun& run : runs_) {
    while (cut != other.runs_.end() && cut->end() <= run.offset) ++cut;
    std::uint64_t begin = run.offset;
    for (auto each = cut; each != other.runs_.end() && each->offset < run.end(); ++each) {
      if (each->offset > begin) left.push_back({begin, each->offset - begin});
      begin = std::max(begin, each->end());
    }
    if (begin < run.end()) left.push_back({begin, run.end() - begin});
  }
  runs_ = std::move(left);
}

std::optional<ByteRun> RangeSet::overlap(const RangeSet& other) const {
  if (size() > other.size()) return other.overlap(*this);
  for (const ByteRun& run : runs_) {
    const auto found = std::ranges::upper_bound(other.runs_, run.offset, {}, &ByteRun::end);
    if (found == other.runs_.end()) return {};
    const std::uint64_t begin = std::max(run.offset, found->offset), end = std::min(run.end(), found->end());
    if (begin < end) return ByteRun{begin, end - begin};
  }
  return {};
}

void RangeSet::coarsen(std::size_t most) {
  if (runs_.size() <= most) return;
  const std::size_t surplus = runs_.size() - most;
  std::vector<std::uint64_t> gaps;
  for (std::size_t i = 1; i < runs_.size(); ++i) gaps.push_back(runs_[i].offset - runs_[i - 1].end());
  std::vector<std::uint64_t> sorted = gaps;
  const auto last = sorted.begin() + static_cast<std::ptrdiff_t>(surplus - 1);
  std::nth_element(sorted.begin(), last, sorted.end());
  const std::uint64_t largest = *last;
  // Of the gaps as large as the largest that is closed, only as many as are left over by the smaller ones.
  std::size_t equal =
      surplus - static_cast<std::size_t>(std::ranges::count_if(gaps, [&](std::uint64_t gap) { return gap < largest; }));
  std::vector<ByteRun> coarse{runs_.front()};
  for (std::size_t i = 1; i < runs_.size(); ++i) {
    const bool closes = gaps[i - 1] < largest || (gaps[i - 1] == largest && equal > 0);
    if (closes && gaps[i - 1] == largest) --equal;
    if (closes) coarse.back().length = runs_[i].end() - coarse.back().offset;
    else coarse.push_back(runs_[i]);
  }
  runs_ = std::move(coarse);
}

}  // namespace strider::listio
