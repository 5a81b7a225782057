#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <sstream>
#include <vector>

#include "events/schema.hpp"
#include "foundation/error.hpp"
#include "foundation/json_text.hpp"
#include "interfaces/modules.hpp"
#include "plan/plan.hpp"
#include "runner/node_report.hpp"
#include "runner/observer.hpp"
#include "runner/runner.hpp"

namespace strider {
namespace {

constexpr const char* usage =
    "usage: strider-engine describe\n"
    "       strider-engine version\n"
    "       strider-engine check PLAN\n"
    "       strider-engine extents PLAN --case C --rank R [--operation OP] [--limit N]\n"
    "       strider-engine items PLAN --case C --rank R [--operation OP] [--limit N]\n"
    "       mpiexec -n RANKS strider-engine run PLAN --directory DIR --run ID --data-seed N --events FILE\n"
    "           [--counters none|basic|all] [--ceilings none|all] [--timeline none|node|rank|auto]\n"
    "           [--timeline-interval SECONDS] [--earlier FILE] [--remount PROGRAM [--remount ARGUMENT]...]\n"
    "           [--marker required|unknown] [--confinement auto|required] [--confinement-probe FILE]\n"
    "           [--mount SERVERS=DIR]... [--dataset NAME=DIR]... [--process NAME=PID:START:PORT]...\n"
    "           [--unconfined REASON] [--wider TEXT] [--errands SOCKET] [--simulate RANKS]\n"
    "           [--per-rank FILE] [--identity OWNER:INODE:DEVICE:HOST=DIR]...\n"
    "       strider-engine observe --out FILE [--interval SECONDS] [--for SECONDS] [--counters basic|all]\n"
    "           [--until signal|input-closes] [--root DIR]\n"
    "       strider-engine node --target DIR [--folder DIR] [--interface NAME]... [--file PATH]...\n";

enum ExitCode { done = 0, with_errors = 1, bad_input = 2, could_not_run = 3 };

using Names = std::vector<std::string>;

/// The options of a verb, without the hyphens; null for an unknown verb.
const Names* options_of(const std::string& verb) {
  static const std::map<std::string, Names> known{
      {"check", {}},
      {"describe", {}},
      {"version", {}},
      {"extents", {"case", "rank", "operation", "limit"}},
      {"items", {"case", "rank", "operation", "limit"}},
      {"observe", {"out", "interval", "for", "counters", "until", "root"}},
      {"node", {"target", "folder", "interface", "file"}},
      // clang-format off
      {"run", {"directory", "run", "data-seed", "events", "counters", "ceilings", "timeline", "timeline-interval",
               "earlier", "remount", "marker", "confinement", "confinement-probe", "mount", "dataset", "process",
               "unconfined", "wider", "errands", "simulate", "per-rank", "identity"}},
      // clang-format on
  };
  const auto found = known.find(verb);
  return found == known.end() ? nullptr : &found->second;
}

/// Throws InputError for an option that the verb lacks: a mistyped one would be a default without notice.
void require_known(const std::string& verb, const std::string& word) {
  const Names* const known = options_of(verb);
  if (known == nullptr || std::ranges::find(*known, word.substr(2)) != known->end()) return;
  std::string list;
  for (const std::string& name : *known) list += (list.empty() ? "one of --" : ", --") + name;
  throw InputError(word, "unknown option " + word + " of " + verb, known->empty() ? verb + " has none" : list);
}

struct Arguments {
  std::string verb;
  std::string plan;
  std::map<std::string, std::string> options;
  std::map<std::string, std::vector<std::string>> repeated{{"remount", {}}, {"mount", {}},    {"dataset", {}},
                                                           {"process", {}}, {"identity", {}}, {"interface", {}},
                                                           {"file", {}}};

  Arguments(int count, char** words) {
    if (count > 1) verb = words[1];
    for (int i = 2; i < count; ++i) {
      const std::string word = words[i];
      if (word.rfind("--", 0) == 0) require_known(verb, word);
      if (word.rfind("--", 0) != 0) plan = word;
      else if (i + 1 == count) throw InputError(word, word + " needs a value", usage);
      else if (const auto list = repeated.find(word.substr(2)); list != repeated.end())
        list->second.emplace_back(words[++i]);
      else options[word.substr(2)] = words[++i];
    }
  }
  std::string text(const std::string& name) const {
    const auto found = options.find(name);
    if (found == options.end()) throw InputError(name, "--" + name + " is missing", usage);
    return found->second;
  }
  std::uint64_t number(const std::string& name, std::uint64_t otherwise) const {
    const auto found = options.find(name);
    if (found == options.end()) return otherwise;
    std::istringstream stream(found->second);
    std::uint64_t value = 0;
    if (found->second.empty() || found->second[0] == '-' || !(stream >> value) || !stream.eof())
      throw InputError(name, "--" + name + " must be a whole number", usage);
    return value;
  }
};

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError("", "cannot read the plan " + path, "strider plan SUITE --json > " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

int check(const Arguments& arguments) {
  std::vector<PlanError> errors;
  const Plan plan = read_plan(read_file(arguments.plan), errors);
  print_check(plan, errors, std::cout);
  return errors.empty() ? done : bad_input;
}

void refuse(const std::vector<PlanError>& errors) {
  for (const PlanError& error : errors)
    std::cerr << "strider-engine: case " << error.case_number << ": " << error.message
              << (error.remedy.empty() ? "" : ": " + error.remedy) << '\n';
}

using Print = void (*)(const Plan&, const ExtentsQuery&, std::ostream&);

int list_requests(const Arguments& arguments, Print print) {
  std::vector<PlanError> errors;
  const Plan plan = read_plan(read_file(arguments.plan), errors);
  if (!errors.empty()) return refuse(errors), bad_input;
  ExtentsQuery query;
  query.case_number = arguments.number("case", 1);
  query.rank = static_cast<std::uint32_t>(arguments.number("rank", 0));
  query.limit = arguments.number("limit", query.limit);
  if (arguments.options.contains("operation")) query.operation = arguments.text("operation");
  print(plan, query, std::cout);
  return done;
}

int version() {
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(library, &length);
  std::cout << "{\"engine\": " << json_text(engine_version()) << ", \"mpi\": {\"library\": " << json_text(library)
            << ", \"mpiexec\": " << json_text(STRIDER_MPIEXEC) << "}}\n";
  return done;
}

double seconds(const Arguments& arguments, const std::string& name, double otherwise) {
  if (!arguments.options.contains(name)) return otherwise;
  const std::string text = arguments.text(name);
  std::istringstream stream(text);
  double value = 0;
  constexpr double longest_s = 1e9;
  if (!(stream >> value) || !stream.eof() || !(value >= 0.001) || value > longest_s)
    throw InputError(name, "--" + name + " must be a number of seconds, at least 0.001: " + text, usage);
  return value;
}

CounterScope counter_scope(const Arguments& arguments) {
  if (!arguments.options.contains("counters")) return CounterScope::all;
  const std::string text = arguments.text("counters");
  if (text == "none") return CounterScope::none;
  if (text == "basic") return CounterScope::basic;
  if (text == "all") return CounterScope::all;
  throw InputError("counters", "unknown --counters " + text, "one of none, basic, all");
}

CeilingScope ceiling_scope(const Arguments& arguments) {
  if (!arguments.options.contains("ceilings")) return CeilingScope::none;
  const std::string text = arguments.text("ceilings");
  if (text == "none") return CeilingScope::none;
  if (text == "all") return CeilingScope::all;
  throw InputError("ceilings", "unknown --ceilings " + text, "one of none, all");
}

TimelineOptions timeline_options(const Arguments& arguments) {
  TimelineOptions options;
  options.interval_s = seconds(arguments, "timeline-interval", options.interval_s);
  if (!arguments.options.contains("timeline")) return options;
  const std::string text = arguments.text("timeline");
  if (text == "none") options.scope = TimelineScope::none;
  else if (text == "node") options.scope = TimelineScope::node;
  else if (text == "rank") options.scope = TimelineScope::rank;
  else if (text != "auto") throw InputError("timeline", "unknown --timeline " + text, "one of none, node, rank, auto");
  return options;
}

ConfinementOptions confinement_options(const Arguments& arguments) {
  const auto text = [&](const std::string& name, const std::string& otherwise) {
    return arguments.options.contains(name) ? arguments.text(name) : otherwise;
  };
  const std::string wanted = text("confinement", "auto");
  if (wanted != "auto" && wanted != "required")
    throw InputError("confinement", "unknown --confinement " + wanted, "one of auto, required");
  return {wanted == "required", text("confinement-probe", ""), text("unconfined", ""), text("wider", ""),
          text("errands", "")};
}

RunFolder::Marker marker_option(const Arguments& arguments) {
  const std::string text = arguments.options.contains("marker") ? arguments.text("marker") : "unknown";
  if (text == "required") return RunFolder::Marker::required;
  if (text == "unknown") return RunFolder::Marker::unknown;
  throw InputError("marker", "unknown --marker " + text, "one of required, unknown");
}

/// SERVERS=DIR
void add_mount(const std::string& text, RunOptions& options) {
  std::istringstream stream(text);
  std::uint32_t servers = 0;
  std::string directory;
  if (!(stream >> servers) || stream.get() != '=' || !std::getline(stream, directory) || directory.empty())
    throw InputError("mount", "--mount must be SERVERS=DIR: " + text, usage);
  options.mounts[servers] = directory;
}

/// NAME=DIR
void add_data_set(const std::string& text, RunOptions& options) {
  const std::size_t middle = text.find('=');
  if (middle == std::string::npos || middle == 0 || middle + 1 == text.size())
    throw InputError("dataset", "--dataset must be NAME=DIR: " + text, usage);
  options.data_sets[text.substr(0, middle)] = text.substr(middle + 1);
}

/// OWNER:INODE:DEVICE:HOST=DIR
void add_identity(const std::string& text, RunOptions& options) {
  const std::size_t middle = text.find('=');
  if (middle == std::string::npos || middle + 1 == text.size())
    throw InputError("identity", "--identity must be OWNER:INODE:DEVICE:HOST=DIR: " + text, usage);
  options.identities[text.substr(middle + 1)] = FolderIdentity::parse(text.substr(0, middle));
}

/// NAME=PID:START:PORT
WatchedProcess process_of(const std::string& text) {
  const std::size_t middle = text.rfind('=');
  WatchedProcess process{.name = text.substr(0, middle)};
  std::istringstream stream(middle == std::string::npos ? "" : text.substr(middle + 1));
  char first = 0, second = 0;
  if (!(stream >> process.pid >> first >> process.start_ticks >> second >> process.port) || first != ':' ||
      second != ':' || !(stream >> std::ws).eof() || process.name.empty())
    throw InputError("process", "--process must be NAME=PID:START:PORT: " + text, usage);
  return process;
}

std::uint32_t simulated_ranks(const Arguments& arguments) {
  const std::uint64_t ranks = arguments.number("simulate", 0);
  if (arguments.options.contains("simulate") && (ranks == 0 || ranks > std::numeric_limits<std::int32_t>::max()))
    throw InputError("simulate", "--simulate must be a number of ranks: " + std::to_string(ranks), usage);
  return static_cast<std::uint32_t>(ranks);
}

int run(const Arguments& arguments) {
  RunOptions options;
  options.directory = arguments.text("directory");
  options.run = arguments.text("run");
  options.events = arguments.text("events");
  options.data_seed = arguments.number("data-seed", 1);
  options.counters = counter_scope(arguments);
  options.ceilings = ceiling_scope(arguments);
  options.timelines = timeline_options(arguments);
  if (arguments.options.contains("earlier")) options.earlier = arguments.text("earlier");
  if (arguments.options.contains("per-rank")) options.per_rank = arguments.text("per-rank");
  options.remount_command = arguments.repeated.at("remount");
  for (const std::string& text : arguments.repeated.at("mount")) add_mount(text, options);
  for (const std::string& text : arguments.repeated.at("dataset")) add_data_set(text, options);
  for (const std::string& text : arguments.repeated.at("identity")) add_identity(text, options);
  for (const std::string& text : arguments.repeated.at("process")) options.processes.push_back(process_of(text));
  options.marker = marker_option(arguments);
  options.confinement = confinement_options(arguments);
  options.plan_file = arguments.plan;
  options.simulated_ranks = simulated_ranks(arguments);
  switch (run_plan(options)) {
    case RunResult::complete: return done;
    case RunResult::with_errors:
    case RunResult::interrupted: return with_errors;
    case RunResult::bad_plan: return bad_input;
    case RunResult::failed: break;
  }
  return could_not_run;
}

int observe(const Arguments& arguments) {
  ObserveOptions options;
  options.out = arguments.text("out");
  options.interval_s = seconds(arguments, "interval", options.interval_s);
  options.duration_s = seconds(arguments, "for", options.duration_s);
  options.counters = counter_scope(arguments);
  if (options.counters == CounterScope::none)
    throw InputError("counters", "observe with --counters none would record nothing", "use basic or all");
  const std::string until = arguments.options.contains("until") ? arguments.text("until") : "signal";
  if (until != "signal" && until != "input-closes")
    throw InputError("until", "unknown --until " + until, "one of signal, input-closes");
  if (until == "input-closes") options.end = ObserveEnd::input_closes;
  if (arguments.options.contains("root")) options.root = arguments.text("root");
  observe_node(options);
  return done;
}

int node(const Arguments& arguments) {
  const auto folder = arguments.options.find("folder");
  report_node({engine_version(), arguments.text("target"), folder == arguments.options.end() ? "" : folder->second,
               arguments.repeated.at("interface"), arguments.repeated.at("file")},
              std::cout);
  return done;
}

int dispatch(const Arguments& arguments) {
  if (arguments.verb == "run") return run(arguments);
  if (arguments.verb == "check") return check(arguments);
  if (arguments.verb == "extents") return list_requests(arguments, print_extents);
  if (arguments.verb == "items") return list_requests(arguments, print_items);
  if (arguments.verb == "observe") return observe(arguments);
  if (arguments.verb == "node") return node(arguments);
  if (arguments.verb == "version") return version();
  if (arguments.verb == "describe") return print_description(std::cout, results_schema()), done;
  std::cerr << usage;
  return bad_input;
}

}  // namespace
}  // namespace strider

int main(int count, char** words) {
  try {
    return strider::dispatch(strider::Arguments(count, words));
  } catch (const strider::InputError& error) {
    std::cerr << "strider-engine: " << error.what() << (error.remedy().empty() ? "" : ": " + error.remedy()) << '\n';
    return strider::bad_input;
  } catch (const strider::IoError& error) {
    std::cerr << "strider-engine: " << error.details().call << ' ' << error.details().file << ": " << error.what()
              << '\n';
    return strider::could_not_run;
  } catch (const std::exception& error) {
    std::cerr << "strider-engine: " << error.what() << '\n';
    return strider::could_not_run;
  }
}
