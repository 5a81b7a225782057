#include "plan/plan.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "foundation/error.hpp"
#include "foundation/named_place.hpp"
#include "foundation/text.hpp"
#include "plan/case_ranks.hpp"
#include "plan/data_set.json.hpp"

namespace strider {
namespace {

using Json = nlohmann::json;

[[noreturn]] void wrong(std::string_view key, const std::string& message, const std::string& remedy = "") {
  throw InputError(std::string(key), message, remedy);
}

std::string shown(const Json& json) { return json.is_string() ? in_quotes(json.get<std::string>()) : json.dump(); }

/// Texts of a plan become paths, names and messages.
void refuse_forbidden(std::string_view key, const std::string& text) {
  const std::string found = forbidden_character(text);
  if (!found.empty())
    wrong(key, std::string(key) + " contains " + found + ", which is not allowed in a plan", "remove it from the text");
}

/// Looks at all texts of a value of any kind, names of keys too. `key`: of the outermost value.
void refuse_forbidden(std::string_view key, const Json& json) {
  if (json.is_string()) refuse_forbidden(key, json.get_ref<const std::string&>());
  if (!json.is_structured()) return;
  for (const auto& [name, value] : json.items()) {
    refuse_forbidden(key, name);
    refuse_forbidden(key, value);
  }
}

/// What to do about a number out of range.
std::string range_of(const Parameter& parameter) {
  const double least = std::max(0.0, parameter.minimum);  // 0 where there is no limit, which is NaN
  const bool has_most = std::isfinite(parameter.maximum);
  char text[80] = {};
  if (has_most) std::snprintf(text, sizeof text, "use a number from %.15g to %.15g", least, parameter.maximum);
  else std::snprintf(text, sizeof text, "use a number of at least %.15g", least);
  return text;
}

double checked_number(const Parameter& parameter, const Json& json) {
  if (!json.is_number()) wrong(parameter.name, std::string(parameter.name) + " must be a number");
  const double number = json.get<double>();
  if (number < parameter.minimum || number > parameter.maximum || number < 0)
    wrong(parameter.name, std::string(parameter.name) + " is out of range: " + json.dump(), range_of(parameter));
  return number;
}

/// A list of whole numbers, each within the parameter's limits.
Numbers numbers_of(const Parameter& parameter, const Json& json) {
  if (!json.is_array() || json.empty())
    wrong(parameter.name, std::string(parameter.name) + " must be a list of numbers");
  Numbers numbers;
  for (const Json& number : json) {
    checked_number(parameter, number);
    if (!number.is_number_integer()) wrong(parameter.name, std::string(parameter.name) + " must be whole numbers");
    numbers.push_back(number.get<std::uint64_t>());
  }
  return numbers;
}

/// A list of [count, stride] pairs, or of counts alone (stride 0: derived), flattened.
Numbers levels_of(const Parameter& parameter, const Json& json) {
  if (!json.is_array() || json.empty())
    wrong(parameter.name, std::string(parameter.name) + " must be a list of levels");
  Numbers flat;
  for (const Json& level : json) {
    const Numbers pair = numbers_of(parameter, level.is_array() ? level : Json::array({level}));
    if (pair.size() > 2) wrong(parameter.name, "a level of " + std::string(parameter.name) + " is [count, stride]");
    flat.push_back(pair[0]);
    flat.push_back(pair.size() == 2 ? pair[1] : 0);
  }
  return flat;
}

Weights weights_of(const Parameter& parameter, const Json& json) {
  const std::string name(parameter.name);
  if (!json.is_object()) wrong(name, name + " must be a table of operations and their weights");
  for (const auto& [operation, weight] : json.items())
    if (!weight.is_number() || !(weight.get<double>() > 0) || weight.get<double>() > 1e9)
      wrong(name, "the weight of " + operation + " must be a number above 0");
  return json.get<Weights>();
}

std::string place_of(const Parameter& parameter, const Json& json) {
  const std::string name(parameter.name);
  if (!json.is_string()) wrong(name, name + " must be text");
  // What is not given is looked for, as the parameter says.
  if (json != Json::parse(parameter.default_json)) check_place(parameter, json.get<std::string>());
  return json.get<std::string>();
}

Value value_of(const Parameter& parameter, const Json& json) {
  if (is_named_place(parameter.kind)) return place_of(parameter, json);
  const std::string name(parameter.name);
  switch (parameter.kind) {
    case Kind::bytes:
    case Kind::count:
    case Kind::port:
      checked_number(parameter, json);
      if (!json.is_number_integer()) wrong(name, name + " must be a whole number");
      return json.get<std::uint64_t>();
    case Kind::seconds: return checked_number(parameter, json);
    case Kind::flag:
      if (!json.is_boolean()) wrong(name, name + " must be true or false");
      return json.get<bool>();
    case Kind::text:
      if (!json.is_string()) wrong(name, name + " must be text");
      return json.get<std::string>();
    case Kind::choice:
      for (const std::string_view choice : split_choices(parameter.choices))
        if (json.is_string() && json.get<std::string>() == choice) return json.get<std::string>();
      wrong(name, "unknown " + name + " " + shown(json), "one of " + std::string(parameter.choices));
    case Kind::map:
      if (!json.is_object()) wrong(name, name + " must be a table");
      for (const auto& [key, value] : json.items()) {
        if (!value.is_string()) wrong(name, name + "." + key + " must be text");
        check_hint(parameter, key, value.get<std::string>());
      }
      return json.get<TextMap>();
    case Kind::operations:
      if (!json.is_array() || json.empty()) wrong(name, name + " must be a list of operations");
      for (const Json& operation : json)
        if (!operation.is_string()) wrong(name, name + " must be a list of operations");
      return json.get<std::vector<std::string>>();
    case Kind::weights: return weights_of(parameter, json);
    case Kind::numbers: return numbers_of(parameter, json);
    case Kind::levels: return levels_of(parameter, json);
    default: return {};  // sharing and repetitions are read by their own functions
  }
}

/// The values of `parameters` in a JSON object; missing ones take their default, unknown keys are errors.
Settings settings_of(std::span<const Parameter> parameters, const Json& object, const std::string& prefix) {
  Settings settings;
  for (const auto& [key, value] : object.items()) {
    if (key == "name") continue;
    const bool known =
        std::any_of(parameters.begin(), parameters.end(), [&](const Parameter& p) { return p.name == key; });
    if (!known) wrong(prefix + key, "unknown key " + key);
  }
  for (const Parameter& parameter : parameters) {
    const auto found = object.find(parameter.name);
    const Json json = found != object.end() ? *found : Json::parse(parameter.default_json);
    if (json.is_null()) continue;
    try {
      settings.set(std::string(parameter.name), value_of(parameter, json));
    } catch (const InputError& error) {
      wrong(prefix + error.key(), error.what(), error.remedy());
    }
  }
  return settings;
}

Sharing sharing_of(const Json& json) {
  if (json.is_number_integer() && json.get<std::int64_t>() >= 1 && json.get<std::int64_t>() <= 1'000'000)
    return {SharingKind::files, json.get<std::uint32_t>()};
  if (json == "shared") return {SharingKind::shared, 1};
  if (json == "per-rank") return {SharingKind::per_rank, 1};
  if (json == "per-node") return {SharingKind::per_node, 1};
  wrong("sharing", "unknown sharing " + shown(json), "\"shared\", \"per-rank\", \"per-node\" or a number of files");
}

Repetitions repetitions_of(const Json& json) {
  Repetitions repetitions;
  if (json.is_number_integer()) {
    repetitions.minimum = repetitions.maximum = json.get<std::uint64_t>();
  } else if (json.is_object()) {
    for (const auto& [key, value] : json.items())
      if (!value.is_number() || value.get<double>() < 0)
        wrong("repetitions", "repetitions." + key + " must be a number");
    for (const char* key : {"min", "max"})
      if (json.contains(key) && !json[key].is_number_integer())
        wrong("repetitions", "repetitions." + std::string(key) + " must be a whole number");
    repetitions.minimum = json.value("min", std::uint64_t{1});
    repetitions.maximum = json.value("max", repetitions.minimum);
    repetitions.until = json.value("until", 0.0);
    if (repetitions.until > 1) wrong("repetitions", "repetitions.until must be a share of at most 1");
  } else {
    wrong("repetitions", "repetitions must be a number or a table of min, max and until");
  }
  if (repetitions.minimum < 1 || repetitions.maximum < repetitions.minimum || repetitions.maximum > 1'000'000)
    wrong("repetitions", "repetitions must satisfy 1 <= min <= max <= 1000000");
  return repetitions;
}

template <typename Enum>
Enum choice_of(const Settings& settings, const char* name,
               std::initializer_list<std::pair<const char*, Enum>> choices) {
  for (const auto& [text, value] : choices)
    if (settings.text(name) == text) return value;
  wrong(name, "unknown value of " + std::string(name));
}

/// A case is of data or of metadata, and so are its operations.
enum class Subject { data, metadata };

const OperationEntry& operation_of(const std::string& name, Subject subject, const char* key) {
  const OperationEntry* entry = find_operation(name);
  if (entry == nullptr) wrong(key, "unknown operation \"" + name + "\"");
  if (is_metadata(entry->operation) == (subject == Subject::metadata)) return *entry;
  if (subject == Subject::metadata)
    wrong(key, name + " moves the bytes of a pattern, but this case has a tree",
          "use small-write or small-read, or a pattern instead of the tree");
  wrong(key, name + " works on a tree, but this case has a pattern", "use tree = \"balanced\" instead of pattern");
}

std::vector<Operation> operations_of(const std::vector<std::string>& names, Subject subject) {
  constexpr std::size_t most_operations = 60;
  if (names.size() > most_operations)
    wrong("operations", "a case has at most " + std::to_string(most_operations) + " operations",
          "split it into several cases");
  std::vector<Operation> result;
  for (const std::string& name : names) {
    const Operation operation = operation_of(name, subject, "operations").operation;
    if (operation == Operation::write && !result.empty())
      wrong("operations", "write creates a new file, so it must be the first operation",
            "use rewrite for a file that exists");
    result.push_back(operation);
  }
  return result;
}

std::vector<MixPart> mix_of(const Weights& weights) {
  std::vector<MixPart> mix;
  for (const auto& [name, weight] : weights) {
    const OperationEntry& entry = operation_of(name, Subject::metadata, "mix");
    if (entry.metadata.mixes == MetadataOperation::Mixes::no)
      wrong("mix", name + " cannot be part of a mix", "strider describe operations lists the operations that can");
    mix.push_back({entry.operation, weight});
  }
  return mix;
}

template <typename Find>
auto entry_of(const Json& json, const char* key, const Find& find) {
  if (!json.contains(key) || !json[key].is_object() || !json[key].contains("name"))
    wrong(key, std::string(key) + " is missing");
  const std::string name = json[key]["name"].get<std::string>();
  const auto* entry = find(name);
  if (entry == nullptr) wrong(key, "unknown " + std::string(key) + " \"" + name + "\"");
  return entry;
}

std::uint64_t workload_of(const Json& json) {
  Json identity = json;
  for (const char* key :
       {"case",         "name",          "interface", "repetitions", "warmup",     "settle",   "deadline",
        "deadline_of",  "runtime",       "ramp",      "depth",       "think",      "cache",    "mount",
        "nodes",        "mount_servers", "dataset",   "manifest",    "rate_limit", "arrivals", "values",
        "arrival_rate", "per_node",      "placement", "group",       "start",      "turn"})
    identity.erase(key);
  if (identity.value("read_share", 0) == 0) identity.erase("read_share");  // as plans from before read-write lack it
  return hash_of(identity);
}

void read_pattern(const Json& json, Case& test) {
  test.pattern = entry_of(json, "pattern", &find_pattern);
  test.pattern_settings = settings_of(test.pattern->parameters, json["pattern"], "");
}

void read_tree(const Json& json, Case& test) {
  if (json.contains("pattern")) wrong("tree", "a case has a pattern or a tree, not both", "split it into two cases");
  test.tree = entry_of(json, "tree", &find_tree);
  test.tree_settings = settings_of(test.tree->parameters, json["tree"], "");
}

/// Where the ranks are, and how many.
void read_rank_placement(const Settings& settings, bool derives_clients, Case& test) {
  const std::uint64_t nodes = settings.number("nodes"), per_node = settings.number("per_node");
  test.rank_placement = {.placement = choice_of<Placement>(settings, "placement",
                                                           {{"pack", Placement::pack}, {"spread", Placement::spread}}),
                         .nodes = static_cast<std::uint32_t>(nodes),
                         .per_node = static_cast<std::uint32_t>(per_node)};
  const bool derived = derives_clients && nodes > 0 && per_node > 0;
  const std::uint64_t clients = derived ? nodes * per_node : settings.number("clients");
  if (clients > most_ranks)
    wrong("per_node", "nodes x per_node is " + std::to_string(clients) + " ranks",
          "at most " + std::to_string(most_ranks) + " ranks");
  test.clients = static_cast<std::uint32_t>(clients);
}

std::uint64_t number_in(const Json& json, const char* key, std::uint64_t most) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number_unsigned() || found->get<std::uint64_t>() > most)
    wrong("turn", "turn." + std::string(key) + " must be a whole number of at most " + std::to_string(most));
  return found->get<std::uint64_t>();
}

Placement placement_of(const std::string& name) {
  if (name == "pack") return Placement::pack;
  if (name == "spread") return Placement::spread;
  wrong("placement", "unknown placement " + in_quotes(name), "\"pack\" or \"spread\"");
}

/// When a case of a group has its turn, and which ranks it leaves to other groups.
void read_turn(const Json& json, Case& test) {
  if (!json.is_object() || !json.contains("earlier") || !json["earlier"].is_array())
    wrong("turn", "turn must be a table with number and earlier", "make the plan with strider plan --json");
  test.turn = number_in(json, "number", std::numeric_limits<std::uint32_t>::max());
  for (const Json& ranks : json["earlier"])
    test.earlier_groups.push_back(
        {.clients = static_cast<std::uint32_t>(number_in(ranks, "clients", most_ranks)),
         .rank_placement = {.placement = placement_of(ranks.value("placement", "pack")),
                            .nodes = static_cast<std::uint32_t>(number_in(ranks, "nodes", most_ranks)),
                            .per_node = static_cast<std::uint32_t>(number_in(ranks, "per_node", most_ranks))}});
}

/// The keys of cases of data alone.
void read_data_settings(const Settings& settings, Case& test) {
  test.pattern_settings.set("seed", test.seed);
  test.depth = static_cast<std::uint32_t>(settings.number("depth"));
  test.think_s = settings.seconds("think");
  test.read_share = static_cast<double>(settings.number("read_share")) / 100;
  test.recorded_requests = settings.number("values");
  test.runtime_s = settings.seconds("runtime");
  test.ramp_s = settings.seconds("ramp");
  test.cache = choice_of<CachePolicy>(
      settings, "cache", {{"as-is", CachePolicy::as_is}, {"cold", CachePolicy::cold}, {"warm", CachePolicy::warm}});
}

/// The keys of cases of metadata alone.
void read_tree_settings(const Settings& settings, Case& test) {
  test.mix = mix_of(settings.weights("mix"));
  test.mix_operations = settings.number("mix_operations");
  test.open_files = settings.number("open_files");
  test.deadline_of =
      choice_of<DeadlineOf>(settings, "deadline_of", {{"all", DeadlineOf::all}, {"creation", DeadlineOf::creation}});
}

/// The interfaces of a plan: each is looked for once, since that may load a module and try what it needs.
class Interfaces {
 public:
  const InterfaceEntry* find(const std::string& name) {
    const InterfaceEntry*& entry = found_[name];
    if (entry == nullptr) entry = find_interface(name);
    return entry;
  }

 private:
  std::map<std::string, const InterfaceEntry*> found_;
};

Case case_of(const Json& json, Interfaces& interfaces) {
  for (const auto& [key, value] : json.items()) {
    refuse_forbidden("case", key);
    refuse_forbidden(key, value);
  }
  Case test;
  test.name = json.value("name", "");
  test.interface = entry_of(json, "interface", [&](const std::string& name) { return interfaces.find(name); });
  test.interface_settings =
      settings_of(test.interface->parameters, json["interface"], std::string(test.interface->name) + ".");
  const Subject subject = json.contains("tree") ? Subject::metadata : Subject::data;
  if (subject == Subject::metadata) read_tree(json, test);
  else read_pattern(json, test);

  Json common = json;
  for (const char* key : {"case", "name", "interface", "pattern", "tree", "manifest", "turn"}) common.erase(key);
  const Settings settings =
      settings_of(subject == Subject::metadata ? tree_case_parameters() : case_parameters(), common, "");
  read_rank_placement(settings, !json.contains("clients"), test);
  test.group = settings.text("group");
  test.start_s = settings.seconds("start");
  if (json.contains("turn")) read_turn(json["turn"], test);
  test.operations = operations_of(settings.list("operations"), subject);
  test.repetitions = repetitions_of(json.value("repetitions", Json(3)));
  test.warmup = settings.number("warmup");
  test.sharing = sharing_of(json.value("sharing", Json("shared")));
  test.order = choice_of<OrderKind>(
      settings, "order",
      {{"forward", OrderKind::forward}, {"backward", OrderKind::backward}, {"random", OrderKind::random}});
  test.readback = choice_of<Readback>(settings, "readback",
                                      {{"same", Readback::same},
                                       {"shift", Readback::shift},
                                       {"growing-shift", Readback::growing_shift},
                                       {"shuffle", Readback::shuffle}});
  test.sync = choice_of<SyncPolicy>(
      settings, "sync",
      {{"none", SyncPolicy::none}, {"end", SyncPolicy::end}, {"each", SyncPolicy::each}, {"node", SyncPolicy::node}});
  test.verify = choice_of<Verify>(settings, "verify", {{"off", Verify::off}, {"full", Verify::full}});
  test.shift = static_cast<std::uint32_t>(settings.number("shift"));
  test.deadline_s = settings.seconds("deadline");
  test.wear_out = settings.flag("wear_out") ? WearOut::yes : WearOut::no;
  test.settle_s = settings.seconds("settle");
  test.mount = choice_of<MountKind>(settings, "mount", {{"none", MountKind::none}, {"listio", MountKind::listio}});
  test.mount_servers = static_cast<std::uint32_t>(settings.number("mount_servers"));
  test.data_set.name = settings.text("dataset");
  test.seed = settings.number("seed");
  test.rate_limit_per_s = settings.number("rate_limit");
  test.arrivals = choice_of<Arrivals>(
      settings, "arrivals", {{"closed", Arrivals::closed}, {"fixed", Arrivals::fixed}, {"poisson", Arrivals::poisson}});
  test.arrival_rate_per_s = settings.number("arrival_rate");
  if (subject == Subject::metadata) read_tree_settings(settings, test);
  else read_data_settings(settings, test);
  test.workload = workload_of(json);
  test.geometry = geometry_of(json);
  test.order_hash = order_hash_of(json);
  if (json.contains("manifest")) read_manifest(json["manifest"], test.data_set);
  return test;
}

/// A whole number of the plan itself; `otherwise` where it is not given.
std::uint64_t header_number(const Json& json, const char* key, std::uint64_t otherwise, std::uint64_t most) {
  if (!json.contains(key)) return otherwise;
  if (!json[key].is_number_unsigned() || json[key].get<std::uint64_t>() > most)
    wrong(key, std::string(key) + " must be a whole number of at most " + std::to_string(most));
  return json[key].get<std::uint64_t>();
}

Plan header_of(const Json& json) {
  Plan plan;
  if (json.value("format", "") != "strider-plan") wrong("format", "this is not a plan: format is not \"strider-plan\"");
  if (json.value("version", 0) != 1)
    wrong("version", "the plan's version is " + json.value("version", Json()).dump() + ", this engine reads version 1",
          "make the plan again with this Strider");
  plan.ranks_per_node = static_cast<std::uint32_t>(header_number(json, "ranks_per_node", 0, most_ranks));
  plan.seed = header_number(json, "seed", 1, std::numeric_limits<std::uint64_t>::max());
  plan.stall_timeout_s = json.value("stall_timeout_s", 600.0);
  plan.time_limit_s = json.value("time_limit_s", 0.0);
  const std::string interleave = json.value("interleave", "random");
  if (interleave != "random" && interleave != "none") wrong("interleave", "interleave must be \"random\" or \"none\"");
  plan.interleave = interleave == "random" ? Interleave::random : Interleave::none;
  plan.ranks = static_cast<std::uint32_t>(header_number(json, "ranks", 0, most_ranks));
  return plan;
}

/// The case's own number, else its position in the plan.
std::uint64_t number_of(const Json& json, std::uint64_t position) {
  const bool numbered = json.is_object() && json.contains("case") && json["case"].is_number_unsigned();
  return numbered ? json["case"].get<std::uint64_t>() : position;
}

/// Later cases find in a data set what earlier ones leave.
class TreeSets {
 public:
  void before(std::size_t index, Case& test) {
    const auto found = states_.find(test.data_set.name);
    if (test.tree == nullptr || found == states_.end()) return;
    found_.insert_or_assign(index, found->second);
    set(index, test);
  }
  void after(const Case& test) {
    if (test.tree == nullptr || !test.data_set.used() || !test.data_set.known) return;
    follow(test, *make_tree_of(test), states_.try_emplace(test.data_set.name, test.data_set.state).first->second);
  }
  /// As `before` did it.
  void set(std::size_t index, Case& test) const {
    const auto found = found_.find(index);
    if (found != found_.end()) test.data_set.state = found->second;
  }

 private:
  std::map<std::string, DataSetState> states_;  ///< by data set, after the cases so far
  std::map<std::size_t, DataSetState> found_;   ///< by case, where an earlier one has left it
};

PlanError error_of(std::uint64_t number, const InputError& error) {
  return {number, error.key(), error.what(), error.remedy()};
}

PlanError error_of(std::uint64_t number, const Json::exception& error) {
  return {number, "", error.what(), "a plan is made by strider plan --json"};
}

/// Runs an action; what is wrong goes into `errors`, as of this case. 0: the plan as a whole.
template <typename Action>
void collect(std::vector<PlanError>& errors, std::uint64_t number, const Action& action) {
  try {
    action();
  } catch (const InputError& error) {
    errors.push_back(error_of(number, error));
  } catch (const Json::exception& error) {
    errors.push_back(error_of(number, error));
  }
}

/// The whole text, with a right header and a list of cases.
Json parse_plan(const std::string& text) {
  constexpr int most_levels = 16;  // what follows looks at values of values
  Json json = Json::parse(text, [](int level, Json::parse_event_t, Json&) {
    if (level > most_levels) wrong("cases", "the plan's values are nested too deeply");
    return true;
  });
  header_of(json);
  if (!json.contains("cases") || !json["cases"].is_array() || json["cases"].empty())
    wrong("cases", "the plan has no cases");
  return json;
}

}  // namespace

class PlanReader::Reading {
 public:
  Reading(const Json& header, std::vector<PlanError>& errors)
      : errors_(errors), plan_(header_of(header)), has_ranks_(header.contains("ranks")) {}

  std::optional<Case> next(const Json& json) {
    const std::size_t errors_before = errors_.size(), index = position_++;
    const std::uint64_t number = number_of(json, position_);
    std::optional<Case> test;
    collect(errors_, number, [&] {
      test = case_of(json, interfaces_);
      test->number = number;
      needed_ = std::max(needed_, ranks_needed(*test));
      trees_.before(index, *test);
      check_case(*test, plan_, errors_);
      if (errors_.size() == errors_before) trees_.after(*test);
    });
    return errors_.size() == errors_before ? std::move(test) : std::nullopt;
  }

  Plan finish() {
    if (has_ranks_ && plan_.ranks < needed_)
      errors_.push_back({0, "ranks", "a case has more clients than the plan has ranks",
                         "set ranks to " + std::to_string(needed_) + ", or use fewer clients"});
    plan_.ranks = std::max(plan_.ranks, needed_);
    return plan_;
  }

  Case again(std::size_t index, const Json& json) {
    Case test = case_of(json, interfaces_);
    test.number = number_of(json, index + 1);
    trees_.set(index, test);
    return test;
  }

 private:
  std::vector<PlanError>& errors_;
  Plan plan_;
  bool has_ranks_;
  Interfaces interfaces_;
  TreeSets trees_;
  std::uint64_t position_ = 0;
  std::uint32_t needed_ = 1;
};

PlanReader::PlanReader(const std::string& header, std::vector<PlanError>& errors)
    : reading_(std::make_unique<Reading>(Json::parse(header), errors)) {}
PlanReader::~PlanReader() = default;
std::optional<Case> PlanReader::next(const std::string& piece) { return reading_->next(Json::parse(piece)); }
Plan PlanReader::finish() { return reading_->finish(); }
Case PlanReader::again(std::size_t index, const std::string& piece) const {
  return reading_->again(index, Json::parse(piece));
}

PlanPieces split_plan(const std::string& text, std::vector<PlanError>& errors) {
  PlanPieces pieces;
  collect(errors, 0, [&] {
    Json json = parse_plan(text);
    for (const Json& test : json["cases"]) pieces.cases.push_back(test.dump());
    json.erase("cases");
    pieces.header = json.dump();
  });
  return errors.empty() ? pieces : PlanPieces{};
}

Plan read_plan(const std::string& text, std::vector<PlanError>& errors) {
  Plan plan;
  collect(errors, 0, [&] {
    const Json json = parse_plan(text);
    PlanReader::Reading reading(json, errors);
    std::vector<Case> cases;
    for (const Json& each : json["cases"])
      if (std::optional<Case> test = reading.next(each)) cases.push_back(std::move(*test));
    plan = reading.finish();
    plan.cases = std::move(cases);
  });
  return plan;
}

}  // namespace strider
