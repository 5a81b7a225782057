#include "ranks/communicators.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace strider {
namespace {

constexpr int meeting_tag = 919, group_tag = 918;

/// Of the rank that a message did not come from: in the first round no other rank can be the reason.
std::string missing(int rank, MPI_Comm communicator, bool is_first_round) {
  const std::string of = communicator == MPI_COMM_WORLD ? "" : " of the case";
  return "rank " + std::to_string(rank) + of + (is_first_round ? "" : ", or a rank that it waits for,");
}

void give_up(MPI_Request& request) {
  if (request == MPI_REQUEST_NULL) return;
  MPI_Cancel(&request);
  MPI_Request_free(&request);
}

/// First, last and step of each run.
std::vector<std::array<int, 3>> ranges_of(const NumberRuns& members) {
  std::vector<std::array<int, 3>> ranges;
  for (std::size_t run = 0; run < members.runs().size(); ++run) {
    const auto& [first_index, first, step] = members.runs()[run];
    const auto begin = static_cast<int>(first), length = static_cast<int>(members.length(run));
    ranges.push_back({begin, begin + (length - 1) * step, step == 0 ? 1 : step});
  }
  return ranges;
}

}  // namespace

void meet(const NumberRuns& members, MPI_Comm communicator, const std::string& purpose, const WaitOptions& waiting) {
  int me = 0;
  MPI_Comm_rank(communicator, &me);
  const std::size_t count = members.size();
  const std::size_t place = members.find(static_cast<std::uint32_t>(me)).value_or(count);
  for (std::size_t distance = 1; distance < count; distance *= 2) {
    const auto before = static_cast<int>(members[(place + count - distance) % count]),
               after = static_cast<int>(members[(place + distance) % count]);
    MPI_Request sending = MPI_REQUEST_NULL, receiving = MPI_REQUEST_NULL;
    MPI_Irecv(nullptr, 0, MPI_BYTE, before, meeting_tag, communicator, &receiving);
    MPI_Isend(nullptr, 0, MPI_BYTE, after, meeting_tag, communicator, &sending);
    try {
      wait(receiving, waiting);
      wait(sending, waiting);
    } catch (const StallError& error) {
      const int absent = receiving == MPI_REQUEST_NULL ? after : before;
      for (MPI_Request* const request : {&receiving, &sending}) give_up(*request);
      throw StallError(std::string(error.what()) + " " + purpose + ", and " +
                       missing(absent, communicator, distance == 1) + " did not come");
    }
  }
}

MPI_Comm communicator_among(const NumberRuns& members, const std::string& purpose, const WaitOptions& waiting) {
  MPI_Group world = MPI_GROUP_NULL, part = MPI_GROUP_NULL;
  MPI_Comm communicator = MPI_COMM_NULL;
  meet(members, MPI_COMM_WORLD, purpose, waiting);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  std::vector<std::array<int, 3>> ranges = ranges_of(members);
  MPI_Group_range_incl(world, static_cast<int>(ranges.size()), reinterpret_cast<int (*)[3]>(ranges.data()), &part);
  MPI_Comm_create_group(MPI_COMM_WORLD, part, group_tag, &communicator);
  MPI_Group_free(&part);
  MPI_Group_free(&world);
  return communicator;
}

MPI_Comm split(MPI_Comm communicator, int colour, int key, const std::string& purpose, const WaitOptions& waiting) {
  int ranks = 1;
  MPI_Comm_size(communicator, &ranks);
  meet(NumberRuns::consecutive(0, static_cast<std::uint32_t>(ranks)), communicator, purpose, waiting);
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(communicator, colour, key, &part);
  return part;
}

void CommunicatorCache::begin_turn() {
  ++turn_;
  std::erase_if(made_, [&](const auto& entry) {
    auto [communicator, last_turn] = entry.second;
    if (turn_ - last_turn <= idle_turns) return false;
    if (communicator != MPI_COMM_WORLD) MPI_Comm_free(&communicator);
    return true;
  });
}

MPI_Comm CommunicatorCache::of(const NumberRuns& case_ranks) {
  const auto [found, is_new] = made_.try_emplace(case_ranks);
  if (is_new) found->second.communicator = make(case_ranks);
  found->second.last_turn = turn_;
  return found->second.communicator;
}

void CommunicatorCache::free() {
  for (auto& [key, made] : made_)
    if (made.communicator != MPI_COMM_WORLD) MPI_Comm_free(&made.communicator);
  made_.clear();
}

MPI_Comm CommunicatorCache::make(const NumberRuns& case_ranks) const {
  int all = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  if (case_ranks == NumberRuns::consecutive(0, static_cast<std::uint32_t>(all))) return MPI_COMM_WORLD;
  return communicator_among(case_ranks, "to begin a case together", {.stall_timeout_s = stall_timeout_s_});
}

}  // namespace strider
