#pragma once
#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

namespace strider {

/// So many nodes have a row of their own in the events of a phase.
constexpr std::size_t most_nodes_one_by_one = 64;

/// The rows of the nodes that matter most, and one of all others together, so that neither events nor memory grow with
/// the number of nodes. A `Row` has `node`, and `take_in`, which makes it one of its own nodes and those of another.
template <typename Row>
class NodeRows {
 public:
  explicit NodeRows(std::size_t most = most_nodes_one_by_one) : most_(most) {}

  /// Of nodes with the same weight, the later one is the first to go. A row of several nodes joins that of the others.
  void add(Row row, double weight) {
    if (!row.node) return add_to_rest(row);
    kept_.push_back({weight, count_++, std::move(row)});
    std::ranges::push_heap(kept_, std::greater<>{}, key);
    if (kept_.size() <= most_) return;
    std::ranges::pop_heap(kept_, std::greater<>{}, key);
    add_to_rest(kept_.back().row);
    kept_.pop_back();
  }
  /// Calls `use(row, weight)` with each row in the order in which they were added, that of the others last.
  template <typename Use>
  void for_each(const Use& use) {
    std::ranges::sort(kept_, {}, &Kept::number);
    for (const Kept& each : kept_) use(each.row, each.weight);
    std::ranges::make_heap(kept_, std::greater<>{}, key);
    if (rest_) use(*rest_, 0);
  }
  /// In the order in which they were added, that of the others last.
  std::vector<Row> take() {
    std::ranges::sort(kept_, {}, &Kept::number);
    std::vector<Row> rows;
    for (Kept& each : kept_) rows.push_back(std::move(each.row));
    if (rest_) rows.push_back(*std::exchange(rest_, std::nullopt));
    kept_.clear();
    return rows;
  }

 private:
  struct Kept {
    double weight = 0;
    std::size_t number = 0;
    Row row;
  };
  void add_to_rest(const Row& row) {
    if (rest_) rest_->take_in(row);
    else rest_ = Row::of_no_node(row);
  }
  static std::pair<double, std::size_t> key(const Kept& one) { return {one.weight, ~one.number}; }

  std::size_t most_, count_ = 0;
  std::vector<Kept> kept_;  ///< a heap, with the least at its top
  std::optional<Row> rest_;
};

}  // namespace strider
