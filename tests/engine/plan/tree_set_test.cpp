// Trees of data sets: what a plan may ask of them.
#include <gtest/gtest.h>

#include "foundation/error.hpp"
#include "operations/population.hpp"
#include "plan/plans.hpp"

namespace strider {
namespace {

const std::string complete =
    R"("tree": {"present": ["tree", "files"], "files": 10, "file_bytes": 100, "written_bytes": 100, "generation": 1})";
const std::string small_tree = R"("items": 10, "file_size": 100)";

std::string geometry_of_case() { return std::to_string(good_case(tree_text("", small_tree)).geometry); }

/// A case in a set that holds `state`.
std::string in_tree_set(const std::string& more, const std::string& state = complete) {
  return tree_text(R"("repetitions": 1, "dataset": "kept", "manifest": {"id": "abc", "generation": 1, "geometry": )" +
                       geometry_of_case() + ", " + state + "}, " + more,
                   small_tree);
}
std::string in_new_set(const std::string& more) {
  return tree_text(R"("repetitions": 1, "dataset": "kept", "manifest": {"id": "abc"}, )" + more, small_tree);
}
std::string complaint(const std::vector<std::string>& cases) {
  const std::vector<PlanError> errors = errors_of(cases);
  EXPECT_EQ(errors.size(), 1U) << cases.back();
  if (errors.empty()) return "";
  EXPECT_EQ(errors[0].key, "dataset");
  EXPECT_EQ(errors[0].case_number, cases.size());
  return errors[0].message;
}
void expect_complaint(const std::vector<std::string>& cases, const std::string& words) {
  const std::string message = complaint(cases);
  EXPECT_NE(message.find(words), std::string::npos) << message;
}

TEST(TreeSet, IsReadFromTheManifest) {
  const std::string state =
      R"("tree": {"present": ["tree", "files", "symbolic-links"], "files": 7, "symbolic_links": 7, "file_bytes": 50,
         "written_bytes": 40, "generation": 3, "renamed_files": true})";
  const std::string backward = R"("order": "backward", "operations": ["stat"])";
  std::vector<PlanError> errors = errors_of({in_tree_set(backward, state)});
  ASSERT_EQ(errors.size(), 1U) << "made in another order";
  const Plan plan = good_plan({in_tree_set(R"("operations": ["readdir"])", R"("tree": {"present": ["tree"]})")});
  EXPECT_EQ(plan.cases.at(0).data_set.state.tree.present, Things{Thing::tree});
}

TEST(TreeSet, HasWhatAPopulationHas) {
  const TreeState state{{.present = {Thing::tree, Thing::files},
                         .files = 4,
                         .file_bytes = 50,
                         .written_bytes = 40,
                         .generation = 3,
                         .renamed_files = true}};
  const Case test = good_case(tree_text("", small_tree));
  const Population population = population_of(state, *make_tree_of(test));
  EXPECT_EQ(population.files, 4U);
  EXPECT_FALSE(population.whole) << "4 of 10 items";
  EXPECT_EQ(population.file_name(), ItemName::renamed_file);
  const TreeState linked = state_of(population, state, Operation::link);
  EXPECT_EQ(linked.hard_links, 4U);
  EXPECT_EQ(linked.written_bytes, 40U);
  EXPECT_EQ(linked.generation, 3U);
}

TEST(TreeSet, IsUsedByCasesThatFindWhatTheyNeed) {
  EXPECT_TRUE(
      errors_of({in_tree_set(R"("operations": ["stat", "small-read", "rename", "unlink", "remove-tree"])")}).empty());
  EXPECT_TRUE(errors_of({in_new_set(R"("operations": ["create"])"), in_new_set(R"("operations": ["stat", "unlink"])"),
                         in_new_set(R"("operations": ["create"])")})
                  .empty());
}

TEST(TreeSet, IsNeitherFilledNorEmptiedUnmeasured) {
  expect_complaint({in_tree_set(R"("operations": ["stat-directory"])")}, "need items that it does not have");
  expect_complaint({in_tree_set(R"("operations": ["create"])")}, "it has files, and create needs a tree without them");
  expect_complaint({in_new_set(R"("operations": ["create", "unlink"])"), in_new_set(R"("operations": ["stat"])")},
                   "need items that it does not have");
  expect_complaint({in_tree_set(R"("operations": ["unlink"], "repetitions": 2)")}, "in the second repetition");
  expect_complaint({in_tree_set(R"("operations": ["truncate"], "repetitions": 2)")}, "change the size");
}

TEST(TreeSet, HasEquallyManyItemsOfEachRank) {
  const std::string creates = R"("operations": ["create"], "deadline": 1)";
  EXPECT_TRUE(errors_of({in_new_set(creates)}).empty());
  expect_complaint({in_new_set(creates + R"(, "wear_out": false)")}, "without wear-out");
  expect_complaint({in_new_set(R"("operations": ["mix"], "mix": {"stat": 1})")}, "after a mix");
  expect_complaint({in_tree_set(R"("operations": ["unlink"], "deadline": 1)")}, "a deadline that ends unlink");
  EXPECT_TRUE(
      errors_of({in_tree_set(R"("operations": ["unlink"], "deadline": 1, "deadline_of": "creation")")}).empty());
  expect_complaint({in_new_set(creates), in_new_set(R"("operations": ["stat"], "order": "random")")},
                   "only the order and seed of that case");
}

TEST(TreeSet, FitsOnlyTheTreeThatMadeIt) {
  const std::string other = tree_text(
      R"("repetitions": 1, "operations": ["stat"], "dataset": "kept", "manifest": {"generation": 1, "geometry": )" +
          geometry_of_case() + ", " + complete + "}",
      R"("items": 11)");
  expect_complaint({other}, "another tree");
  expect_complaint({in_tree_set(R"("operations": ["stat"])", complete + R"(, "incomplete": true)")}, "did not end");
}

TEST(TreeSet, IsTheSameInACaseThatIsReadAgain) {
  const std::string text =
      plan_text({in_tree_set(R"("operations": ["unlink"])"), in_tree_set(R"("operations": ["readdir"])"),
                 tree_text("", small_tree), case_text(R"("clients": 3)")},
                R"("ranks": 4, )");
  std::vector<PlanError> errors;
  const Plan plan = read_plan(text, errors);
  const PlanPieces pieces = split_plan(text, errors);
  PlanReader reader(pieces.header, errors);
  for (const std::string& piece : pieces.cases) EXPECT_TRUE(reader.next(piece));
  EXPECT_EQ(reader.finish().ranks, 4U);
  EXPECT_TRUE(errors.empty());
  for (std::size_t i = plan.cases.size(); i-- > 0;) {
    const Case again = reader.again(i, pieces.cases[i]);
    EXPECT_EQ(again.number, plan.cases[i].number);
    EXPECT_EQ(again.clients, plan.cases[i].clients);
    EXPECT_EQ(again.workload, plan.cases[i].workload);
    EXPECT_EQ(again.geometry, plan.cases[i].geometry);
    EXPECT_EQ(again.order_hash, plan.cases[i].order_hash);
    EXPECT_EQ(again.data_set.state.tree.present, plan.cases[i].data_set.state.tree.present);
    EXPECT_EQ(again.data_set.state.tree.present.has(Thing::files), i == 0) << "the first case removes them";
  }
}

}  // namespace
}  // namespace strider
