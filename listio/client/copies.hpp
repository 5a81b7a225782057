#pragma once
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "foundation/deadline.hpp"
#include "listio/client/driver.hpp"
#include "listio/client/lost.hpp"
#include "listio/protocol/messages.hpp"

namespace strider::listio {

/// Servers whose first copy of a file was found damaged by a read: their second copies are read.
class DamagedPlaces {
 public:
  bool has(std::uint32_t server) const { return servers_.contains(server); }
  /// Notes where an operation has failed for damage (EIO). False if it did not, or there is no other copy to read.
  bool add(const Operation& operation) {
    const Call* const call = operation.failed;
    return call != nullptr && operation.error->details().error_number == EIO && call->target.view != 0 &&
           call->target.copy == DataCopy::first && servers_.insert(call->server).second;
  }

 private:
  std::set<std::uint32_t> servers_;
};

/// Where a client reads and changes data, and how often it tries. With two copies: on the servers that are not out, as
/// server 0 reports by leases. An action in a view counts only if the view still held at its end; otherwise it
/// is repeated.
class Copies {
 public:
  /// `repeats`: as in `ClientOptions`.
  Copies(Driver& driver, bool repeats) : driver_(driver), repeats_(repeats || driver.volume().copies > 1) {}

  bool are_two() const { return driver_.volume().copies > 1; }
  bool repeats() const { return repeats_; }
  /// Until `attempt`, which does `what` with `path` until a deadline, has succeeded while a view held.
  /// IoError: at the deadline the error of the last attempt, and at once any error that is no loss of a server.
  template <typename Attempt>
  auto repeat(const char* what, const std::string& path, const Attempt& attempt) {
    if (!repeats()) return attempt(in(driver_.patience()));
    const Deadline deadline = begin();
    for (;;) {
      renew(what, path, deadline);
      const std::uint64_t number = view_.number;
      try {
        auto done = attempt(deadline);
        settle();
        if (still_holds(number, what, path, deadline)) return done;
      } catch (const IoError& error) {
        if (!is_for_another_attempt(error.details().error_number)) throw;
        report_lost(error, what, path, deadline);
      }
    }
  }

  /// The deadline of attempts that begin now.
  Deadline begin() {
    lost_.reset();
    return in(driver_.patience());
  }
  /// An operation of one attempt. With two copies a server that is silent is not waited for until the deadline.
  std::unique_ptr<Operation> prepare(const char* what, const std::string& path, const Deadline& deadline) const {
    auto operation = driver_.prepare(what, path, patience_of_attempt(deadline));
    operation->last = std::max(deadline, operation->deadline);
    return operation;
  }
  std::chrono::milliseconds patience_of_attempt(const Deadline& deadline) const {
    return std::min(until(deadline), are_two() ? driver_.patience() / 4 : driver_.patience());
  }
  /// ESTALE: the view has changed.
  bool is_for_another_attempt(int error_number) const {
    return is_lost_connection(error_number) || (are_two() && error_number == ESTALE);
  }
  /// An attempt has succeeded.
  void settle();
  /// Makes sure that there is a lease. IoError: at the deadline the last that was reported, ETIMEDOUT if there is none,
  /// or what server 0 failed with.
  void renew(const char* what, const std::string& path, const Deadline& deadline);
  const ServerView& view() const { return view_; }
  /// Whether the view of this number still holds. IoError.
  bool still_holds(std::uint64_t number, const char* what, const std::string& path, const Deadline& deadline);
  /// After an error: connects again to servers that were lost, or has one that does not answer be out. The error itself
  /// at the deadline.
  void report_lost(const IoError& error, const char* what, const std::string& path, const Deadline& deadline);

  /// Has a server be out, unless its neighbour is. IoError.
  void suspect(std::uint32_t server, const char* what, const std::string& path, const Deadline& deadline);
  bool is_out(std::uint32_t server) const;
  /// The view has changed.
  void forget() { valid_until_ms_ = 0; }

  // Places of the data that the striping of a file has on `server`, in this view.

  std::vector<Place> to_change(std::uint32_t server) const;
  std::vector<Place> to_read(std::uint32_t server, const DamagedPlaces& damaged = {}) const;

 private:
  std::uint32_t next(std::uint32_t server) const { return next_server(server, driver_.servers()); }
  bool may_be_back();
  bool ask(const char* what, const std::string& path, const LeaseRequest& request, const Deadline& deadline);

  Driver& driver_;
  const bool repeats_;
  ServerView view_;
  std::optional<IoError> lost_;                   ///< why the last attempt failed
  std::map<std::uint32_t, Deadline> lost_until_;  ///< when the loss of each server counts as permanent
  std::int64_t valid_until_ms_ = 0;
};

}  // namespace strider::listio
