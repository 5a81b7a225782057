#include "listio/client/copies.hpp"

#include <time.h>

#include <algorithm>
#include <cerrno>

#include "listio/client/ask.hpp"

namespace strider::listio {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds pause_between_questions{10}, pause_to_repeat{50}, longest_attempt{2000};

/// A clock that does not stop while this host is suspended: others do not wait for it.
std::int64_t now_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace

bool Copies::is_out(std::uint32_t server) const { return std::ranges::binary_search(view_.out, server); }

std::vector<Place> Copies::to_change(std::uint32_t server) const {
  if (!are_two()) return {{server, {}}};
  const bool first = !is_out(server), second = !is_out(next(server));
  std::vector<Place> places;
  if (first) places.push_back({server, {DataCopy::first, !second, view_.number}});
  if (second) places.push_back({next(server), {DataCopy::second, !first, view_.number}});
  return places;
}

std::vector<Place> Copies::to_read(std::uint32_t server, const DamagedPlaces& damaged) const {
  if (!are_two()) return {{server, {}}};
  const bool first = !is_out(server), second = !is_out(next(server));
  if (first && (!damaged.has(server) || !second)) return {{server, {DataCopy::first, false, view_.number}}};
  return {{next(server), {DataCopy::second, false, view_.number}}};
}

/// Whether server 0 gave a lease. One that changes the view, or does not answer, is asked again by the caller.
bool Copies::ask(const char* what, const std::string& path, const LeaseRequest& request, const Deadline& deadline) {
  const std::int64_t asked_ms = now_ms();
  if (lost_ && has_passed(deadline)) throw IoError(*lost_);
  try {
    const auto operation = driver_.prepare(what, path, until(deadline));
    driver_.add(*operation, 0, request);
    driver_.run(*operation);
    view_ = body_of<ServerView>(operation->calls.front());
    valid_until_ms_ = asked_ms + view_.term_ms;
    return true;
  } catch (const IoError& error) {
    const int number = error.details().error_number;
    if (number != EAGAIN && !is_lost_connection(number)) throw;
    if (!has_passed(deadline)) return false;
    if (lost_) throw IoError(*lost_);
    if (number != EAGAIN) throw;
    throw IoError({what, path, 0, 0, ETIMEDOUT},
                  driver_.name(0) + ": servers are taken out or filled, and no lease came in time",
                  "wait longer (patience), and check which servers are out (strider listio status)");
  }
}

void Copies::renew(const char* what, const std::string& path, const Deadline& deadline) {
  if (!are_two() || now_ms() < valid_until_ms_) return;
  while (!ask(what, path, {}, deadline)) driver_.turn(until(std::min(deadline, in(pause_between_questions))));
}

bool Copies::still_holds(std::uint64_t number, const char* what, const std::string& path, const Deadline& deadline) {
  if (!are_two()) return true;
  renew(what, path, deadline);
  return view_.number == number;
}

void Copies::report_lost(const IoError& error, const char* what, const std::string& path, const Deadline& deadline) {
  if (has_passed(deadline) || !driver_.has_connected() || (!are_two() && !may_be_back())) throw IoError(error);
  lost_ = error;
  if (error.details().error_number == ESTALE) forget();
  for (std::uint32_t server = 1; server < driver_.servers() && are_two(); ++server) {
    if (is_out(server) || driver_.connection(server) != 0) continue;
    try {
      driver_.make_ready(server, std::min(deadline, in(longest_attempt)));
    } catch (const IoError& refusal) {
      if (!is_lost_connection(refusal.details().error_number)) throw;
      return suspect(server, what, path, deadline);
    }
  }
  driver_.turn(until(std::min(deadline, in(pause_to_repeat))));
}

/// Whether a server that is lost has not been for longer than `patience`: then calls fail at once until it is back.
bool Copies::may_be_back() {
  bool may_be = false;
  for (std::uint32_t server = 0; server < driver_.servers(); ++server)
    if (driver_.connection(server) == 0)
      may_be |= !has_passed(lost_until_.try_emplace(server, in(driver_.patience())).first->second);
  return may_be;
}

void Copies::settle() {
  std::erase_if(lost_until_, [&](const auto& each) { return driver_.connection(each.first) != 0; });
}

void Copies::suspect(std::uint32_t server, const char* what, const std::string& path, const Deadline& deadline) {
  forget();
  try {
    ask(what, path, {server, view_.number}, deadline);
  } catch (const IoError& error) {
    if (error.details().error_number != EBUSY) throw;
    // Its neighbour is out: it has the only copy of data. It may be back soon.
    driver_.turn(until(std::min(deadline, in(pause_to_repeat))));
  }
}

}  // namespace strider::listio
