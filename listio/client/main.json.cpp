// strider-listio: looks after a volume, and fits what registering costs. See docs/listio.md.
#include <charconv>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "foundation/error.hpp"
#include "listio/client/client.hpp"
#include "listio/client/runs.hpp"
#include "listio/client/scrub.hpp"

namespace strider::listio {
namespace {

constexpr const char* usage =
    R"(strider-listio: manages a list-I/O volume, and measures registration costs on this host. Prints JSON.

  strider-listio status VOLUME    shows whether each server answers, and its counters
  strider-listio check VOLUME [--repair] [--remove-orphans]
                                  compares names, the copies of their entries, and data files; repairs names from the
                                  copies, moves what has none to set-aside; removes data files without a name, unless
                                  something is damaged
  strider-listio scrub VOLUME [BYTES_PER_S]
                                  copies to servers that are out what they have missed; then has servers compare all
                                  data with their checksums, while the volume is in use; at most so many bytes per second
                                  of each server. Prints a line of progress twice a second
  strider-listio replace VOLUME SERVER
                                  before a server that does not run is started with an empty folder: has it be out, and
                                  miss all of its data
  strider-listio remove VOLUME RUN
                                  removes the files and trees of a run that was killed, as check names it
  strider-listio registration DOMAIN...
                                  fits T = a p + b, the costs of registering and deregistering p pages

VOLUME is the file that was written when the volume was started. Exit codes: 0 all is well, 1 a server does not answer
or something is damaged, 2 bad arguments, 3 could not be done.
)";

constexpr std::chrono::milliseconds status_patience{5000};  // of each server: one that is busy answers at once

int print_status(Client& client) {
  nlohmann::json servers = nlohmann::json::array();
  bool all_answer = true, manager_answers = false;
  for (std::uint32_t number = 0; number < client.volume().servers.size(); ++number) {
    nlohmann::json server{{"server", number}, {"address", client.volume().servers[number]}, {"out", false}};
    try {
      const ServerStatus status = client.status(number);
      server.update({{"answers", true},
                     {"clients", status.clients},
                     {"buffer_bytes", status.buffer_bytes},
                     {"requests", status.requests},
                     {"refused", status.refused},
                     {"read_bytes", status.read_bytes},
                     {"written_bytes", status.written_bytes},
                     {"file_calls", status.file_calls},
                     {"registrations", status.registrations},
                     {"registered_pages", status.registered_pages},
                     {"register_us", static_cast<double>(status.register_ns) * 1e-3},
                     {"cells", status.cells},
                     {"locked_ranges", status.locked_ranges},
                     {"waiting_locks", status.waiting_locks}});
      manager_answers |= number == 0;
    } catch (const IoError& error) {
      all_answer = false;
      server.update({{"answers", false}, {"error", error.what()}});
    }
    servers.push_back(std::move(server));
  }
  if (client.volume().copies > 1 && manager_answers)
    for (const std::uint32_t number : client.view().out) servers.at(number)["out"] = true;
  std::printf("%s\n", nlohmann::json{{"servers", servers}}.dump(1).c_str());
  return all_answer ? 0 : 1;
}

struct CheckActions {
  bool repairs = false, removes_orphans = false;
};

CheckActions actions_of(std::span<const std::string> options) {
  CheckActions actions;
  for (const std::string& option : options) {
    if (option == "--repair") actions.repairs = true;
    else if (option == "--remove-orphans") actions.removes_orphans = true;
    else throw InputError("", "unknown option '" + option + "'", "see --help");
  }
  return actions;
}

int print_check(Client& client, const CheckActions& actions) {
  CheckReport report = client.check();
  std::vector<std::string> repairs;
  if (actions.repairs && !report.repairs.empty()) {
    repairs = client.repair(report);
    report = client.check();
  }
  const std::string reason = report.orphans.empty() ? "" : report.reason_to_keep_orphans();
  const bool removed = actions.removes_orphans && reason.empty();
  // Their names may be gone for good only now: another client has removed them, and waits.
  if (removed && !report.orphans.empty()) client.sync_names();
  nlohmann::json found = nlohmann::json::array();
  for (const auto& orphan : report.orphans) {
    if (removed) client.remove_orphan(orphan);
    found.push_back({{"server", orphan.server}, {"file", orphan.file}});
  }
  nlohmann::json runs = nlohmann::json::array();
  for (const auto& [run, names] : find_runs(client)) runs.push_back({{"run", run}, {"names", names}});
  const nlohmann::json json{{"files", report.files},
                            {"directories", report.directories},
                            {"data_files", report.data_files},
                            {"bytes", report.bytes},
                            {"problems", report.problems},
                            {"repairs", repairs},
                            {"set_aside", report.set_aside},
                            {"orphans", found},
                            {"out", report.out},
                            {"removed", removed},
                            {"kept_because", actions.removes_orphans ? reason : ""},
                            {"runs", runs}};
  std::printf("%s\n", json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  return report.problems.empty() && report.out.empty() && (report.orphans.empty() || removed) ? 0 : 1;
}

int print_removal(Client& client, const std::string& run) {
  const std::uint64_t removed = remove_run(client, run);
  std::printf("%s\n", nlohmann::json{{"run", run}, {"removed_names", removed}}.dump(1).c_str());
  return 0;
}

nlohmann::json json_of(const ScrubProgress& progress) {
  return {{"bytes", progress.bytes},
          {"all_bytes", progress.all_bytes},
          {"files", progress.files},
          {"all_files", progress.all_files}};
}

int print_scrub(Client& client, const ScrubOptions& options) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  Clock::time_point next = begin;
  const ScrubReport report = scrub(client, options, [&](const ScrubProgress& progress) {
    if (Clock::now() < next) return;
    next = Clock::now() + std::chrono::milliseconds(500);
    std::printf("%s\n", nlohmann::json{{"progress", json_of(progress)}}.dump().c_str());
    std::fflush(stdout);
  });
  nlohmann::json filled = nlohmann::json::array();
  bool is_well = true;
  for (const FilledServer& each : report.filled) {
    filled.push_back({{"server", each.server}, {"files", each.files}, {"bytes", each.bytes}, {"reason", each.reason}});
    is_well &= each.reason.empty();
  }
  nlohmann::json found = nlohmann::json::array();
  for (const ScrubFinding& finding : report.findings) {
    nlohmann::json ranges = nlohmann::json::array();
    for (const ByteRun& range : finding.damaged) ranges.push_back({range.offset, range.length});
    found.push_back({{"server", finding.server},
                     {"file", finding.file},
                     {"copy", finding.copy == DataCopy::first ? 1 : 2},
                     {"path", finding.path},
                     {"damaged", ranges},
                     {"damage", finding.damage},
                     {"repaired", finding.is_repaired}});
    is_well &= finding.is_repaired;
  }
  const std::chrono::duration<double> elapsed = Clock::now() - begin;
  const nlohmann::json json{
      {"verified", json_of(report.verified)}, {"elapsed_s", elapsed.count()}, {"findings", found}, {"filled", filled}};
  std::printf("%s\n", json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  return is_well ? 0 : 1;
}

template <typename Number>
Number number_of(const std::string& text, const std::string& what) {
  Number number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size())
    throw InputError("", "'" + text + "' is not a number of " + what, "write digits");
  return number;
}

int print_replacement(Client& client, const std::string& server) {
  const auto number = number_of<std::uint32_t>(server, "a server");
  client.prepare_to_replace(number);
  std::printf("%s\n", nlohmann::json{{"server", number}}.dump(1).c_str());
  return 0;
}

nlohmann::json json_of(const Line& line) {
  return {{"us_per_page", line.slope},
          {"us_per_page_error", line.slope_error},
          {"us", line.intercept},
          {"us_error", line.intercept_error}};
}

nlohmann::json fit_of(const std::string& name) {
  nlohmann::json fit{{"domain", name}, {"problem", ""}};
  try {
    const auto domain = make_domain(name);
    const Calibration found = domain->calibrate();
    nlohmann::json samples = nlohmann::json::array();
    for (const auto& sample : found.samples)
      samples.push_back(
          {{"pages", sample.pages}, {"register_us", sample.register_us}, {"deregister_us", sample.deregister_us}});
    fit.update({{"register", json_of(found.registering)},
                {"deregister", json_of(found.deregistering)},
                {"most_hole_pages", domain->model().most_hole_pages()},
                {"samples", samples}});
  } catch (const std::system_error& error) {
    fit["problem"] = error.what();
  }
  return fit;
}

int print_fits(std::span<const std::string> domains) {
  nlohmann::json fits = nlohmann::json::array();
  for (const std::string& name : domains) fits.push_back(fit_of(name));
  std::printf("%s\n", fits.dump(1).c_str());
  return 0;
}

int run(const std::vector<std::string>& words) {
  const bool help = words.size() == 1 && words[0] == "--help";
  const bool fits = words.size() > 1 && words[0] == "registration";
  const bool removes = words.size() == 3 && words[0] == "remove";
  const bool checks = words.size() >= 2 && words[0] == "check";
  const bool scrubs = words.size() == 3 && words[0] == "scrub";
  const bool replaces = words.size() == 3 && words[0] == "replace";
  if (words.size() != 2 && !fits && !removes && !checks && !scrubs && !replaces) {
    std::fputs(usage, help ? stdout : stderr);
    return help ? 0 : 2;
  }
  try {
    if (fits) return print_fits(std::span(words).subspan(1));
    ClientOptions options;
    if (words[0] == "status") options.patience = status_patience;
    Client client(read_volume(words[1]), options);
    if (removes) return print_removal(client, words[2]);
    if (replaces) return print_replacement(client, words[2]);
    if (words[0] == "scrub")
      return print_scrub(client, {words.size() == 3 ? number_of<std::uint64_t>(words[2], "bytes per second") : 0});
    if (words[0] == "status") return print_status(client);
    if (checks) return print_check(client, actions_of(std::span(words).subspan(2)));
    throw InputError("", "unknown command '" + words[0] + "'", "see --help");
  } catch (const InputError& error) {
    std::fprintf(stderr, "strider-listio: %s\n  %s\n", error.what(), error.remedy().c_str());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "strider-listio: %s\n", error.what());
    return 3;
  }
}

}  // namespace
}  // namespace strider::listio

int main(int count, char** words) { return strider::listio::run({words + 1, words + count}); }
