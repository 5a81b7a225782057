#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace strider {

/// A list of numbers in which many follow from those before them, such as the ranks of a case and the node of each
/// rank. It is kept as runs of equal steps: where ranks lie in blocks or in turns, these are as few as nodes, or as
/// ranks of a node. Numbers are below 2^31.
class NumberRuns {
 public:
  struct Run {
    std::uint32_t first_index;  ///< in the list
    std::uint32_t first;        ///< the number there
    std::int32_t step;          ///< from each number to the next; 0 where it is the only one
    friend auto operator<=>(const Run&, const Run&) = default;
  };
  class Iterator;

  NumberRuns() = default;
  NumberRuns(std::span<const std::uint32_t> numbers) {  // NOLINT(google-explicit-constructor): the same list
    for (const std::uint32_t number : numbers) push_back(number);
  }
  NumberRuns(const std::vector<std::uint32_t>& numbers)  // NOLINT(google-explicit-constructor): the same list
      : NumberRuns(std::span(numbers)) {}
  NumberRuns(std::initializer_list<std::uint32_t> numbers) : NumberRuns(std::span(numbers.begin(), numbers.size())) {}
  /// As `runs()` and `size()` of another list.
  NumberRuns(std::vector<Run> runs, std::uint32_t size) : runs_(std::move(runs)), size_(size) {}
  /// `count` numbers from `first` on.
  static NumberRuns consecutive(std::uint32_t first, std::uint32_t count);
  /// `count` times `number`.
  static NumberRuns equal(std::uint32_t number, std::uint32_t count);

  void push_back(std::uint32_t number);
  void append(const NumberRuns& others);
  std::size_t size() const { return size_; }
  std::uint32_t front() const { return runs_.front().first; }
  /// By a search among the runs.
  std::uint32_t operator[](std::size_t index) const;
  /// The numbers at these places, in their order.
  NumberRuns at(const NumberRuns& places) const;
  /// The first place of `number`; nothing where it is not in the list.
  std::optional<std::size_t> find(std::uint32_t number) const;
  /// All places of `number`.
  NumberRuns places_of(std::uint32_t number) const;
  /// Where each number is first, in the order of the list.
  NumberRuns first_places() const;
  /// The first `count` numbers.
  NumberRuns head(std::size_t count) const;
  std::span<const Run> runs() const { return runs_; }
  std::uint32_t length(std::size_t run) const {
    return (run + 1 < runs_.size() ? runs_[run + 1].first_index : size_) - runs_[run].first_index;
  }
  /// In order.
  std::vector<std::uint32_t> all() const;
  Iterator begin() const;
  Iterator end() const;

  friend auto operator<=>(const NumberRuns&, const NumberRuns&) = default;

 private:
  static std::uint32_t value(const Run& run, std::size_t place) {
    return static_cast<std::uint32_t>(run.first + static_cast<std::int64_t>(place) * run.step);
  }

  std::vector<Run> runs_;
  std::uint32_t size_ = 0;
};

class NumberRuns::Iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = std::uint32_t;
  using difference_type = std::ptrdiff_t;
  using pointer = const std::uint32_t*;
  using reference = std::uint32_t;

  Iterator() = default;
  Iterator(const NumberRuns& list, std::size_t run) : list_(&list), run_(run) {}
  std::uint32_t operator*() const { return value(list_->runs_[run_], place_); }
  Iterator& operator++() {
    if (++place_ == list_->length(run_)) ++run_, place_ = 0;
    return *this;
  }
  Iterator operator++(int) {
    Iterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const Iterator&, const Iterator&) = default;

 private:
  const NumberRuns* list_ = nullptr;
  std::size_t run_ = 0;
  std::uint32_t place_ = 0;
};

inline NumberRuns::Iterator NumberRuns::begin() const { return {*this, 0}; }
inline NumberRuns::Iterator NumberRuns::end() const { return {*this, runs_.size()}; }

}  // namespace strider
