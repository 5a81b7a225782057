#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "interfaces/modules.hpp"
#include "plan/case_ranks.hpp"
#include "plan/file_assignments.hpp"
#include "plan/plan.hpp"
#include "plan/steps.hpp"
#include "plan/totals.hpp"

namespace strider {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson limit_of(double limit) { return std::isnan(limit) ? OrderedJson(nullptr) : OrderedJson(limit); }

OrderedJson describe(std::span<const Parameter> parameters) {
  OrderedJson list = OrderedJson::array();
  for (const Parameter& parameter : parameters) {
    OrderedJson choices = OrderedJson::array();
    for (const std::string_view choice : split_choices(parameter.choices)) choices.push_back(choice);
    list.push_back({{"name", parameter.name},
                    {"kind", name_of(parameter.kind)},
                    {"default", OrderedJson::parse(parameter.default_json)},
                    {"doc", parameter.doc},
                    {"minimum", limit_of(parameter.minimum)},
                    {"maximum", limit_of(parameter.maximum)},
                    {"choices", choices},
                    {"required", parameter.required}});
  }
  return list;
}

OrderedJson describe(const Capabilities& capabilities) {
  OrderedJson metadata = OrderedJson::array();
  for (const OperationEntry& entry : all_operations())
    if (is_metadata(entry.operation) && !capabilities.metadata.empty() &&
        capabilities.metadata.contains(entry.metadata.calls))
      metadata.push_back(entry.name);
  return {{"storage", capabilities.stores()},
          {"collective", capabilities.transfers == Transfers::collective},
          {"metadata", metadata},
          {"own_client", capabilities.client == StorageClient::library}};
}

OrderedJson describe(const InterfaceEntry& entry) {
  return {{"name", entry.name},
          {"doc", entry.doc},
          {"available", true},
          {"unavailable_reason", ""},
          {"capabilities", describe(entry.capabilities)},
          {"parameters", describe(entry.parameters)}};
}

/// A module that cannot be loaded is named too, with the reason.
OrderedJson describe(const Module& module) {
  const LoadedModule loaded = load_module(module);
  if (loaded.entry != nullptr) return describe(*loaded.entry);
  return {{"name", module.name},
          {"doc", module.doc},
          {"available", false},
          {"unavailable_reason", loaded.problem},
          {"capabilities", describe(Capabilities{})},
          {"parameters", OrderedJson::array()}};
}

OrderedJson describe(const OperationEntry& entry) {
  OrderedJson json = {{"name", entry.name}, {"doc", entry.doc}, {"direction", entry.direction}};
  if (!is_metadata(entry.operation)) return json;
  json["visits"] = name_of(entry.metadata.operates_on);
  json["mixes"] = entry.metadata.mixes == MetadataOperation::Mixes::yes;
  return json;
}

/// `shape`: the pattern or the tree.
template <typename Shape>
OrderedJson phases_of(const Case& test, const Shape& shape, const FileAssignments& assignments) {
  OrderedJson phases = OrderedJson::array();
  for (const Operation operation : test.operations) {
    const PhaseTotals totals = totals_of(test, shape, assignments, operation);
    phases.push_back({{"operation", name_of(operation)},
                      {"bytes", totals.bytes},
                      {"requests", totals.requests},
                      {"ranks", totals.ranks}});
  }
  return phases;
}

OrderedJson check_of_tree(const Case& test, const Plan& plan) {
  const auto tree = make_tree_of(test);
  const FileAssignments assignments = planned_assignments(test, plan);
  Things made;
  const TreeState& found = test.data_set.state.tree;
  std::uint64_t size = found.file_bytes, largest = tree->file_bytes();
  for (const Step& step : steps_of(test.operations, found.present)) {
    if (step.kind == Step::Kind::sweep) continue;
    made.add(entry_of(step.operation).metadata.makes);
    size = size_after(step.operation, size, tree->file_bytes());
    largest = std::max(largest, size);
  }
  const std::uint64_t stored = test.interface->capabilities.stores() ? 1 : 0;
  const std::uint64_t of_a_kind = stored * tree->items() * test.clients;
  const std::uint64_t directories = stored * tree->directories() * assignments.files();
  // A mix may grow each rank's files by half.
  const bool mixes = std::count(test.operations.begin(), test.operations.end(), Operation::mix) > 0;
  const std::uint64_t more = mixes ? stored * ((tree->items() + 1) / 2) * test.clients : 0;
  const std::uint64_t files = made.has(Thing::files) ? of_a_kind + more : 0;
  const std::uint64_t items = files + (made.has(Thing::directories) ? of_a_kind : 0);
  const std::uint64_t links = made.has(Thing::symbolic_links) ? of_a_kind : 0;
  return {{"case", test.number},
          {"files", items},
          {"directories", directories},
          {"inodes", directories + items + links},
          {"space_bytes", files * tree->file_bytes()},
          {"largest_file_bytes", largest},
          {"request_bytes", tree->file_bytes()},
          {"memory_bytes", tree->file_bytes()},
          {"own_client", test.interface->capabilities.client == StorageClient::library},
          {"phases", phases_of(test, *tree, assignments)}};
}

OrderedJson check_of(const Case& test, const Plan& plan) {
  if (test.tree != nullptr) return check_of_tree(test, plan);
  const auto pattern = make_pattern_of(test);
  const FileAssignments assignments = planned_assignments(test, plan);
  std::uint64_t space = 0, largest = 0;
  if (test.interface->capabilities.stores()) {
    for (std::uint64_t file = 0; file < assignments.files(); ++file) {
      const std::uint64_t size = pattern->file_size(assignments.ranks_of(file));
      space += size;
      largest = std::max(largest, size);
    }
  }
  return {{"case", test.number},
          {"files", test.interface->capabilities.stores() ? assignments.files() : 0},
          {"space_bytes", space},
          {"largest_file_bytes", largest},
          {"request_bytes", pattern->request_bytes(assignments.ranks_of(0))},
          {"memory_bytes", pattern->memory_bytes(assignments.assignment(0).place) * test.depth},
          {"own_client", test.interface->capabilities.client == StorageClient::library},
          {"phases", phases_of(test, *pattern, assignments)}};
}

}  // namespace

std::string reason_against_interface(const std::string& name) {
  if (const Module* module = find_module(name)) return load_module(*module).problem;
  return find_interface(name) == nullptr ? "this engine does not have it" : "";
}

void print_description(std::ostream& out, const std::string& results) {
  OrderedJson patterns = OrderedJson::array(), interfaces = OrderedJson::array(), operations = OrderedJson::array(),
              trees = OrderedJson::array();
  for (const PatternEntry* entry : all_patterns())
    patterns.push_back({{"name", entry->name},
                        {"doc", entry->doc},
                        {"formula", entry->formula},
                        {"source", entry->source},
                        {"tiles", entry->tiles},
                        {"tiles_unless", split_choices(entry->tiles_unless)},
                        {"parameters", describe(entry->parameters)}});
  for (const InterfaceEntry* entry : all_interfaces()) interfaces.push_back(describe(*entry));
  for (const Module& module : all_modules()) interfaces.push_back(describe(module));
  for (const OperationEntry& entry : all_operations()) operations.push_back(describe(entry));
  for (const TreeEntry* entry : all_trees())
    trees.push_back({{"name", entry->name},
                     {"doc", entry->doc},
                     {"formula", entry->formula},
                     {"source", entry->source},
                     {"parameters", describe(entry->parameters)}});
  const OrderedJson description = {{"format", "strider-description"},
                                   {"version", 1},
                                   {"engine", engine_version()},
                                   {"patterns", patterns},
                                   {"interfaces", interfaces},
                                   {"operations", operations},
                                   {"case", describe(case_parameters())},
                                   {"trees", trees},
                                   {"tree_case", describe(tree_case_parameters())},
                                   {"results", OrderedJson::parse(results)}};
  out << description.dump(2) << '\n';
}

void print_check(const Plan& plan, const std::vector<PlanError>& errors, std::ostream& out) {
  OrderedJson cases = OrderedJson::array(), problems = OrderedJson::array();
  for (const Case& test : plan.cases) cases.push_back(check_of(test, plan));
  for (const PlanError& error : errors)
    problems.push_back(
        {{"case", error.case_number}, {"key", error.key}, {"message", error.message}, {"remedy", error.remedy}});
  const OrderedJson check = {{"format", "strider-check"}, {"version", 1}, {"cases", cases}, {"errors", problems}};
  // A message may quote a file that is no UTF-8.
  out << check.dump(1, ' ', false, OrderedJson::error_handler_t::replace) << '\n';
}

}  // namespace strider
