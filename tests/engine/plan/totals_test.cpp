// No number of a plan is too large: totals are right, or the plan is refused.
#include "plan/totals.hpp"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "foundation/checked.hpp"
#include "plan/plans.hpp"

namespace strider {
namespace {

using Wide = unsigned __int128;
constexpr Wide most = ~Wide{0} >> 1;

Wide times(Wide a, Wide b) { return b != 0 && a > most / b ? most : a * b; }

/// What all ranks of a case move, by the formulas of the patterns' pages; sizes that are not whole multiples leave a
/// rest.
struct Expected {
  Wide bytes, files;
};

Expected expected_of(const std::string& pattern, const Settings& settings, Wide ranks, Direction direction) {
  const auto number = [&](const char* key) { return Wide{settings.number(key)}; };
  const auto all = [&](Wide of_each) { return Expected{times(of_each, ranks), times(of_each, ranks)}; };
  if (pattern == "sequential") {
    const bool alone = direction == Direction::write && !settings.flag("overlap");
    return {times(number("size"), alone ? 1 : ranks), number("size")};
  }
  if (pattern == "segmented")
    return all(times(settings.number_or("block", settings.number("transfer")), number("segments")));
  if (pattern == "strided" || pattern == "random-strided") return all(times(number("transfer"), number("count")));
  if (pattern == "random") {
    const Wide slots = number("size") / number("transfer");
    const Wide moved = settings.has("count") ? times(times(number("count"), number("transfer")), ranks)
                                             : times(slots, number("transfer"));
    return {moved, settings.flag("replacement") ? number("size") : times(slots, number("transfer"))};
  }
  if (pattern == "tiled") {
    const Wide moved =
        times(times(times(number("tile_x"), number("tile_y")), times(number("element"), number("count"))), ranks);
    return {moved, 0};
  }
  if (pattern == "vector") return {times(times(times(number("pieces"), number("piece")), number("count")), ranks), 0};
  if (pattern == "flash") {
    const Wide cells = number("cells");
    return all(times(times(times(times(cells, cells), cells), times(number("blocks"), number("variables"))),
                     number("element")));
  }
  if (pattern == "unstructured-mesh") {
    const Wide all_vertices = times(times(number("vertices"), number("values_per_vertex")), number("element"));
    return {all_vertices, all_vertices};
  }
  if (pattern == "subarray") {
    Wide array = times(number("element"), number("count"));
    for (const std::uint64_t points : settings.numbers("dims")) array = times(array, points);
    return {array, array};
  }
  if (pattern == "btio") return {times(times(Wide{64} * 64 * 64, 40), number("dumps")), 0};
  return {0, 0};
}

/// A plan whose numbers are right, or an error that names what is too large.
void expect_right_or_refused(const std::string& text) {
  std::vector<PlanError> errors;
  const Plan plan = read_plan(plan_text({text}), errors);
  std::ostringstream printed;
  print_check(plan, errors, printed);
  for (const PlanError& error : errors) EXPECT_NE(error.message, "") << text;
  for (const Case& test : plan.cases) {
    const auto pattern = make_pattern_of(test);
    const FileAssignments assignments(test.sharing, test.clients, consecutive_nodes(test.clients, 0));
    for (const Operation operation : test.operations) {
      const PhaseTotals totals = totals_of(test, *pattern, assignments, operation);
      const Expected expected =
          expected_of(std::string(test.pattern->name), test.pattern_settings, test.clients, role_of(operation));
      EXPECT_LE(totals.bytes, largest_total) << text;
      EXPECT_TRUE(expected.bytes == 0 || expected.bytes == totals.bytes) << text << ": " << totals.bytes;
      EXPECT_TRUE(expected.files == 0 || expected.files == pattern->file_size(test.clients)) << text;
    }
  }
}

/// All powers of two and their neighbours that a number of a plan can be.
std::vector<std::uint64_t> awkward_numbers() {
  std::vector<std::uint64_t> numbers;
  for (unsigned power = 0; power < 64; ++power)
    for (const std::uint64_t offset : {~std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{1}})
      numbers.push_back((std::uint64_t{1} << power) + offset);
  numbers.push_back(~std::uint64_t{0});
  return numbers;
}

bool is_size(const Parameter& parameter) { return parameter.kind == Kind::bytes || parameter.kind == Kind::count; }

TEST(Totals, OfEachPatternAreRightOrRefusedForEverySize) {
  const std::map<std::string, std::vector<std::string>> variants{
      {"random", {"", R"(, "replacement": true, "count": 5)", R"(, "replacement": true)"}},
      {"sequential", {"", R"(, "overlap": true)"}}};
  for (const PatternEntry* entry : all_patterns()) {
    if (entry->name == "list") continue;  // its numbers are those of a file
    const std::string name(entry->name);
    const auto found = variants.find(name);
    for (const std::string& variant : found == variants.end() ? std::vector<std::string>{""} : found->second)
      for (const Parameter& parameter : entry->parameters) {
        const std::string key = "\"" + std::string(parameter.name) + "\": ";
        if (!is_size(parameter) || variant.find(key) != std::string::npos) continue;
        for (const std::uint64_t number : awkward_numbers())
          for (const char* more : {R"("clients": 1)", R"("clients": 4096)"})
            expect_right_or_refused(
                case_text(more, "\"name\": \"" + name + "\"" + variant + ", " + key + std::to_string(number)));
      }
  }
}

TEST(Totals, ThatWrappedAroundAreRefused) {
  const std::string clients = R"("clients": 1024)";
  const auto refused = [](const std::string& text) { EXPECT_EQ(key_at_fault(text), "clients") << text; };
  refused(case_text(clients, R"("name": "sequential", "size": 9007199254740993000, "overlap": true)"));
  refused(case_text(clients, R"("name": "random", "replacement": true, "count": 90071992547)"));
  refused(case_text(clients, R"("name": "nested-strided", "transfer": 1048576, "levels": [[8589934592, 1048576]])"));
  refused(case_text(R"("clients": 8192, "sharing": "per-rank", "operations": ["read"])",
                    R"("name": "sequential", "size": 2251799813685248)"));
  refused(case_text(R"("clients": 8, "sharing": "per-rank")",
                    R"("name": "random", "replacement": true, "count": 1, "size": 4611686018427387904)"));
  EXPECT_EQ(key_at_fault(case_text(R"("depth": 1024)",
                                   R"("name": "segmented", "transfer": 18014398509481984, "block": 18014398509481984)",
                                   R"("name": "mpiio")")),
            "depth");
}

TEST(Totals, OfTreesAreRefusedToo) {
  for (const char* key : {"items", "file_size", "depth", "fanout"})
    for (const std::uint64_t number : awkward_numbers())
      for (const char* more : {R"("clients": 1)", R"("clients": 16777216, "sharing": "per-rank")"}) {
        const std::string others = std::string(key) == "items" ? "" : R"("items": 10, )";
        const std::string text = tree_text(more, others + "\"" + key + "\": " + std::to_string(number));
        std::vector<PlanError> errors;
        const Plan plan = read_plan(plan_text({text}), errors);
        EXPECT_NE(plan.cases.empty(), errors.empty()) << text;
        for (const Case& test : plan.cases) {
          const auto tree = make_tree_of(test);
          const Wide bytes = times(times(tree->items(), test.clients), tree->file_bytes());
          EXPECT_LE(bytes, Wide{largest_total}) << text;
          EXPECT_LE(times(tree->directories(), test.clients), Wide{largest_total}) << text;
        }
      }
  EXPECT_EQ(key_at_fault(tree_text(R"("clients": 16777216, "sharing": "per-rank")",
                                   R"("items": 1, "depth": 25, "fanout": 2, "place": "leaves")")),
            "depth");
  EXPECT_EQ(
      key_at_fault(tree_text(
          R"("clients": 1000, "operations": ["create", "mix"], "mix": {"stat": 1}, "mix_operations": 1000000000000000)")),
      "mix_operations");
}

}  // namespace
}  // namespace strider
