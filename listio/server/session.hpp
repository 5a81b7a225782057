#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "listio/protocol/messages.hpp"
#include "listio/protocol/parse.hpp"
#include "listio/registration/domain.hpp"
#include "listio/transfer/transport.hpp"

namespace strider::listio {

/// The server's state of one connection.
struct Session {
  enum class State {
    greeted,  ///< has said nothing yet
    challenged,
    admitted,  ///< knows the secret
    refused,   ///< was sent the reason, and is about to be dropped
    gone,      ///< connection lost; a thread still works for it
  };

  Peer peer = 0;
  State state = State::greeted;
  Deadline decide_by;  ///< when the state has to have changed: `greeted`, `challenged`, `refused`
  Nonce of_client{}, of_server{};
  std::span<std::byte> window;           ///< its buffers, one after the other
  std::optional<Region> region;          ///< if they are registered
  std::uint64_t last_request = 0;        ///< its number
  std::uint32_t under_way = 0;           ///< requests without a reply, those for cells and locks excepted
  std::string client;                    ///< its name, for messages
  std::uint64_t client_number = 0;       ///< the same for all connections of a client; 0: unknown
  std::chrono::milliseconds patience{};  ///< of the client, for an answer
};

}  // namespace strider::listio
