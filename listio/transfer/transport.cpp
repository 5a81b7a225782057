#include "listio/transfer/transport.hpp"

#include <stdexcept>

#include "foundation/bounds.hpp"

namespace strider::listio {

RemoteMemory Transport::expose(Peer peer, std::span<std::byte> memory, const Region* region) {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  if (strict_ != nullptr) check_region({begin, begin + memory.size()}, region);
  return do_expose(peer, memory, region);
}

void Transport::send(Peer peer, std::span<const std::byte> message) {
  if (message.size() > most_message_bytes)
    throw std::logic_error("a message of " + std::to_string(message.size()) + " bytes does not fit");
  ++counters_.messages_sent;
  counters_.message_bytes_sent += message.size();
  do_send(peer, message);
}

Transport::Posted Transport::put(Peer peer, const LocalMemory& from, const RemotePlace& place, std::uint64_t token) {
  counters_.bytes += checked(from, place);
  counters_.pieces += from.pieces.size();
  ++counters_.puts;
  return do_put(peer, from, place, token);
}

Transport::Posted Transport::get(Peer peer, const LocalMemory& into, const RemotePlace& place, std::uint64_t token) {
  counters_.bytes += checked(into, place);
  counters_.pieces += into.pieces.size();
  ++counters_.gets;
  return do_get(peer, into, place, token);
}

void Transport::be_strict(Domain& domain) {
  domain.track();
  strict_ = &domain;
}

Registering Transport::registering() const {
  return strict_ != nullptr ? Registering::needed : properties().registering;
}

std::uint64_t Transport::checked(const LocalMemory& local, const RemotePlace& place) const {
  if (local.pieces.empty() || local.pieces.size() > properties().most_pieces)
    throw std::logic_error(std::to_string(local.pieces.size()) + " pieces in one operation of " + std::string(name()));
  std::uint64_t bytes = 0;
  for (const iovec& piece : local.pieces) bytes += piece.iov_len;
  if (!ends_within(place.offset, bytes, place.memory.bytes))
    throw std::logic_error(std::to_string(bytes) + " bytes at " + std::to_string(place.offset) + " of " +
                           std::to_string(place.memory.bytes) + " that the peer has exposed");
  if (strict_ == nullptr) return bytes;
  if (local.regions.size() != local.pieces.size()) throw std::logic_error("strict: pieces without regions");
  for (std::size_t i = 0; i < local.pieces.size(); ++i) {
    const auto begin = reinterpret_cast<std::uintptr_t>(local.pieces[i].iov_base);
    check_region({begin, begin + local.pieces[i].iov_len}, local.regions[i]);
  }
  return bytes;
}

void Transport::check_region(const Range& piece, const Region* region) const {
  if (region == nullptr || !region->range.contains(piece) || !strict_->is_live(*region))
    throw std::logic_error("strict: " + std::to_string(piece.bytes()) +
                           " bytes are outside any live region of domain " + std::string(strict_->name()));
}

}  // namespace strider::listio
