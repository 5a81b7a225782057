#pragma once
#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

#include "foundation/error.hpp"
#include "listio/client/driver.hpp"
#include "listio/protocol/parse.hpp"

namespace strider::listio {

// Requests that move no data. All throw IoError.

template <typename Body>
Body body_of(const Call& call) {
  Body body;
  if (parse_body(call.reply, body)) return body;
  throw IoError({call.operation->what, call.operation->file, 0, 0, EPROTO},
                "server " + std::to_string(call.server) + " sent a malformed reply",
                "use the same release of Strider on both sides");
}

inline void tell(Driver& driver, const char* what, const std::string& path, Request request, std::uint32_t server = 0) {
  const auto operation = driver.prepare(what, path);
  driver.add(*operation, server, std::move(request));
  driver.run(*operation);
}

template <typename Body>
Body ask(Driver& driver, const char* what, const std::string& path, Request request, std::uint32_t server = 0) {
  const auto operation = driver.prepare(what, path);
  driver.add(*operation, server, std::move(request));
  driver.run(*operation);
  return body_of<Body>(operation->calls.front());
}

}  // namespace strider::listio
