#include "listio/client/removals.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "listio/client/ask.hpp"

namespace strider::listio {
namespace {

constexpr std::chrono::milliseconds shortest_pause{10}, pause_after_failure{1000};
constexpr int pause_to_sync = 9;
constexpr std::size_t most_waiting = 4096;

}  // namespace

void Removals::add(const char* what, const std::string& path, const Removed& removed) {
  if (removed.orphan.file == 0) return;
  waiting_.push_back(removed);
  if (Clock::now() < next_ && waiting_.size() < most_waiting) return;
  try {
    finish(what, path);
  } catch (const IoError&) {
    // The name is gone.
    if (!copies_.repeats() || waiting_.empty()) throw;
  }
}

void Removals::finish(const char* what, const std::string& path) {
  if (waiting_.empty()) return;
  std::vector<Removed> gone = std::exchange(waiting_, {});
  const auto begin = Clock::now();
  try {
    remove(what, path, gone);
  } catch (const IoError& error) {
    next_ = retry_ =
        Clock::now() + std::max<Clock::duration>(pause_after_failure, pause_to_sync * (Clock::now() - begin));
    if (copies_.is_for_another_attempt(error.details().error_number) && gone.size() < most_waiting)
      waiting_ = std::move(gone);
    throw;
  }
}

void Removals::remove(const char* what, const std::string& path, std::vector<Removed>& gone) {
  const auto begin = Clock::now();
  const auto sync = copies_.repeat(what, path, [&](const Deadline& deadline) {
    auto operation = copies_.prepare(what, path, deadline);
    driver_.add(*operation, 0, SyncNamesRequest{SyncNamesRequest::Part::directories});
    driver_.run(*operation);
    return operation;
  });
  for (Removed& removed : gone) removed.is_durable |= removed.process == sync->calls.front().process;
  next_ = Clock::now() + std::max<Clock::duration>(shortest_pause, pause_to_sync * (Clock::now() - begin));
  copies_.repeat(what, path, [&](const Deadline& deadline) {
    auto operation = copies_.prepare(what, path, deadline);
    for (const Removed& removed : gone)
      for (std::uint32_t server = 0; server < servers_of(removed.orphan) && removed.is_durable; ++server)
        for (const Place& place : copies_.to_change(server))
          driver_.add(*operation, place, RemoveDataRequest{removed.orphan.file});
    driver_.run(*operation);
    return operation;
  });
}

void Removals::finish_at_end() noexcept {
  try {
    std::uint32_t servers = 1;
    for (const Removed& removed : waiting_) servers = std::max(servers, servers_of(removed.orphan));
    for (std::uint32_t server = 0; server < servers; ++server)
      if (driver_.connection(server) == 0 && !copies_.is_out(server)) return;
    finish("unlink", "");
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): a check of the volume finds the rest
  }
}

}  // namespace strider::listio
