#pragma once
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plan/case.hpp"

namespace strider {

enum class Interleave { random, none };

/// What the engine is to do: docs/formats.md, section 2.
struct Plan {
  std::uint32_t ranks = 1;  ///< 0: not known yet
  std::uint32_t ranks_per_node = 0;
  std::uint64_t seed = 1;
  Interleave interleave = Interleave::random;
  double stall_timeout_s = 600;
  double time_limit_s = 0;  ///< of the whole run; 0: none
  std::vector<Case> cases;
};

/// Indices of the cases that run at the same time as a case, itself included, in the order of the plan.
std::vector<std::size_t> members_of_turn(const Plan& plan, std::size_t case_index);

struct PlanError {
  std::uint64_t case_number = 0;  ///< 0: the plan as a whole
  std::string key;
  std::string message;
  std::string remedy;
};

/// Reads a plan; what is wrong goes into `errors`, and only a plan without errors may be run.
Plan read_plan(const std::string& text, std::vector<PlanError>& errors);

/// The text of a plan in pieces, each a JSON object: what stands beside the cases, and each case.
struct PlanPieces {
  std::string header;
  std::vector<std::string> cases;
};
/// Adds to `errors` if the text is no plan; then there are no pieces.
PlanPieces split_plan(const std::string& text, std::vector<PlanError>& errors);

/// Reads a plan case by case and keeps none of them, so that many cases need no more memory than one.
class PlanReader {
 public:
  class Reading;  ///< of JSON that is parsed already
  /// Of a header that `split_plan` found right. Errors of all calls go into `errors`.
  PlanReader(const std::string& header, std::vector<PlanError>& errors);
  ~PlanReader();
  /// Reads and checks the next case; nothing if it has errors.
  std::optional<Case> next(const std::string& piece);
  /// After the last case: the plan, without its cases.
  Plan finish();
  /// Reads a case again in which `next` found no error. `index`: in the plan.
  Case again(std::size_t index, const std::string& piece) const;

 private:
  std::unique_ptr<Reading> reading_;
};

/// Makes the pattern of a case. Throws InputError.
std::unique_ptr<Pattern> make_pattern_of(const Case& test);
/// Makes the tree of a case of metadata. Throws InputError.
std::unique_ptr<Tree> make_tree_of(const Case& test);
/// The order in which `rank` issues its `requests` requests.
Order order_of(const Case& test, std::uint32_t rank, std::uint64_t requests);

/// Adds to `errors` what does not fit together in a case of a plan: pattern, interface, sharing, ranks and nodes.
void check_case(const Case& test, const Plan& plan, std::vector<PlanError>& errors);

/// Why an interface does not work here, such as a library that is missing; empty if it does.
std::string reason_against_interface(const std::string& name);

/// What `describe`, `check` and `extents` print. `results`: the schema of results as JSON.
void print_description(std::ostream& out, const std::string& results);
void print_check(const Plan& plan, const std::vector<PlanError>& errors, std::ostream& out);
struct ExtentsQuery {
  std::uint64_t case_number = 1;
  std::uint32_t rank = 0;
  std::string operation;  ///< empty: the case's first
  std::uint64_t limit = ~std::uint64_t{0};
};
/// Throws InputError where the plan has no such case, rank or operation.
void print_extents(const Plan& plan, const ExtentsQuery& query, std::ostream& out);
/// The same for a case of metadata: the paths that a rank works on.
void print_items(const Plan& plan, const ExtentsQuery& query, std::ostream& out);

}  // namespace strider
