#include "listio/server/buffer_grants.hpp"

#include <algorithm>

namespace strider::listio {

BufferGrants::BufferGrants(std::uint64_t buffers, std::uint32_t per_client)
    : buffers_(buffers), per_client_(per_client) {}

void BufferGrants::request(Peer peer, std::uint32_t buffers) {
  Client& client = clients_[peer];
  if (client.has_window) return;
  const auto lent = static_cast<std::uint32_t>(client.lent.size());
  const std::uint32_t more = std::min(buffers, per_client_ - lent - client.wanted);
  if (more == 0) return;
  if (client.wanted == 0) waiting_.push_back(peer);
  client.wanted += more;
}

void BufferGrants::cancel(Peer peer) {
  const auto found = clients_.find(peer);
  if (found == clients_.end() || found->second.wanted == 0) return;
  found->second.wanted = 0;
  std::erase(waiting_, peer);
}

void BufferGrants::touch(Peer peer) {
  const auto found = clients_.find(peer);
  if (found == clients_.end()) return;
  for (auto& [buffer, used] : found->second.lent) used = std::chrono::steady_clock::now();
}

bool BufferGrants::release(Peer peer, std::uint32_t buffer) {
  const auto found = clients_.find(peer);
  if (found == clients_.end() || found->second.lent.erase(buffer) == 0) return false;
  --granted_;
  return true;
}

bool BufferGrants::grant_window(Peer peer) {
  if (buffers_ - granted_ < per_client_) return false;
  clients_[peer].has_window = true;
  granted_ += per_client_;
  in_windows_ += per_client_;
  return true;
}

void BufferGrants::end(Peer peer) {
  cancel(peer);
  const auto found = clients_.find(peer);
  if (found == clients_.end()) return;
  const Client& client = found->second;
  if (client.has_window) in_windows_ -= per_client_;
  granted_ -= client.has_window ? per_client_ : client.lent.size();
  clients_.erase(found);
}

std::vector<BufferGrants::Granted> BufferGrants::grant() {
  std::vector<Granted> all;
  while (!waiting_.empty() && granted_ < buffers_) {
    const Peer peer = waiting_.front();
    Client& client = clients_[peer];
    waiting_.pop_front();
    const bool keeps =
        client.lent.empty() && waiting_.empty() && in_windows_ + per_client_ <= buffers_ / 2 && grant_window(peer);
    if (keeps) client.wanted = 0;
    all.push_back({peer, keeps ? Grant{0, per_client_, Term::connection} : grant_to(client)});
    if (client.wanted > 0) waiting_.push_back(peer);
  }
  return all;
}

/// A buffer for one request.
Grant BufferGrants::grant_to(Client& client) {
  std::uint32_t buffer = 0;
  while (client.lent.contains(buffer)) ++buffer;
  client.lent.emplace(buffer, std::chrono::steady_clock::now());
  --client.wanted;
  ++granted_;
  return {buffer, 1, Term::request};
}

bool BufferGrants::has(Peer peer, std::uint32_t buffer) const {
  const auto found = clients_.find(peer);
  return found != clients_.end() && (found->second.has_window || found->second.lent.contains(buffer));
}

std::vector<Peer> BufferGrants::holders_since(const Deadline& then) const {
  std::vector<Peer> holders;
  if (waiting_.empty()) return holders;
  for (const auto& [peer, client] : clients_)
    if (std::any_of(client.lent.begin(), client.lent.end(), [&](const auto& each) { return each.second < then; }))
      holders.push_back(peer);
  return holders;
}

}  // namespace strider::listio
