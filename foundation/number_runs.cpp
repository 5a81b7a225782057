#include "foundation/number_runs.hpp"

#include <algorithm>
#include <set>

namespace strider {

NumberRuns NumberRuns::consecutive(std::uint32_t first, std::uint32_t count) {
  if (count == 0) return {};
  return {{Run{0, first, count > 1 ? 1 : 0}}, count};
}

NumberRuns NumberRuns::equal(std::uint32_t number, std::uint32_t count) {
  if (count == 0) return {};
  return {{Run{0, number, 0}}, count};
}

void NumberRuns::push_back(std::uint32_t number) {
  const std::uint32_t index = size_++;
  if (!runs_.empty()) {
    Run& last = runs_.back();
    const std::uint32_t length = index - last.first_index;
    if (length == 1) last.step = static_cast<std::int32_t>(number - last.first);
    if (length == 1 || value(last, length) == number) return;
  }
  runs_.push_back({index, number, 0});
}

void NumberRuns::append(const NumberRuns& others) {
  for (const std::uint32_t number : others) push_back(number);
}

std::uint32_t NumberRuns::operator[](std::size_t index) const {
  const auto behind = std::ranges::upper_bound(runs_, index, {}, &Run::first_index);
  const Run& run = *(behind - 1);
  return value(run, index - run.first_index);
}

NumberRuns NumberRuns::at(const NumberRuns& places) const {
  if (places == consecutive(0, size_)) return *this;
  NumberRuns found;
  std::size_t run = 0;  // that of the place before: the next one is often there or in the next run
  for (const std::uint32_t place : places) {
    if (place - runs_[run].first_index >= length(run) && run + 1 < runs_.size()) ++run;
    if (place - runs_[run].first_index >= length(run))  // it wraps around for a place before the run
      run = static_cast<std::size_t>(std::ranges::upper_bound(runs_, place, {}, &Run::first_index) - runs_.begin()) - 1;
    found.push_back(value(runs_[run], place - runs_[run].first_index));
  }
  return found;
}

std::optional<std::size_t> NumberRuns::find(std::uint32_t number) const {
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    const auto& [first_index, first, step] = runs_[run];
    const std::int64_t away = std::int64_t{number} - first;
    const std::int64_t place = step == 0 ? 0 : away / step;
    if (place * step == away && place >= 0 && place < length(run)) return first_index + static_cast<std::size_t>(place);
  }
  return std::nullopt;
}

NumberRuns NumberRuns::places_of(std::uint32_t number) const {
  NumberRuns places;
  std::uint32_t place = 0;
  for (const std::uint32_t other : *this) {
    if (other == number) places.push_back(place);
    ++place;
  }
  return places;
}

NumberRuns NumberRuns::first_places() const {
  NumberRuns places;
  std::set<std::uint32_t> known;
  std::optional<std::uint32_t> before;  // mostly the same: not looked up again
  std::uint32_t place = 0;
  for (const std::uint32_t number : *this) {
    if (std::exchange(before, number) != number && known.insert(number).second) places.push_back(place);
    ++place;
  }
  return places;
}

NumberRuns NumberRuns::head(std::size_t count) const {
  NumberRuns head;
  for (std::size_t run = 0; run < runs_.size() && runs_[run].first_index < count; ++run)
    head.runs_.push_back(runs_[run]);
  head.size_ = static_cast<std::uint32_t>(std::min<std::size_t>(count, size_));
  if (!head.runs_.empty() && head.length(head.runs_.size() - 1) == 1) head.runs_.back().step = 0;
  return head;
}

std::vector<std::uint32_t> NumberRuns::all() const { return {begin(), end()}; }

}  // namespace strider
