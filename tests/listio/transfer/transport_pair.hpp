#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#ifdef STRIDER_OFI
#include "listio/ofi/fabric.hpp"
#endif
#include "listio/transfer/transport.hpp"
#include "test_host.hpp"

namespace strider::listio {

/// Notes what happens.
class Notes final : public TransportEvents {
 public:
  void connected(Peer peer) override { peers.push_back(peer); }
  void received(Peer, std::span<const std::byte> message) override {
    messages.emplace_back(message.begin(), message.end());
  }
  void completed(Peer, std::uint64_t token) override { tokens.push_back(token); }
  void closed(Peer peer, const std::string& reason) override {
    lost.push_back(peer);
    reasons.push_back(reason);
  }

  std::vector<Peer> peers, lost;
  std::vector<std::vector<std::byte>> messages;
  std::vector<std::uint64_t> tokens;
  std::vector<std::string> reasons;
};

/// Pages that are registered in a domain, all of them in one region.
class RegisteredMemory {
 public:
  RegisteredMemory(Domain& domain, std::size_t bytes) : domain_(domain) {
    const std::size_t rounded = pages_around({0, bytes}).end;
    memory_ = static_cast<std::byte*>(std::aligned_alloc(page_bytes(), rounded));
    for (std::size_t i = 0; i < rounded; ++i) memory_[i] = static_cast<std::byte>(i * 7 + i / 251);
    bytes_ = bytes;
    const auto begin = reinterpret_cast<std::uintptr_t>(memory_);
    const Domain::Result result = domain.register_range({begin, begin + rounded});
    EXPECT_EQ(result.outcome, Outcome::registered);
    region_ = result.region;
  }
  ~RegisteredMemory() {
    if (registered_) domain_.deregister(region_);
    std::free(memory_);
  }
  RegisteredMemory(const RegisteredMemory&) = delete;
  RegisteredMemory& operator=(const RegisteredMemory&) = delete;

  void deregister() {
    domain_.deregister(region_);
    registered_ = false;
  }
  std::span<std::byte> bytes() const { return {memory_, bytes_}; }
  const Region* region() const { return &region_; }
  iovec piece(std::size_t offset, std::size_t bytes) const { return {memory_ + offset, bytes}; }

 private:
  Domain& domain_;
  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
  Region region_;
  bool registered_ = true;
};

enum class Checks { lax, strict };

/// A transport and the domain that its memory is registered in.
struct Side {
  Side(std::string_view name, const TransportOptions& options, Checks checks = Checks::strict)
      : transport(make_transport(name, options)) {
    if (transport->own_domain() == nullptr) model = make_model_domain({.cost = {0, 0, 0, 0}});
    if (checks == Checks::strict) transport->be_strict(domain());
  }
  Domain& domain() const { return model ? *model : *transport->own_domain(); }

  std::unique_ptr<Transport> transport;
  std::unique_ptr<Domain> model;
  Notes notes;
};

inline const TransportOptions listening{.listen = test_host() + ":0"};

/// All transports, and `ofi` once for each of libfabric's providers that may be there. Makes no calls, since every test
/// of the program would have to wait for the answer.
inline std::vector<std::string> transports_to_test() {
  std::vector<std::string> all;
  for (const std::string_view name : transport_names()) all.emplace_back(name);
#ifdef STRIDER_OFI
  for (const std::string_view provider : ofi::preferred_providers()) all.push_back("ofi:" + std::string(provider));
  all.emplace_back("ofi:shm");
#endif
  return all;
}

/// The provider that a transport is to be tested with, if libfabric does not have it.
inline std::string missing_provider([[maybe_unused]] const std::string& transport) {
#ifdef STRIDER_OFI
  const std::size_t colon = transport.find(':');
  if (colon == std::string::npos) return {};
  const std::string provider = transport.substr(colon + 1);
  if (!ofi::is_available(provider, test_host())) return provider;
#endif
  return {};
}

/// As a part of a test's name.
inline std::string as_test_name(std::string name) {
  std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

/// A server and a client that have met, both strict.
struct Pair {
  explicit Pair(std::string_view name) : server(name, listening), client(name, {}) { to_server = meet(client); }

  /// Connects while the server takes part; the server knows the client as `server.notes.peers.back()`.
  Peer meet(Side& who) {
    std::atomic<bool> done = false;
    std::thread helper([&] {
      while (!done) server.transport->progress(server.notes, std::chrono::milliseconds(10));
    });
    const std::size_t before = server.notes.peers.size();
    Peer peer = 0;
    try {
      peer = who.transport->connect(server.transport->address(), in(std::chrono::seconds(20)));
    } catch (...) {
      done = true;
      helper.join();
      throw;
    }
    done = true;
    helper.join();
    pump([&] { return server.notes.peers.size() > before; });
    return peer;
  }
  Peer to_client() const { return server.notes.peers.back(); }

  /// Progresses both until `condition` holds.
  template <typename Condition>
  void pump(const Condition& condition, std::initializer_list<Side*> others = {}) {
    const Deadline deadline = in(std::chrono::seconds(30));
    while (!condition()) {
      ASSERT_FALSE(has_passed(deadline)) << "nothing happens any more";
      server.transport->progress(server.notes, std::chrono::milliseconds(0));
      client.transport->progress(client.notes, std::chrono::milliseconds(0));
      for (Side* other : others) other->transport->progress(other->notes, std::chrono::milliseconds(0));
    }
  }
  /// Waits until all messages of the client so far have arrived.
  void settle() {
    const std::size_t before = server.notes.messages.size();
    const std::byte word{1};
    client.transport->send(to_server, {&word, 1});
    pump([&] { return server.notes.messages.size() > before; });
  }

  Side server, client;
  Peer to_server = 0;
};

}  // namespace strider::listio
