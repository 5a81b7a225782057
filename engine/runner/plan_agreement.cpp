#include "runner/plan_agreement.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <exception>
#include <iostream>
#include <map>
#include <span>
#include <string>

#include "foundation/random.hpp"
#include "ranks/confinement_state.hpp"
#include "ranks/exchange.hpp"
#include "ranks/nodes.hpp"
#include "runner/announcement.hpp"
#include "runner/earlier_starts.hpp"
#include "runner/plan_errors.hpp"

namespace strider {
namespace {

constexpr int errors_tag = 921;
constexpr std::size_t most_groups = 16, most_ranges = 8;

/// Ranks with the same errors; the first of them tells which.
struct SameErrors {
  std::vector<std::uint32_t> ranks;
  std::string errors;
};

std::uint64_t hash_text(const std::string& text) {
  std::uint64_t hash = text.size();
  for (const char letter : text) hash = hash_numbers(hash, static_cast<unsigned char>(letter));
  return text.empty() ? 0 : hash | 1;
}

/// "ranks 0-7, 9"
std::string in_words(const std::vector<std::uint32_t>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  std::size_t ranges = 0;
  for (std::size_t begin = 0, end = 0; begin < ranks.size(); begin = end) {
    for (end = begin + 1; end < ranks.size() && ranks[end] == ranks[end - 1] + 1;) ++end;
    if (++ranges > most_ranges) return text + " and " + std::to_string(ranks.size() - begin) + " more";
    text += (begin > 0 ? ", " : "") + std::to_string(ranks[begin]);
    if (end - begin > 1) text += '-' + std::to_string(ranks[end - 1]);
  }
  return text;
}

/// "n3, n4: ranks 8-15"
std::string places_of(const std::vector<std::uint32_t>& ranks, const Nodes& nodes) {
  std::vector<std::uint32_t> numbers;
  for (const std::uint32_t rank : ranks) numbers.push_back(nodes.of_rank[rank]);
  std::ranges::sort(numbers);
  numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
  std::string text;
  for (std::size_t i = 0; i < numbers.size() && i < most_ranges; ++i)
    text += (i > 0 ? ", " : "") + nodes.table[numbers[i]].name;
  if (numbers.size() > most_ranges) text += " and " + std::to_string(numbers.size() - most_ranges) + " more";
  return text + ": " + in_words(ranks);
}

/// On rank 0: who has which errors. All ranks call it.
std::vector<SameErrors> gather_groups(const std::string& errors, int rank) {
  const std::vector<std::uint64_t> hashes = gather(hash_text(errors), MPI_COMM_WORLD, idle);
  std::map<std::uint64_t, SameErrors> by_hash;
  for (std::uint32_t other = 0; other < hashes.size(); ++other)
    if (hashes[other] != 0) by_hash[hashes[other]].ranks.push_back(other);
  std::vector<SameErrors> groups;
  for (auto& [hash, group] : by_hash) groups.push_back(std::move(group));
  std::ranges::sort(groups, {}, [](const SameErrors& group) { return group.ranks.front(); });
  if (groups.size() > most_groups) groups.resize(most_groups);
  std::array<int, most_groups> first{};
  first.fill(-1);
  for (std::size_t i = 0; i < groups.size(); ++i) first[i] = static_cast<int>(groups[i].ranks.front());
  broadcast(std::span<int>(first), MPI_COMM_WORLD, idle);
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i] < 0) continue;
    if (rank != 0 && first[i] == rank) send_sized(std::span(errors), 0, errors_tag, MPI_COMM_WORLD, idle);
    if (rank != 0) continue;
    if (first[i] == 0) groups[i].errors = errors;
    else receive_sized(groups[i].errors, first[i], errors_tag, MPI_COMM_WORLD, idle);
  }
  return groups;
}

void report(const std::vector<SameErrors>& groups, const Nodes& nodes, EventStream& events) {
  for (const SameErrors& group : groups) {
    const bool of_all = group.ranks.size() == nodes.of_rank.size();
    const std::string where = of_all ? "" : " (on " + places_of(group.ranks, nodes) + ")";
    for (const PlanError& error : unpacked(group.errors)) {
      ErrorInfo info;
      info.kind = "plan";
      info.rank = static_cast<int>(group.ranks.front());
      info.host = nodes.table[nodes.of_rank[group.ranks.front()]].name;
      info.message = error.message + where;
      info.remedy = error.remedy;
      if (!of_all)
        info.remedy += (info.remedy.empty() ? "" : "; ") +
                       std::string("install or mount there what the other nodes have, or leave out these nodes");
      std::cerr << "strider-engine: case " << error.case_number << ": " << info.message
                << (info.remedy.empty() ? "" : ": " + info.remedy) << '\n';
      events.error({error.case_number, 0, false, ""}, info);
    }
  }
}

}  // namespace

bool agree_on_plan(const std::vector<PlanError>& mine, const RunOptions& options) {
  if (!is_so_on_any(!mine.empty(), MPI_COMM_WORLD, idle)) return true;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::vector<SameErrors> groups = gather_groups(packed(mine), rank);
  const Nodes nodes = find_nodes(0, idle);
  const Confinement confinement = find_confinement(options.confinement, MPI_COMM_WORLD, idle);
  if (rank != 0) return false;
  try {
    EventStream events(options.events);
    if (!options.earlier.empty()) {
      const EarlierStarts earlier = read_earlier_starts(options.earlier);
      events.resume({.elapsed_s = earlier.elapsed_s, .samples = earlier.samples, .errors = earlier.errors});
    }
    const auto ranks = static_cast<std::uint32_t>(nodes.of_rank.size());
    events.run(announcement(options, ranks, nodes.table, Timer(), confinement));
    report(groups, nodes, events);
    events.end("failed");
  } catch (const std::exception& error) {
    std::cerr << "strider-engine: cannot record the errors of the plan: " << error.what() << '\n';
  }
  return false;
}

}  // namespace strider
