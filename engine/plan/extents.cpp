#include <array>
#include <ostream>
#include <vector>

#include "foundation/error.hpp"
#include "plan/case_ranks.hpp"
#include "plan/file_assignments.hpp"
#include "plan/plan.hpp"
#include "plan/steps.hpp"
#include "trees/paths.hpp"

namespace strider {
namespace {

const Case& find_case(const Plan& plan, std::uint64_t number) {
  for (const Case& test : plan.cases)
    if (test.number == number) return test;
  throw InputError("case", "there is no case " + std::to_string(number),
                   "cases are numbered from 1 to " + std::to_string(plan.cases.size()));
}

Operation find_operation(const Case& test, const std::string& name) {
  if (name.empty()) return test.operations.front();
  for (const Operation operation : test.operations)
    if (name_of(operation) == name) return operation;
  std::string own;
  for (const Operation operation : test.operations) own += (own.empty() ? "" : ", ") + std::string(name_of(operation));
  throw InputError("operation", "case " + std::to_string(test.number) + " has no operation \"" + name + "\"",
                   "it has " + own);
}

void check_rank(const Case& test, std::uint32_t rank) {
  if (rank >= test.clients)
    throw InputError("rank", "case " + std::to_string(test.number) + " has no rank " + std::to_string(rank),
                     "ranks are numbered from 0 to " + std::to_string(test.clients - 1));
}

/// The item that an operation works on, as it is called before anything is renamed.
ItemName name_for(Operation operation) {
  if (operation == Operation::link) return ItemName::hard_link;
  if (operation == Operation::symlink || operation == Operation::readlink) return ItemName::symbolic_link;
  return entry_of(operation).metadata.operates_on == OperatesOn::directories ? ItemName::directory : ItemName::file;
}

}  // namespace

void print_items(const Plan& plan, const ExtentsQuery& query, std::ostream& out) {
  const Case& test = find_case(plan, query.case_number);
  if (test.tree == nullptr)
    throw InputError("case", "case " + std::to_string(test.number) + " accesses a file, not a tree",
                     "list its extents instead (extents)");
  const Operation operation = find_operation(test, query.operation);
  check_rank(test, query.rank);
  if (operation == Operation::mix)
    throw InputError("operation", "the items of a mix are drawn at run time and cannot be listed",
                     "choose another operation of the case");
  const MetadataOperation& metadata = entry_of(operation).metadata;
  const bool own = metadata.owner == MetadataOperation::Owner::own;
  const auto tree = make_tree_of(test);
  const FileAssignments assignments = planned_assignments(test, plan);
  const std::uint32_t acts_as =
      own ? query.rank : readback_rank(test, query.rank, test.warmup, steps_of_shift(entry_of(operation)));
  const FileAssignment assignment = assignments.assignment(acts_as);
  const Order order = order_of(test, acts_as, tree->items());
  Paths paths(*tree, file_name(test, assignment.file));
  out << "request,path\n";
  const std::uint64_t all = operations_of(test, *tree, operation, assignment.place), last = std::min(all, query.limit);
  for (std::uint64_t index = 0; index < last; ++index) {
    std::array<std::uint64_t, 1> number{operation == Operation::remove_tree ? all - 1 - index : index};
    if (metadata.operates_on != OperatesOn::tree) order.fill(index, number);
    const char* path = metadata.operates_on == OperatesOn::tree
                           ? paths.directory(dealt_directory(assignment.place, number[0]))
                           : paths.item(name_for(operation), {assignment.place.rank, number[0]});
    out << number[0] << ',' << path << '\n';
  }
}

void print_extents(const Plan& plan, const ExtentsQuery& query, std::ostream& out) {
  const Case& test = find_case(plan, query.case_number);
  if (test.tree != nullptr)
    throw InputError("case", "case " + std::to_string(test.number) + " works on a tree, not a file",
                     "list its items instead (items)");
  const Operation operation = find_operation(test, query.operation);
  check_rank(test, query.rank);
  const auto pattern = make_pattern_of(test);
  const FileAssignments assignments = planned_assignments(test, plan);
  const bool readback = operation == Operation::read || operation == Operation::reread;
  const std::uint32_t acts_as = readback ? readback_rank(test, query.rank, test.warmup) : query.rank;
  const FileAssignment assignment = assignments.assignment(acts_as);
  const std::uint64_t requests = pattern->requests(assignment.place, role_of(operation));
  const Order order = order_of(test, acts_as, requests);

  out << "# case " << test.number << " rank " << query.rank << " operation " << name_of(operation) << " file "
      << file_name(test, assignment.file) << " size " << pattern->file_size(assignment.place.ranks) << '\n'
      << "request,extent,file_offset,memory_offset,length\n";
  const std::uint64_t last = std::min(requests, query.limit);
  std::vector<Extent> extents(pattern->most_extents(assignment.place));
  for (std::uint64_t index = 0; index < last; ++index) {
    std::array<std::uint64_t, 1> request{};
    order.fill(index, request);
    const std::size_t count = pattern->fill_request(assignment.place, request[0], extents);
    for (std::size_t i = 0; i < count; ++i)
      out << request[0] << ',' << i << ',' << extents[i].file_offset << ',' << extents[i].memory_offset << ','
          << extents[i].length << '\n';
  }
}

}  // namespace strider
