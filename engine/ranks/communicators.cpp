#include "ranks/communicators.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "foundation/random.hpp"

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

}  // namespace

void meet(const std::vector<int>& members, MPI_Comm communicator, const std::string& purpose,
          const WaitOptions& waiting) {
  int me = 0;
  MPI_Comm_rank(communicator, &me);
  const std::size_t count = members.size();
  const auto place = static_cast<std::size_t>(std::ranges::find(members, me) - members.begin());
  for (std::size_t distance = 1; distance < count; distance *= 2) {
    const int before = members[(place + count - distance) % count], after = members[(place + distance) % count];
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

MPI_Comm communicator_among(const std::vector<int>& members, const std::string& purpose, const WaitOptions& waiting) {
  MPI_Group world = MPI_GROUP_NULL, part = MPI_GROUP_NULL;
  MPI_Comm communicator = MPI_COMM_NULL;
  meet(members, MPI_COMM_WORLD, purpose, waiting);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, static_cast<int>(members.size()), members.data(), &part);
  MPI_Comm_create_group(MPI_COMM_WORLD, part, group_tag, &communicator);
  MPI_Group_free(&part);
  MPI_Group_free(&world);
  return communicator;
}

MPI_Comm split(MPI_Comm communicator, int colour, int key, const std::string& purpose, const WaitOptions& waiting) {
  int ranks = 1;
  MPI_Comm_size(communicator, &ranks);
  std::vector<int> members(static_cast<std::size_t>(ranks));
  std::iota(members.begin(), members.end(), 0);
  meet(members, communicator, purpose, waiting);
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(communicator, colour, key, &part);
  return part;
}

CommunicatorCache::Key CommunicatorCache::key_of(std::span<const std::uint32_t> seats) {
  std::uint64_t hash = 0;
  for (const std::uint32_t seat : seats) hash = hash_numbers(hash, seat);
  return {seats.size(), seats.front(), seats.back(), hash};
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

MPI_Comm CommunicatorCache::of(std::span<const std::uint32_t> seats) {
  const auto [found, is_new] = made_.try_emplace(key_of(seats));
  if (is_new) found->second.communicator = make(seats);
  found->second.last_turn = turn_;
  return found->second.communicator;
}

void CommunicatorCache::free() {
  for (auto& [key, made] : made_)
    if (made.communicator != MPI_COMM_WORLD) MPI_Comm_free(&made.communicator);
  made_.clear();
}

MPI_Comm CommunicatorCache::make(std::span<const std::uint32_t> seats) const {
  const std::vector<int> ranks(seats.begin(), seats.end());
  int all = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  if (static_cast<int>(ranks.size()) == all && std::ranges::is_sorted(ranks)) return MPI_COMM_WORLD;
  return communicator_among(ranks, "to begin a case together", {.stall_timeout_s = stall_timeout_s_});
}

}  // namespace strider
