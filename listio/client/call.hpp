#pragma once
#include <sys/uio.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "foundation/error.hpp"
#include "listio/layout/requests.hpp"
#include "listio/protocol/messages.hpp"
#include "listio/registration/registrar.hpp"
#include "listio/transfer/method.hpp"
#include "listio/transfer/transport.hpp"

namespace strider::listio {

struct Operation;

/// One request to one server, and the data that go with it.
struct Call {
  enum class Stage {
    waiting,   ///< for its turn, or a buffer
    putting,   ///< data are on their way to the server's buffer
    asked,     ///< the request is sent
    getting,   ///< data are on their way from the server's buffer
    finished,  ///< successfully or not
  };
  enum class Data { none, out, in };

  Operation* operation = nullptr;
  std::uint64_t number = 0;
  std::uint32_t server = 0;
  Request request;
  Target target;
  Stage stage = Stage::waiting;

  Data data = Data::none;
  std::size_t first_piece = 0, pieces = 0;  ///< of the operation's
  std::uint64_t bytes = 0;
  std::uint32_t buffer = 0;    ///< of the server, once it has one
  std::size_t unfinished = 0;  ///< puts or gets

  std::vector<std::byte> reply;
  std::vector<std::byte> before;  ///< of a read beyond the end of the data file: the earlier content of memory
  std::uint64_t process = 0;      ///< of the server that replied
};

/// A call of the caller: calls to some servers. Finished when all of them are.
struct Operation {
  std::string what, file;                ///< for messages
  Deadline deadline;                     ///< later with each progress
  std::chrono::milliseconds patience{};  ///< without progress
  Deadline progressed;                   ///< when data were moved or a request was answered last
  Deadline last;       ///< until which it is waited for if the servers show that they are alive; not before `deadline`
  Deadline looked_at;  ///< when the caller last asked whether it is finished
  std::vector<Call> calls;
  std::size_t unfinished = 0;
  std::optional<IoError> error;  ///< the first one
  const Call* failed = nullptr;  ///< one of `calls` that has the error; null if it is of none in particular

  // Of transfers.
  Method method = Method::gather;
  std::vector<iovec> pieces;
  std::vector<const Region*> regions;  ///< for each piece, if they are registered
  Lease lease;

  /// Notes the error of a call, or of all, unless there is an earlier one.
  void fail(int error_number, const std::string& message, const std::string& remedy, const Call* call = nullptr) {
    if (error) return;
    error.emplace(IoError::What{what, file, 0, 0, error_number}, message, remedy);
    failed = call;
  }
};

}  // namespace strider::listio
