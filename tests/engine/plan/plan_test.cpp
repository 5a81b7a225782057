#include "plan/plan.hpp"

#include <gtest/gtest.h>

#include "plan/plans.hpp"

namespace strider {
namespace {

TEST(Plan, WhatIsNotGivenTakesItsDefault) {
  const Plan plan = good_plan({case_text()});
  EXPECT_EQ(plan.ranks, 1U);
  EXPECT_EQ(plan.ranks_per_node, 0U);
  EXPECT_EQ(plan.seed, 1U);
  EXPECT_EQ(plan.interleave, Interleave::random);
  EXPECT_EQ(plan.stall_timeout_s, 600);
  const Case& test = plan.cases.at(0);
  EXPECT_EQ(test.number, 1U);
  EXPECT_EQ(test.name, "");
  EXPECT_EQ(test.clients, 1U);
  EXPECT_EQ(test.interface->name, "posix");
  EXPECT_FALSE(test.interface_settings.flag("direct"));
  EXPECT_EQ(test.pattern->name, "segmented");
  EXPECT_EQ(test.pattern_settings.number("segments"), 1U);
  EXPECT_EQ(test.operations, (std::vector<Operation>{Operation::write, Operation::read}));
  EXPECT_EQ(test.repetitions.minimum, 3U);
  EXPECT_EQ(test.repetitions.maximum, 3U);
  EXPECT_EQ(test.warmup, 0U);
  EXPECT_EQ(test.order, OrderKind::forward);
  EXPECT_EQ(test.sharing.kind, SharingKind::shared);
  EXPECT_EQ(test.readback, Readback::same);
  EXPECT_EQ(test.sync, SyncPolicy::end);
  EXPECT_EQ(test.verify, Verify::off);
  EXPECT_EQ(test.deadline_s, 0);
  EXPECT_EQ(test.wear_out, WearOut::yes);
  EXPECT_EQ(test.settle_s, 0);
  EXPECT_EQ(test.seed, 1U);
}

TEST(Plan, WhatIsGivenIsRead) {
  const Plan plan = good_plan(
      {case_text(R"("case": 7, "name": "mine", "clients": 4, "operations": ["rewrite", "reread", "read-modify-write"],
                    "repetitions": {"min": 2, "max": 9, "until": 0.05}, "warmup": 1, "order": "random", "sharing": 2,
                    "readback": "shift", "shift": 3, "sync": "each", "verify": "full", "deadline": 2.5, "wear_out": false,
                    "settle": 0.5, "seed": 99)",
                 R"("name": "strided", "transfer": 100, "count": 7)",
                 R"("name": "mpiio", "access": "collective", "prefix": "ufs:", "hints": {"cb_nodes": "2"})")},
      R"("ranks": 6, "ranks_per_node": 2, "seed": 5, "interleave": "none", "stall_timeout_s": 9.5,
         "time_limit_s": 90, )");
  EXPECT_EQ(plan.ranks, 6U);
  EXPECT_EQ(plan.ranks_per_node, 2U);
  EXPECT_EQ(plan.seed, 5U);
  EXPECT_EQ(plan.interleave, Interleave::none);
  EXPECT_EQ(plan.stall_timeout_s, 9.5);
  EXPECT_EQ(plan.time_limit_s, 90);
  const Case& test = plan.cases.at(0);
  EXPECT_EQ(test.number, 7U);
  EXPECT_EQ(test.name, "mine");
  EXPECT_EQ(test.clients, 4U);
  EXPECT_EQ(test.interface_settings.text("access"), "collective");
  EXPECT_EQ(test.interface_settings.map("hints"), (TextMap{{"cb_nodes", "2"}}));
  EXPECT_EQ(test.pattern_settings.number("count"), 7U);
  EXPECT_EQ(test.pattern_settings.number("seed"), 99U) << "patterns draw from the case's seed";
  EXPECT_EQ(test.operations,
            (std::vector<Operation>{Operation::rewrite, Operation::reread, Operation::read_modify_write}));
  EXPECT_EQ(test.repetitions.minimum, 2U);
  EXPECT_EQ(test.repetitions.maximum, 9U);
  EXPECT_EQ(test.repetitions.until, 0.05);
  EXPECT_EQ(test.warmup, 1U);
  EXPECT_EQ(test.order, OrderKind::random);
  EXPECT_EQ(test.sharing.kind, SharingKind::files);
  EXPECT_EQ(test.sharing.files, 2U);
  EXPECT_EQ(test.readback, Readback::shift);
  EXPECT_EQ(test.shift, 3U);
  EXPECT_EQ(test.sync, SyncPolicy::each);
  EXPECT_EQ(test.verify, Verify::full);
  EXPECT_EQ(test.deadline_s, 2.5);
  EXPECT_EQ(test.wear_out, WearOut::no);
  EXPECT_EQ(test.settle_s, 0.5);
}

TEST(Plan, NullMeansNotGiven) {
  const Case test = good_case(case_text("", R"("name": "segmented", "transfer": 4096, "block": null)"));
  EXPECT_FALSE(test.pattern_settings.has("block"));
}

TEST(Plan, NeedsTheRanksOfItsLargestCase) {
  EXPECT_EQ(good_plan({case_text(R"("clients": 2)"), case_text(R"("clients": 5)")}).ranks, 5U);
  const auto errors = errors_of({case_text(R"("clients": 5)")}, R"("ranks": 4, )");
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].key, "ranks");
}

std::string key_of_plan(const std::string& text) {
  std::vector<PlanError> errors;
  read_plan(text, errors);
  EXPECT_EQ(errors.size(), 1U) << text;
  return errors.empty() ? "no error" : errors[0].key;
}

TEST(Plan, NumbersOfTheWholeAreNotWrappedAround) {
  for (const char* key : {"ranks", "ranks_per_node"})
    for (const char* value : {"99999999999", "4294967297", "-1", "1.5", "\"1\"", "1e300"})
      EXPECT_EQ(key_of_plan(plan_text({case_text()}, "\"" + std::string(key) + "\": " + value + ", ")), key) << value;
  EXPECT_EQ(key_of_plan(plan_text({case_text()}, R"("seed": -1, )")), "seed");
}

TEST(Plan, NestedTooDeeplyIsRefused) {
  EXPECT_EQ(key_of_plan(plan_text({case_text("\"order\": " + std::string(10'000, '[') + std::string(10'000, ']'))})),
            "cases");
}

TEST(Plan, ThatIsNoneIsRefused) {
  EXPECT_EQ(key_of_plan("transfer = 1"), "");
  EXPECT_EQ(key_of_plan("[1, 2]"), "");
  EXPECT_EQ(key_of_plan(R"({"format": "strider-run", "version": 1})"), "format");
  EXPECT_EQ(key_of_plan(R"({"format": "strider-plan", "version": 2, "cases": []})"), "version");
  EXPECT_EQ(key_of_plan(R"({"format": "strider-plan", "version": 1})"), "cases");
  EXPECT_EQ(key_of_plan(plan_text({})), "cases");
  EXPECT_EQ(key_of_plan(plan_text({case_text()}, R"("interleave": "sometimes", )")), "interleave");
}

struct Mistake {
  const char* key;
  std::string text;
};

TEST(Plan, NamesTheKeyOfEachMistake) {
  const Mistake mistakes[] = {
      {"interface", R"("pattern": {"name": "segmented"})"},
      {"interface", case_text("", R"("name": "segmented")", R"("name": "possix")")},
      {"pattern", R"("interface": {"name": "posix"})"},
      {"pattern", case_text("", R"("name": "segmentd")")},
      {"posix.dirct", case_text("", R"("name": "segmented")", R"("name": "posix", "dirct": true)")},
      {"posix.direct", case_text("", R"("name": "segmented")", R"("name": "posix", "direct": 1)")},
      {"mpiio.access", case_text("", R"("name": "segmented")", R"("name": "mpiio", "access": "alone")")},
      {"mpiio.prefix", case_text("", R"("name": "segmented")", R"("name": "mpiio", "prefix": 3)")},
      {"mpiio.hints", case_text("", R"("name": "segmented")", R"("name": "mpiio", "hints": {"cb_nodes": 2})")},
      {"mpiio.hints", case_text("", R"("name": "segmented")", R"("name": "mpiio", "hints": "cb_nodes")")},
      {"mpiio.prefix", case_text("", R"("name": "segmented")", R"("name": "mpiio", "prefix": "/tmp/file")")},
      {"mpiio.prefix", case_text("", R"("name": "segmented")", R"("name": "mpiio", "prefix": "nodriver:")")},
      {"mpiio.hints", case_text("", R"("name": "segmented")", R"("name": "mpiio", "hints": {"": "2"})")},
      // A zero would end the path before the name of the file.
      {"interface", case_text("", R"("name": "segmented")", R"("name": "mpiio", "prefix": "/tmp/file\u0000")")},
      {"interface", case_text("", R"("name": "segmented")", R"("name": "mpiio", "hints": {"a\u0000": "2"})")},
      {"name", case_text(R"("name": "a\u202eb")")},
      {"pattern", case_text("", R"("name": "list", "file": "/a\nb")")},
      {"case", case_text(R"("a\u0007": 1)")},
      {"file", case_text("", R"("name": "list", "file": "/dev/zero")")},
      {"file", case_text("", R"("name": "list", "file": "~/list.csv")")},
      {"stride", case_text("", R"("name": "strided", "stride": 4)")},
      {"transfer", case_text("", R"("name": "segmented", "transfer": "1MiB")")},
      {"transfer", case_text("", R"("name": "segmented", "transfer": 0)")},
      {"transfer", case_text("", R"("name": "segmented", "transfer": -4096)")},
      {"transfer", case_text("", R"("name": "segmented", "transfer": 4096.5)")},
      {"transfer", case_text("", R"("name": "segmented", "transfer": 8192, "block": 4096)")},
      {"clients", case_text(R"("clients": 0)")},
      {"clients", case_text(R"("clients": 16777217)")},
      {"client", case_text(R"("client": 2)")},
      {"operations", case_text(R"("operations": [])")},
      {"operations", case_text(R"("operations": "write")")},
      {"operations", case_text(R"("operations": ["append"])")},
      {"operations", case_text(R"("operations": ["read", "write"])")},
      {"operations", case_text(R"("operations": [1])")},
      {"repetitions", case_text(R"("repetitions": 0)")},
      {"repetitions", case_text(R"("repetitions": "many")")},
      {"repetitions", case_text(R"("repetitions": {"min": 5, "max": 2})")},
      {"repetitions", case_text(R"("repetitions": {"min": "few"})")},
      {"repetitions", case_text(R"("repetitions": {"until": -0.1})")},
      {"repetitions", case_text(R"("repetitions": {"until": 1.5})")},
      {"repetitions", case_text(R"("repetitions": {"max": 1e300})")},
      {"order", case_text(R"("order": "sideways")")},
      {"sharing", case_text(R"("sharing": "all")")},
      {"sharing", case_text(R"("sharing": 0)")},
      {"readback", case_text(R"("readback": "other")")},
      {"shift", case_text(R"("shift": -1)")},
      {"sync", case_text(R"("sync": true)")},
      {"verify", case_text(R"("verify": "some")")},
      {"deadline", case_text(R"("deadline": -1)")},
      {"deadline", case_text(R"("deadline": "30s")")},
      {"wear_out", case_text(R"("wear_out": "yes")")},
      {"settle", case_text(R"("settle": 1e9)")},
      {"warmup", case_text(R"("warmup": 5000)")},
      {"seed", case_text(R"("seed": "1")")},
  };
  for (const Mistake& mistake : mistakes) EXPECT_EQ(key_at_fault(mistake.text), mistake.key) << mistake.text;
}

TEST(Plan, ReportsTheMistakesOfAllCasesByNumber) {
  const auto errors =
      errors_of({case_text(R"("clients": 0)"), case_text(), case_text(R"("order": "x")"), case_text(R"("seed": -1)")});
  ASSERT_EQ(errors.size(), 3U);
  EXPECT_EQ(errors[0].case_number, 1U);
  EXPECT_EQ(errors[1].case_number, 3U);
  EXPECT_EQ(errors[2].case_number, 4U);
}

TEST(Plan, CountsOnAfterACaseWithSeveralMistakes) {
  const std::string two_mistakes =
      case_text(R"("verify": "full", "sharing": 2)", R"("name": "segmented")", R"("name": "null")");
  const auto errors = errors_of({two_mistakes, case_text(R"("order": "x")")});
  ASSERT_EQ(errors.size(), 3U);
  EXPECT_EQ(errors[1].case_number, 1U);
  EXPECT_EQ(errors[2].case_number, 2U);
}

TEST(Plan, UsesTheNumbersThatItsCasesHave) {
  const Plan plan = good_plan({case_text(R"("case": 3)"), case_text(R"("case": 8)")});
  EXPECT_EQ(plan.cases[0].number, 3U);
  EXPECT_EQ(plan.cases[1].number, 8U);
  EXPECT_EQ(errors_of({case_text(R"("case": 5, "order": "x")")}).at(0).case_number, 5U);
}

TEST(Plan, MountsAreForInterfacesOfTheKernel) {
  const auto errors = [](const std::string& keys, const std::string& interface) {
    return errors_of({case_text(keys, R"("name": "segmented")", interface)});
  };
  EXPECT_EQ(good_case(case_text()).mount, MountKind::none);
  const Case test = good_case(case_text(R"("mount": "listio", "mount_servers": 4)"));
  EXPECT_EQ(test.mount, MountKind::listio);
  EXPECT_EQ(test.mount_servers, 4U);
  EXPECT_EQ(errors(R"("mount": "listio")", R"("name": "null")").at(0).key, "mount");
  EXPECT_EQ(errors(R"("mount_servers": 4)", R"("name": "posix")").at(0).key, "mount_servers");
  EXPECT_EQ(errors(R"("mount": "listio")", R"("name": "mpiio", "prefix": "listio:")").at(0).key, "mount");
}

TEST(Workload, IsTheSameThroughEveryInterface) {
  const std::string pattern = R"("name": "segmented", "transfer": 4096)";
  const auto workload = [&](const std::string& more, const std::string& interface) {
    return good_case(case_text(more, pattern, interface)).workload;
  };
  const std::uint64_t posix = workload("", R"("name": "posix")");
  EXPECT_EQ(workload("", R"("name": "posix", "direct": true)"), posix);
  EXPECT_EQ(workload("", R"("name": "mpiio", "access": "collective")"), posix);
  EXPECT_EQ(workload(R"("case": 9, "name": "again", "repetitions": 7, "warmup": 1)", R"("name": "posix")"), posix);
  EXPECT_EQ(workload(R"("mount": "listio", "mount_servers": 4)", R"("name": "posix")"), posix);
  EXPECT_EQ(workload(R"("values": 9)", R"("name": "posix")"), posix);
  EXPECT_NE(workload(R"("clients": 2)", R"("name": "posix")"), posix);
  EXPECT_NE(workload(R"("seed": 2)", R"("name": "posix")"), posix);
  EXPECT_NE(good_case(case_text("", R"("name": "segmented", "transfer": 8192)")).workload, posix);
}

}  // namespace
}  // namespace strider
