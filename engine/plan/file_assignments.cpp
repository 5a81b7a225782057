#include "plan/file_assignments.hpp"

#include <algorithm>

#include "foundation/random.hpp"

namespace strider {

FileAssignments::FileAssignments(Sharing sharing, std::uint32_t clients, const NumberRuns& node_of)
    : sharing_(sharing), clients_(clients) {
  switch (sharing.kind) {
    case SharingKind::shared: files_ = 1; break;
    case SharingKind::per_rank: files_ = clients; break;
    case SharingKind::files: files_ = std::min(sharing.files, clients); break;
    case SharingKind::per_node: {
      node_of_ = node_of;
      for (const std::uint32_t node : node_of) {
        if (node >= node_ranks_.size()) node_ranks_.resize(node + 1);
        place_on_node_.push_back(node_ranks_[node]++);
      }
      files_ = node_ranks_.size();
      break;
    }
  }
}

FileAssignment FileAssignments::assignment(std::uint32_t rank) const {
  switch (sharing_.kind) {
    case SharingKind::shared: return {0, {rank, clients_}};
    case SharingKind::per_rank: return {rank, {0, 1}};
    case SharingKind::per_node: {
      const std::uint32_t node = node_of_[rank];
      return {node, {place_on_node_[rank], node_ranks_[node]}};
    }
    case SharingKind::files: break;
  }
  // File f belongs to ranks ceil(f * clients / files) and on: consecutive ranks, groups that differ by one at most.
  const std::uint64_t file = std::uint64_t{rank} * files_ / clients_;
  const auto first = static_cast<std::uint32_t>((file * clients_ + files_ - 1) / files_);
  return {file, {rank - first, ranks_of(file)}};
}

std::uint32_t FileAssignments::ranks_of(std::uint64_t file) const {
  switch (sharing_.kind) {
    case SharingKind::shared: return clients_;
    case SharingKind::per_rank: return 1;
    case SharingKind::per_node: return node_ranks_[file];
    case SharingKind::files: break;
  }
  const auto first_of = [&](std::uint64_t f) { return (f * clients_ + files_ - 1) / files_; };
  return static_cast<std::uint32_t>(first_of(file + 1) - first_of(file));
}

NumberRuns consecutive_nodes(std::uint32_t clients, std::uint32_t ranks_per_node) {
  if (ranks_per_node == 0) return NumberRuns::equal(0, clients);
  NumberRuns nodes;
  for (std::uint32_t rank = 0; rank < clients; ++rank) nodes.push_back(rank / ranks_per_node);
  return nodes;
}

std::uint32_t readback_rank(const Case& test, std::uint32_t rank, std::uint64_t repetition, std::uint32_t steps) {
  switch (test.readback) {
    case Readback::same: return rank;
    case Readback::shift: return static_cast<std::uint32_t>((std::uint64_t{rank} + test.shift) % test.clients);
    case Readback::growing_shift:
      return static_cast<std::uint32_t>((rank + std::uint64_t{test.shift} * steps) % test.clients);
    case Readback::shuffle: {
      // The ranks in a random circle: each reads what the next one wrote, and none what it wrote itself.
      const Permutation circle(test.clients, hash_numbers(test.seed, repetition));
      return static_cast<std::uint32_t>(circle((circle.inverse(rank) + 1) % test.clients));
    }
  }
  return rank;
}

std::string file_name(const Case& test, std::uint64_t file) {
  if (test.data_set.used()) return test.data_set.file_name(test.data_set.first_file + file);
  return "case" + std::to_string(test.number) + "." + std::to_string(file);
}

}  // namespace strider
