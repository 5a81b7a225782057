// Cases of metadata: how a plan says what they are, what does not fit together in them, what they need.
#include <gtest/gtest.h>

#include <sstream>

#include "plan/plans.hpp"

namespace strider {
namespace {

TEST(TreeCase, HasDefaultsOfItsOwn) {
  const Case test = good_case(tree_text());
  ASSERT_NE(test.tree, nullptr);
  EXPECT_EQ(test.tree->name, "balanced");
  EXPECT_EQ(test.pattern, nullptr);
  EXPECT_EQ(test.tree_settings.number("items"), 10U);
  EXPECT_EQ(test.tree_settings.number("depth"), 0U);
  EXPECT_EQ(test.tree_settings.text("place"), "all");
  EXPECT_EQ(test.operations, (std::vector<Operation>{Operation::create, Operation::stat, Operation::unlink}));
  EXPECT_EQ(test.sync, SyncPolicy::none);
  EXPECT_EQ(test.open_files, 512U);
  EXPECT_EQ(test.mix_operations, 0U);
  EXPECT_EQ(test.rate_limit_per_s, 0U);
  EXPECT_TRUE(test.mix.empty());
}

TEST(TreeCase, ReadsWhatIsGiven) {
  const Case test = good_case(tree_text(
      R"("clients": 4, "operations": ["mix", "readdir"], "sharing": "per-rank", "readback": "shift", "shift": 2,
         "sync": "each", "verify": "full", "deadline": 2.5, "wear_out": false, "seed": 9, "mix_operations": 77,
         "mix": {"stat": 60, "small-read": 25.5, "create": 10, "unlink": 5}, "open_files": 3, "rate_limit": 1000)",
      R"("items": 6, "depth": 3, "fanout": 2, "place": "leaves", "name_length": 30, "file_size": 4096)"));
  EXPECT_EQ(make_tree_of(test)->items(), 6U * 8);
  EXPECT_EQ(make_tree_of(test)->file_bytes(), 4096U);
  EXPECT_EQ(test.clients, 4U);
  EXPECT_EQ(test.operations, (std::vector<Operation>{Operation::mix, Operation::readdir}));
  EXPECT_EQ(test.sharing.kind, SharingKind::per_rank);
  EXPECT_EQ(test.readback, Readback::shift);
  EXPECT_EQ(test.shift, 2U);
  EXPECT_EQ(test.sync, SyncPolicy::each);
  EXPECT_EQ(test.verify, Verify::full);
  EXPECT_EQ(test.deadline_s, 2.5);
  EXPECT_EQ(test.wear_out, WearOut::no);
  EXPECT_EQ(test.seed, 9U);
  EXPECT_EQ(test.mix_operations, 77U);
  EXPECT_EQ(test.open_files, 3U);
  EXPECT_EQ(test.rate_limit_per_s, 1000U);
  ASSERT_EQ(test.mix.size(), 4U);
  double weights = 0;
  for (const MixPart& part : test.mix) weights += part.weight;
  EXPECT_EQ(weights, 100.5);
}

TEST(TreeCase, MayHaveEveryOperationThereIs) {
  for (const OperationEntry& entry : all_operations()) {
    if (!is_metadata(entry.operation)) continue;
    const std::string more = R"("mix": {"stat": 1}, "operations": [")" + std::string(entry.name) + R"("])";
    EXPECT_EQ(good_case(tree_text(more, R"("items": 1, "file_size": 8)")).operations.size(), 1U) << entry.name;
  }
}

struct TreeMistake {
  const char* key;
  std::string text;
};

TEST(TreeCase, NamesTheKeyOfEachMistake) {
  const std::string mix = R"("operations": ["mix"], "mix": )";
  const TreeMistake mistakes[] = {
      {"tree", tree_text(R"("pattern": {"name": "segmented"})")},
      {"tree", R"("interface": {"name": "posix"}, "tree": {"items": 1})"},
      {"tree", R"("interface": {"name": "posix"}, "tree": "balanced")"},
      {"tree", R"("interface": {"name": "posix"}, "tree": {"name": "unbalanced", "items": 1})"},
      {"items", tree_text("", R"("items": 0)")},
      {"items", tree_text("", R"("items": "many")")},
      {"items", tree_text("", R"("items": 1.5)")},
      {"items", tree_text("", R"("items": 1000000000000, "depth": 20, "fanout": 2)")},
      {"items", tree_text(R"("clients": 262144)", R"("items": 1000000000000)")},
      {"depth", tree_text("", R"("items": 1, "depth": 64)")},
      {"depth", tree_text("", R"("items": 1, "depth": 30, "fanout": 10)")},
      {"fanout", tree_text("", R"("items": 1, "fanout": 0)")},
      {"place", tree_text("", R"("items": 1, "place": "roots")")},
      {"name_length", tree_text("", R"("items": 1, "name_length": 256)")},
      {"file_size", tree_text("", R"("items": 1, "file_size": 2147483648)")},
      {"file_size", tree_text("", R"("items": 10000000000, "file_size": 1073741824)")},
      {"width", tree_text("", R"("items": 1, "width": 2)")},
      {"transfer", tree_text(R"("transfer": 4096)")},
      {"posix.dirct", tree_text("", R"("items": 1)", R"("name": "posix", "dirct": true)")},
      {"posix.method", tree_text("", R"("items": 1)", R"("name": "posix", "direct": true, "method": "sieve")")},
      {"operations", tree_text(R"("operations": [])")},
      {"operations", tree_text(R"("operations": ["fly"])")},
      {"operations", tree_text(R"("operations": ["create", "write"])")},
      {"operations", case_text(R"("operations": ["write", "stat"])")},
      {"sync", tree_text(R"("sync": "end")")},
      {"mix", tree_text(R"("operations": ["mix"])")},
      {"mix", tree_text(mix + "{}")},
      {"mix", tree_text(mix + R"({"fly": 1})")},
      {"mix", tree_text(mix + R"({"read": 1})")},
      {"mix", tree_text(mix + R"({"rename": 1})")},
      {"mix", tree_text(mix + R"({"mix": 1})")},
      {"mix", tree_text(mix + R"({"stat": 0})")},
      {"mix", tree_text(mix + R"({"stat": -1})")},
      {"mix", tree_text(mix + R"({"stat": 1e10})")},
      {"mix", tree_text(mix + R"({"stat": "much"})")},
      {"mix", tree_text(mix + R"(["stat"])")},
      {"mix", case_text(R"("mix": {"stat": 1})")},
      {"order", tree_text(mix + R"({"stat": 1}, "order": "random")")},
      {"open_files", tree_text(R"("open_files": 0)")},
      {"open_files", case_text(R"("open_files": 1)")},
      {"rate_limit", tree_text(R"("rate_limit": -1)")},
      {"rate_limit", tree_text(R"("rate_limit": "fast")")},
      {"mix_operations", tree_text(R"("mix_operations": true)")},
      {"sharing", tree_text(R"("clients": 2, "sharing": 3)")},
      {"shift", tree_text(R"("clients": 2, "readback": "shift", "shift": 2)")},
      {"shift", tree_text(R"("clients": 2, "readback": "growing-shift", "shift": 2)")},
      {"deadline_of", tree_text(R"("deadline": 1, "deadline_of": "removal")")},
      {"verify", tree_text(R"("verify": "full")", R"("items": 1)", R"("name": "null")")},
      {"operations", tree_text("", R"("items": 1)", R"("name": "mpiio")")},
      {"interface", tree_text("", R"("items": 1)", R"("name": "mmap")")},
  };
  for (const TreeMistake& mistake : mistakes) EXPECT_EQ(key_at_fault(mistake.text), mistake.key) << mistake.text;
}

TEST(TreeCase, OperationsOnContentsNeedSome) {
  const auto of = [](const std::string& operations, int file_size) {
    return tree_text(R"("operations": [)" + operations + "]",
                     R"("items": 1, "file_size": )" + std::to_string(file_size));
  };
  for (const char* operation :
       {R"("small-read")", R"("small-write")", R"("truncate")", R"("mknod", "expand", "small-read")"})
    EXPECT_EQ(key_at_fault(of(operation, 0)), "file_size") << operation;
  for (const char* operations : {R"("mknod", "small-read")", R"("mknod", "truncate")"})
    EXPECT_EQ(key_at_fault(of(operations, 100)), "file_size") << operations;
  EXPECT_EQ(key_at_fault(of(R"("truncate", "truncate")", 1)), "file_size") << "nothing is left";
  good_case(of(R"("small-read", "small-write", "truncate", "small-read")", 100));
  good_case(of(R"("mknod", "small-write", "small-read")", 100));
  good_case(of(R"("mknod", "expand", "truncate")", 0));
  EXPECT_EQ(key_at_fault(tree_text(R"("operations": ["mix"], "mix": {"small-read": 1})")), "file_size");
}

TEST(TreeCase, FilesGrowNoLargerThanFilesCan) {
  std::string operations = R"("expand")";
  for (int i = 0; i < 38; ++i) operations += R"(, "expand")";  // from 4 KiB to 1 PiB
  good_case(tree_text(R"("operations": [)" + operations + "]"));
  EXPECT_EQ(key_at_fault(tree_text(R"("operations": [)" + operations + R"(, "expand"])")), "operations");
}

TEST(TreeCase, AMixNeedsFilesOfTheSizeThatItCreates) {
  const auto before = [](const std::string& operations) {
    return tree_text(R"("mix": {"stat": 1}, "operations": [)" + operations + R"(, "mix"])",
                     R"("items": 4, "file_size": 100)");
  };
  for (const char* operations : {R"("truncate")", R"("expand")", R"("mknod")"})
    EXPECT_EQ(key_at_fault(before(operations)), "operations") << operations;
  for (const char* operations : {R"("create")", R"("truncate", "create")", R"("expand", "unlink")",
                                 R"("truncate", "small-write")", R"("mix")", R"("rename")"})
    good_case(before(operations));
}

TEST(TreeCase, EveryRefusalSaysWhatWouldBeRight) {
  for (const std::string& text :
       {tree_text(R"("pattern": {"name": "segmented"})"), tree_text(R"("operations": ["write"])"),
        case_text(R"("operations": ["stat"])"), tree_text(R"("operations": ["mix"])"),
        tree_text(R"("operations": ["truncate"])"), tree_text("", R"("items": 1, "depth": 30, "fanout": 10)"),
        tree_text("", R"("items": 1)", R"("name": "mpiio")")})
    for (const PlanError& error : errors_of({text})) EXPECT_NE(error.remedy, "") << text;
}

TEST(TreeCase, IsPartOfAWorkloadThatItsInterfaceDoesNotChange) {
  const auto workload = [](const std::string& tree, const std::string& interface) {
    return good_case(tree_text("", tree, interface)).workload;
  };
  const std::uint64_t posix = workload(R"("items": 1)", R"("name": "posix")");
  EXPECT_EQ(workload(R"("items": 1)", R"("name": "null")"), posix);
  EXPECT_NE(workload(R"("items": 2)", R"("name": "posix")"), posix);
}

std::string printed_check(const std::string& text) {
  std::ostringstream out;
  print_check(good_plan({text}), {}, out);
  std::string printed = out.str();
  std::erase_if(printed, [](char letter) { return letter == ' ' || letter == '\n'; });
  return printed;
}

TEST(PrintedTreeCheck, SaysWhatACaseNeedsAndDoes) {
  EXPECT_EQ(
      printed_check(tree_text(R"("clients": 3, "operations": ["create", "readdir", "open", "symlink", "mkdir"],
                                       "open_files": 5)",
                              R"("items": 10, "depth": 1, "fanout": 3, "file_size": 100)")),
      R"({"format":"strider-check","version":1,"cases":[{"case":1,"files":240,"directories":4,"inodes":364,)"
      R"("space_bytes":12000,"largest_file_bytes":100,"request_bytes":100,"memory_bytes":100,"own_client":false,"phases":[)"
      R"({"operation":"create","bytes":12000,"requests":120,"ranks":3},)"
      R"({"operation":"readdir","bytes":0,"requests":4,"ranks":3},)"
      R"({"operation":"open","bytes":0,"requests":15,"ranks":3},)"
      R"({"operation":"symlink","bytes":0,"requests":120,"ranks":3},)"
      R"({"operation":"mkdir","bytes":0,"requests":120,"ranks":3}]}],"errors":[]})");
}

TEST(PrintedTreeCheck, CountsATreeForEachRankThatHasOne) {
  const std::string text =
      printed_check(tree_text(R"("clients": 3, "sharing": "per-rank")", R"("items": 2, "depth": 1)"));
  EXPECT_NE(text.find(R"("files":12,"directories":6,"inodes":18)"), std::string::npos) << text;
}

TEST(PrintedTreeCheck, CountsWhatIsPreparedAndWhatAMixMayAdd) {
  const auto files = [](const std::string& more) {
    const std::string text = printed_check(tree_text(more, R"("items": 5, "file_size": 10)"));
    return text.substr(text.find(R"("files")"), text.find(R"(,"largest)") - text.find(R"("files")"));
  };
  EXPECT_EQ(files(R"("operations": ["stat"])"), R"("files":5,"directories":1,"inodes":6,"space_bytes":50)");
  EXPECT_EQ(files(R"("operations": ["readdir"])"), R"("files":0,"directories":1,"inodes":1,"space_bytes":0)");
  const std::string mix = R"("mix": {"create": 1}, "operations": )";
  EXPECT_EQ(files(mix + R"(["mix"])"), R"("files":8,"directories":1,"inodes":9,"space_bytes":80)");
  EXPECT_EQ(files(mix + R"(["stat"])"), R"("files":5,"directories":1,"inodes":6,"space_bytes":50)");
  EXPECT_EQ(files(R"("operations": ["link"])"), R"("files":5,"directories":1,"inodes":6,"space_bytes":50)")
      << "a hard link is no inode";
}

TEST(PrintedTreeCheck, KnowsHowLargeFilesBecome) {
  const std::string text =
      printed_check(tree_text(R"("operations": ["expand", "expand", "truncate"])", R"("items": 1, "file_size": 10)"));
  EXPECT_NE(text.find(R"("space_bytes":10,"largest_file_bytes":40)"), std::string::npos) << text;
}

TEST(PrintedTreeCheck, NullNeedsNothing) {
  const std::string text = printed_check(tree_text("", R"("items": 10, "file_size": 10)", R"("name": "null")"));
  EXPECT_NE(text.find(R"("files":0,"directories":0,"inodes":0,"space_bytes":0)"), std::string::npos) << text;
}

}  // namespace
}  // namespace strider
