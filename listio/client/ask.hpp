#pragma once
#include <cerrno>
#include <memory>
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

/// One request to one place.
inline std::unique_ptr<Operation> run_one(Driver& driver, const char* what, const std::string& path, const Place& place,
                                          Request request) {
  auto operation = driver.prepare(what, path);
  driver.add(*operation, place, std::move(request));
  driver.run(*operation);
  return operation;
}

inline void tell(Driver& driver, const char* what, const std::string& path, Request request, const Place& place = {}) {
  run_one(driver, what, path, place, std::move(request));
}

template <typename Body>
Body ask(Driver& driver, const char* what, const std::string& path, Request request, const Place& place = {}) {
  return body_of<Body>(run_one(driver, what, path, place, std::move(request))->calls.front());
}

}  // namespace strider::listio
