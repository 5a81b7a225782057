#pragma once
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "ranks/waiting.hpp"

namespace strider {

/// MPI's operations between the ranks of a communicator, begun without blocking and waited for as `waiting` says. All
/// throw StallError; the collective ones are called by all ranks, with the same number of elements. Values travel as
/// bytes, so all nodes have to be of one kind.

void barrier(MPI_Comm communicator, const WaitOptions& waiting);
/// Rank 0's bytes, on all ranks.
void broadcast_bytes(std::span<std::byte> bytes, MPI_Comm communicator, const WaitOptions& waiting);
/// On rank 0 what all ranks have, as many bytes of each, in their order; on the others `all` is not looked at.
void gather_bytes(std::span<const std::byte> mine, std::span<std::byte> all, MPI_Comm communicator,
                  const WaitOptions& waiting);
void send_bytes(std::span<const std::byte> bytes, int receiver, int tag, MPI_Comm communicator,
                const WaitOptions& waiting);
/// `sender` may be MPI_ANY_SOURCE.
void receive_bytes(std::span<std::byte> bytes, int sender, int tag, MPI_Comm communicator, const WaitOptions& waiting);

/// Elementwise over all ranks, in place; the result is on all of them.
void all_reduce(std::span<int> numbers, MPI_Op operation, MPI_Comm communicator, const WaitOptions& waiting);
void all_reduce(std::span<std::uint64_t> numbers, MPI_Op operation, MPI_Comm communicator, const WaitOptions& waiting);
void all_reduce(std::span<double> numbers, MPI_Op operation, MPI_Comm communicator, const WaitOptions& waiting);
/// Whether it is so on any rank.
bool is_so_on_any(bool mine, MPI_Comm communicator, const WaitOptions& waiting);

template <typename Value>
concept TravelsAsBytes = std::is_trivially_copyable_v<Value>;

template <TravelsAsBytes Value>
void broadcast(std::span<Value> values, MPI_Comm communicator, const WaitOptions& waiting) {
  broadcast_bytes(std::as_writable_bytes(values), communicator, waiting);
}
template <TravelsAsBytes Value>
void broadcast(Value& value, MPI_Comm communicator, const WaitOptions& waiting) {
  broadcast(std::span(&value, 1), communicator, waiting);
}

/// Rank 0's elements, on all ranks, however many they are.
template <typename Elements>
void broadcast_sized(Elements& elements, MPI_Comm communicator, const WaitOptions& waiting) {
  std::uint64_t size = elements.size();
  broadcast(size, communicator, waiting);
  elements.resize(size);
  if (size > 0) broadcast(std::span(elements), communicator, waiting);
}

/// On rank 0 the value of each rank; nothing on the others.
template <TravelsAsBytes Value>
std::vector<Value> gather(const Value& mine, MPI_Comm communicator, const WaitOptions& waiting) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &ranks);
  std::vector<Value> all(rank == 0 ? static_cast<std::size_t>(ranks) : 0);
  gather_bytes(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)), communicator, waiting);
  return all;
}

/// The value of each rank, on all ranks.
template <TravelsAsBytes Value>
std::vector<Value> gather_to_all(const Value& mine, MPI_Comm communicator, const WaitOptions& waiting) {
  int ranks = 1;
  MPI_Comm_size(communicator, &ranks);
  std::vector<Value> all = gather(mine, communicator, waiting);
  all.resize(static_cast<std::size_t>(ranks));
  broadcast(std::span(all), communicator, waiting);
  return all;
}

template <TravelsAsBytes Value>
void send(std::span<Value> values, int receiver, int tag, MPI_Comm communicator, const WaitOptions& waiting) {
  send_bytes(std::as_bytes(values), receiver, tag, communicator, waiting);
}
template <TravelsAsBytes Value>
void receive(std::span<Value> values, int sender, int tag, MPI_Comm communicator, const WaitOptions& waiting) {
  receive_bytes(std::as_writable_bytes(values), sender, tag, communicator, waiting);
}

/// Their number goes before them, for `receive_sized`.
template <TravelsAsBytes Value>
void send_sized(std::span<const Value> values, int receiver, int tag, MPI_Comm communicator,
                const WaitOptions& waiting) {
  const std::uint64_t size = values.size();
  send(std::span(&size, 1), receiver, tag, communicator, waiting);
  if (size > 0) send(values, receiver, tag, communicator, waiting);
}
/// Appends what `send_sized` sends, however many values there are.
template <typename Elements>
void receive_sized(Elements& elements, int sender, int tag, MPI_Comm communicator, const WaitOptions& waiting) {
  std::uint64_t size = 0;
  receive(std::span(&size, 1), sender, tag, communicator, waiting);
  const std::size_t known = elements.size();
  elements.resize(known + size);
  if (size > 0) receive(std::span(elements).subspan(known), sender, tag, communicator, waiting);
}

}  // namespace strider
