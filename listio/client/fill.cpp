#include "listio/client/fill.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "listio/client/ask.hpp"
#include "listio/protocol/secret.hpp"

namespace strider::listio {
namespace {

using std::chrono::milliseconds;
constexpr const char* fill_call = "fill";
constexpr std::uint64_t chunk_bytes = std::uint64_t{1} << 20;
constexpr std::uint64_t few_bytes = std::uint64_t{16} << 20;  // copied while others wait
constexpr int most_passes = 16, most_pauses = 5;
constexpr milliseconds pause_between_offers{10};

std::unique_ptr<Operation> run_at(Driver& driver, const Place& place, Request request) {
  return run_one(driver, fill_call, "", place, std::move(request));
}
template <typename Body>
Body ask_at(Driver& driver, const Place& place, Request request) {
  return ask<Body>(driver, fill_call, "", std::move(request), place);
}

/// The two sources of changes that a server may have missed, and the destination.
struct Route {
  Place from, to;
};
std::vector<Route> routes_to(std::uint32_t server, std::uint32_t servers, std::uint64_t fill) {
  const std::uint32_t next = next_server(server, servers), before = previous_server(server, servers);
  return {{{next, {DataCopy::second, false, 0, fill}}, {server, {DataCopy::first, false, 0, fill}}},
          {{before, {DataCopy::first, false, 0, fill}}, {server, {DataCopy::second, false, 0, fill}}}};
}

/// The files of all pages that the requests of `make`, of a cookie, get.
template <typename Make>
std::vector<FileId> files_of(Driver& driver, const Place& place, const Make& make) {
  std::vector<FileId> files;
  std::uint64_t cookie = 0;
  do {
    const auto page = ask_at<DataPage>(driver, place, make(cookie));
    for (const DataPage::DataFile& each : page.files) files.push_back(each.file);
    cookie = page.cookie;
  } while (cookie != 0);
  return files;
}
std::vector<FileId> missed_files(Driver& driver, const Place& place, bool changed) {
  return files_of(driver, {place.server, {place.target.copy}},
                  [&](std::uint64_t cookie) { return ListMissedRequest{cookie, changed}; });
}
std::vector<FileId> all_files(Driver& driver, const Place& place) {
  return files_of(driver, {place.server, {place.target.copy}},
                  [](std::uint64_t cookie) { return ListDataRequest{cookie}; });
}

/// Fills one server.
class Fill {
 public:
  /// `view`: in which the server is out.
  Fill(Driver& driver, std::uint32_t server, std::uint64_t view, std::span<const DamagedCopy> damaged)
      : driver_(driver),
        server_(server),
        view_(view),
        damaged_(damaged),
        fill_(make_random_number()),
        routes_(routes_to(server, driver.servers(), fill_)),
        memory_(chunk_bytes + block_bytes) {}

  FilledServer run() {
    // No other fill changes it from now on, nor takes its missed changes.
    const StartFillRequest start{fill_, server_, view_};
    run_at(driver_, {server_, {}}, start);
    for (const Route& route : routes_) run_at(driver_, {route.from.server, {}}, start);
    for (const DamagedCopy& each : damaged_)
      if (each.server == server_) prepare_to_restore(each);
    for (int i = 0; i < most_pauses; ++i) {
      for (int pass = 0; pass < most_passes && copy_missed() > few_bytes; ++pass) continue;
      if (finish()) return {server_, files_.size(), bytes_, "", unreadable_};
    }
    return {server_, files_.size(), bytes_, "its data change faster than they can be copied", unreadable_};
  }

 private:
  /// Has damaged data be copied from the other copy, unless that is damaged too. It is marked first, so that the next
  /// fill continues if this one is cut.
  void prepare_to_restore(const DamagedCopy& damaged) {
    const Route& route =
        *std::ranges::find_if(routes_, [&](const Route& each) { return each.to.target.copy == damaged.copy; });
    constexpr ByteRun all{0, most_file_bytes};
    if (!is_readable(route.from, damaged.file, {&all, 1})) return unreadable_.push_back(damaged.file);
    run_at(driver_, route.from, MarkMissedRequest{damaged.file});
    run_at(driver_, route.to, RemoveDataRequest{damaged.file});
  }

  bool is_readable(const Place& from, FileId file, std::span<const ByteRun> runs) {
    try {
      const auto stat = ask_at<DataStat>(driver_, from, DataStatRequest{file});
      if (stat.bytes == 0 && stat.modified_ns == 0) return false;
      for_each_chunk(runs, stat.bytes, [&](const ByteRun& chunk) { move(Direction::read, from, file, chunk); });
      return true;
    } catch (const IoError& error) {
      if (error.details().error_number != EIO) throw;
      return false;
    }
  }

  template <typename Action>
  static void for_each_chunk(std::span<const ByteRun> runs, std::uint64_t file_end, const Action& action) {
    for (const ByteRun& run : runs)
      for (std::uint64_t at = run.offset, end = std::min(run.end(), file_end); at < end; at += chunk_bytes)
        action(ByteRun{at, std::min(chunk_bytes, end - at)});
  }

  /// Copies missed changes that were not taken yet. Returns the number of bytes.
  std::uint64_t copy_missed() {
    std::uint64_t bytes = 0;
    for (const Route& route : routes_)
      for (const FileId file : missed_files(driver_, route.from, true)) {
        files_.emplace(file, route.to.target.copy);
        bytes += copy(route, file, ask_at<Missed>(driver_, route.from, TakeMissedRequest{file}).runs);
      }
    bytes_ += bytes;
    return bytes;
  }

  /// Has clients wait, copies the rest, and has the server be in. False if that took too long.
  bool finish() {
    if (!is_paused()) return false;
    copy_missed();
    for (const Route& route : routes_)
      if (!succeeds_unless({EAGAIN}, [&] { run_at(driver_, route.from, ForgetMissedRequest{}); })) return false;
    return succeeds_unless({EAGAIN}, [&] { run_at(driver_, {0, {}}, AdmitRequest{fill_, server_}); });
  }

  bool is_paused() {
    for (const Deadline deadline = in(driver_.patience()); !has_passed(deadline);) {
      int failure = 0;
      if (succeeds_unless(
              {EAGAIN, EBUSY, ETIMEDOUT}, [&] { run_at(driver_, {0, {}}, PauseRequest{fill_, server_}); }, &failure))
        return true;
      if (failure == ETIMEDOUT) return false;
      driver_.turn(pause_between_offers);
    }
    return false;
  }

  template <typename Action>
  static bool succeeds_unless(std::initializer_list<int> errors, const Action& action, int* failure = nullptr) {
    try {
      action();
      return true;
    } catch (const IoError& error) {
      if (std::ranges::find(errors, error.details().error_number) == errors.end()) throw;
      if (failure != nullptr) *failure = error.details().error_number;
      return false;
    }
  }

  /// Copies runs of a data file, and how long it is; on stable storage when this returns.
  std::uint64_t copy(const Route& route, FileId file, std::span<const ByteRun> runs) {
    if (runs.empty()) return 0;
    const auto stat = ask_at<DataStat>(driver_, route.from, DataStatRequest{file});
    if (stat.bytes == 0 && stat.modified_ns == 0) {
      run_at(driver_, route.to, RemoveDataRequest{file});
      return 0;
    }
    std::uint64_t bytes = 0;
    for_each_chunk(runs, stat.bytes, [&](const ByteRun& chunk) {
      move(Direction::read, route.from, file, chunk);
      move(Direction::write, route.to, file, chunk);
      bytes += chunk.length;
    });
    // Cuts bytes beyond the end.
    run_at(driver_, route.to, TruncateRequest{file, stat.bytes});
    run_at(driver_, route.to, SetDataTimeRequest{file, stat.modified_ns});
    run_at(driver_, route.to, SyncRequest{file});
    return bytes;
  }

  /// To the end of the last block: a damaged block becomes good only if it is written as a whole.
  void move(Direction direction, const Place& place, FileId file, const ByteRun& run) {
    const std::uint64_t end = (run.end() + block_bytes - 1) / block_bytes * block_bytes;
    const ByteRun whole{run.offset, end - run.offset};
    const iovec piece{memory_.data(), whole.length};
    driver_.run(*driver_.prepare(direction, file, place, {&piece, 1}, {&whole, 1}));
  }

  Driver& driver_;
  const std::uint32_t server_;
  const std::uint64_t view_;
  const std::span<const DamagedCopy> damaged_;
  const std::uint64_t fill_;
  const std::vector<Route> routes_;
  std::vector<FileId> unreadable_;
  std::vector<std::byte> memory_;
  std::set<std::pair<FileId, DataCopy>> files_;
  std::uint64_t bytes_ = 0;
};

/// Whether neighbours say that a server has missed something. Nothing if they do not answer.
bool has_missed(Driver& driver, std::uint32_t server) try {
  return std::ranges::any_of(routes_to(server, driver.servers(), 0),
                             [&](const Route& route) { return !missed_files(driver, route.from, false).empty(); });
} catch (const IoError& error) {
  if (!is_lost_connection(error.details().error_number)) throw;
  return false;
}

FilledServer fill_one(Driver& driver, std::uint32_t server, std::uint64_t view,
                      std::span<const DamagedCopy> damaged) try {
  return Fill(driver, server, view, damaged).run();
} catch (const IoError& error) {
  std::string reason = error.what();
  if (error.details().error_number == ESTALE)
    reason = "another scrub has begun to fill it, or a server was started again; scrub again";
  if (error.details().error_number == EIO)
    reason += ", and server " + std::to_string(server) +
              " has missed changes of it; remove or overwrite the file of this data file, and scrub again";
  return {server, 0, 0, reason, {}};
}

/// Has a server be out. IoError, EBUSY if one beside it is.
void take_out(Driver& driver, Copies& copies, std::uint32_t server) {
  const Deadline deadline = copies.begin();
  const std::uint32_t next = next_server(server, driver.servers()), before = previous_server(server, driver.servers());
  for (copies.renew(fill_call, "", deadline); !copies.is_out(server); copies.renew(fill_call, "", deadline)) {
    if (copies.is_out(next) || copies.is_out(before))
      throw IoError({fill_call, "", 0, 0, EBUSY},
                    driver.name(server) + " has the only good copy of data, as a server beside it is out",
                    "bring that one in first (strider listio scrub), with the folder that is to be replaced");
    if (has_passed(deadline))
      throw IoError({fill_call, "", 0, 0, ETIMEDOUT}, driver.name(0) + ": servers are taken out or filled all the time",
                    "repeat the command when no other scrub runs");
    copies.suspect(server, fill_call, "", deadline);
  }
}

}  // namespace

std::vector<FilledServer> fill_servers(Driver& driver, Copies& copies, std::span<const DamagedCopy> damaged) {
  const auto view = [&] {
    copies.renew(fill_call, "", copies.begin());
    return copies.view();
  };
  std::vector<FilledServer> filled;
  const auto fill = [&](std::uint32_t server) {
    // Another scrub may have filled it: its changes of this view are right.
    const std::uint64_t number = view().number;
    if (!copies.is_out(server)) return;
    filled.push_back(fill_one(driver, server, number, damaged));
    copies.forget();
  };
  const std::vector<std::uint32_t> out = view().out;
  for (const std::uint32_t server : out) fill(server);
  // One after the other: neighbours may not be out at the same time.
  for (std::uint32_t server = 0; server < driver.servers(); ++server) {
    const bool has_damage = std::ranges::find(damaged, server, &DamagedCopy::server) != damaged.end();
    const bool was_filled = std::ranges::find(filled, server, &FilledServer::server) != filled.end();
    if (was_filled || (!has_damage && !has_missed(driver, server))) continue;
    view();
    copies.suspect(server, fill_call, "", in(driver.patience()));
    view();
    if (copies.is_out(server)) fill(server);
  }
  return filled;
}

void prepare_to_replace(Driver& driver, Copies& copies, std::uint32_t server) {
  std::uint64_t view = 0;
  do {
    take_out(driver, copies, server);
    view = copies.view().number;
    const std::uint64_t fill = make_random_number();
    for (const Route& route : routes_to(server, driver.servers(), fill)) {
      run_at(driver, {route.from.server, {}}, StartFillRequest{fill, server, view});
      for (const FileId file : all_files(driver, route.from)) run_at(driver, route.from, MarkMissedRequest{file});
    }
    copies.forget();
    take_out(driver, copies, server);
  } while (copies.view().number != view);  // another client may have had it be in meanwhile
}

}  // namespace strider::listio
