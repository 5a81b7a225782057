// What does not fit together in a case: pattern, interface, sharing.
#include <gtest/gtest.h>

#include <sstream>

#include "plan/plans.hpp"

namespace strider {
namespace {

TEST(Check, TransferIsAtMostTheBlock) {
  EXPECT_EQ(key_at_fault(case_text("", R"("name": "segmented", "transfer": 8, "block": 4)")), "transfer");
}

TEST(Check, DirectIoNeedsAlignedTransfers) {
  const auto direct = [](const std::string& pattern) {
    return case_text("", pattern, R"("name": "posix", "direct": true)");
  };
  EXPECT_EQ(key_at_fault(direct(R"("name": "segmented", "transfer": 1000, "block": 4000)")), "transfer");
  EXPECT_EQ(key_at_fault(direct(R"("name": "segmented", "transfer": 4096, "block": 10000)")), "transfer");
  EXPECT_EQ(key_at_fault(direct(
                R"("name": "random", "transfer": 4096, "size": 1048576, "count": 3, "align": 1, "replacement": true)")),
            "transfer");
  good_case(direct(R"("name": "segmented", "transfer": 4096, "block": 65536)"));
}

TEST(Check, ATransferIsAtMostWhatTheInterfaceMovesInOneCall) {
  EXPECT_EQ(key_at_fault(case_text("", R"("name": "strided", "transfer": 2147483648)", R"("name": "mpiio")")),
            "transfer");
  good_case(case_text("", R"("name": "strided", "transfer": 2147483648)", R"("name": "posix")"));
}

TEST(Check, RequestsInFlightNeedAnInterfaceThatKeepsThem) {
  const std::string pattern = R"("name": "strided")";
  EXPECT_EQ(key_at_fault(case_text(R"("depth": 2)", pattern, R"("name": "mmap")")), "depth");
  EXPECT_EQ(key_at_fault(case_text(R"("depth": 100000)", pattern)), "depth");
  EXPECT_EQ(key_at_fault(case_text(R"("depth": 2, "sync": "each")", pattern)), "sync");
  EXPECT_EQ(key_at_fault(case_text(R"("depth": 2, "operations": ["write", "read-modify-write"])", pattern)),
            "operations");
  good_case(case_text(R"("depth": 2)", pattern));
  good_case(case_text(R"("depth": 1)", pattern, R"("name": "mmap")"));
}

TEST(Check, ValuesAreOfDataThatStorageKeepsAndAPhaseReads) {
  EXPECT_EQ(key_at_fault(case_text(R"("values": 4, "operations": ["write"])")), "values");
  EXPECT_EQ(key_at_fault(case_text(R"("values": 4)", R"("name": "strided")", R"("name": "null")")), "values");
  EXPECT_EQ(key_at_fault(case_text(R"("values": 100001)")), "values");
  EXPECT_EQ(key_at_fault(case_text(R"("values": 4, "clients": 2)", R"("name": "strided")",
                                   R"("name": "mpiio", "pointer": "shared")")),
            "values");
  EXPECT_EQ(good_case(case_text(R"("values": 100000)")).recorded_requests, 100'000U);
  EXPECT_EQ(good_case(case_text(R"("values": 4, "operations": ["write", "reread"])")).recorded_requests, 4U);
  EXPECT_EQ(good_case(case_text("")).recorded_requests, 0U);
}

// proves measuring: open-loop-excludes
TEST(Check, OpenLoopNeedsARateAndNothingElseThatHoldsRanksBack) {
  for (const char* kind : {"fixed", "poisson"}) {
    const std::string arrivals = R"("arrivals": ")" + std::string(kind) + "\"";
    const std::string open = arrivals + R"(, "arrival_rate": 100)";
    EXPECT_EQ(key_at_fault(case_text(arrivals)), "arrival_rate");
    EXPECT_EQ(key_at_fault(tree_text(arrivals)), "arrival_rate");
    EXPECT_EQ(key_at_fault(case_text(open + R"(, "rate_limit": 1000)")), "rate_limit");
    EXPECT_EQ(key_at_fault(tree_text(open + R"(, "rate_limit": 1000)")), "rate_limit");
    EXPECT_EQ(key_at_fault(case_text(open + R"(, "think": 0.1)")), "think");
    good_case(tree_text(open));
    EXPECT_EQ(good_case(case_text(open)).arrival_rate_per_s, 100U);
  }
  EXPECT_EQ(key_at_fault(case_text(R"("arrival_rate": 100)")), "arrival_rate");
  EXPECT_EQ(key_at_fault(tree_text(R"("arrival_rate": 100)")), "arrival_rate");
  EXPECT_EQ(good_case(case_text(R"("rate_limit": 1048576, "think": 0.1)")).rate_limit_per_s, 1048576U);
}

// proves measuring: open-loop-excludes
TEST(Check, WhatIsDueAtATimeOfItsOwnWaitsForNoOthers) {
  const std::string strided = R"("name": "strided")";
  const std::string collective = R"("name": "mpiio", "access": "collective")";
  const std::string independent = R"("name": "mpiio")";
  const std::string open = R"("arrivals": "fixed", "arrival_rate": 100)", limit = R"("rate_limit": 1000)";
  EXPECT_EQ(key_at_fault(case_text(open, strided, collective)), "arrivals");
  EXPECT_EQ(key_at_fault(case_text(limit, strided, collective)), "rate_limit");
  good_case(case_text(open, strided, independent));
  good_case(case_text(limit, strided, independent));
  const std::string queue = R"(, "depth": 2)";
  const std::string nonblocking = R"("name": "mpiio", "access": "independent")";
  EXPECT_EQ(key_at_fault(case_text(open + queue, strided, nonblocking)), "depth");
  EXPECT_EQ(key_at_fault(case_text(limit + queue, strided, nonblocking)), "depth");
  good_case(case_text(open + queue, strided));
  const std::string two = R"("clients": 2, "operations": ["make-tree", "create"], )" + open;
  EXPECT_EQ(key_at_fault(tree_text(two)), "arrivals");
  good_case(tree_text(two + R"(, "sharing": "per-rank")"));
}

TEST(Check, NullHasNothingToVerify) {
  EXPECT_EQ(key_at_fault(case_text(R"("verify": "full")", R"("name": "strided")", R"("name": "null")")), "verify");
}

TEST(Check, SharedBytesThatAreReadAndChangedCannotBeVerified) {
  const std::string changed = R"("verify": "full", "operations": ["write", "read-modify-write"])";
  EXPECT_EQ(key_at_fault(case_text(changed, R"("name": "sequential", "overlap": true)")), "verify");
  EXPECT_EQ(key_at_fault(case_text(changed, R"("name": "random", "replacement": true, "count": 4)")), "verify");
  good_case(case_text(changed, R"("name": "sequential", "overlap": false)"));
  good_case(case_text(R"("verify": "full")", R"("name": "sequential", "overlap": true)"));
}

TEST(Check, ALoneWriterInRandomOrderHasNoDeadline) {
  const std::string sequential = R"("name": "sequential", "overlap": false)";
  EXPECT_EQ(key_at_fault(case_text(R"("clients": 2, "order": "random", "deadline": 1)", sequential)), "deadline");
  good_case(case_text(R"("clients": 2, "order": "backward", "deadline": 1)", sequential));
  good_case(case_text(R"("clients": 2, "order": "random", "deadline": 1)", R"("name": "sequential", "overlap": true)"));
  good_case(case_text(R"("clients": 2, "order": "random", "deadline": 1)"));
  EXPECT_EQ(key_at_fault(case_text(R"("clients": 2, "order": "random", "runtime": 1)", sequential)), "runtime");
}

// proves measuring: runtime-or-deadline
TEST(Check, ARuntimeIsTheOnlyEndOfAPhase) {
  EXPECT_EQ(key_at_fault(case_text(R"("runtime": 2, "deadline": 1)")), "deadline");
  EXPECT_EQ(key_at_fault(case_text(R"("ramp": 1)")), "ramp");
  EXPECT_EQ(key_at_fault(case_text(R"("runtime": 1, "ramp": 1)")), "ramp");
  const Case test = good_case(case_text(R"("runtime": 2, "ramp": 0.5, "verify": "full")"));
  EXPECT_EQ(test.runtime_s, 2);
  EXPECT_EQ(test.ramp_s, 0.5);
}

// proves measuring: overlapping-passes
TEST(Check, OnlyBytesOfOneRequestAreVerifiedAfterTheWritesOfARuntime) {
  const std::string verified = R"("runtime": 1, "verify": "full", "clients": 2)";
  const std::string written = verified + R"(, "operations": ["write"])",
                    read = verified + R"(, "operations": ["read"])";
  const std::string overlapping = R"("name": "random", "replacement": true, "count": 4)";
  const std::string lone_writer = R"("name": "sequential", "overlap": false)";
  EXPECT_EQ(key_at_fault(case_text(written, overlapping)), "verify");
  EXPECT_EQ(key_at_fault(case_text(verified, lone_writer)), "verify");
  good_case(case_text(written, lone_writer));
  good_case(case_text(read, overlapping));
  good_case(case_text(R"("runtime": 1, "clients": 2)", overlapping));
}

// proves measuring: runtime-collective-sync
TEST(Check, APassEndsWithASyncThatNoOtherRankWaitsFor) {
  const std::string two = R"("runtime": 1, "clients": 2)", pattern = R"("name": "strided")";
  EXPECT_EQ(key_at_fault(case_text(two, pattern, R"("name": "mpiio")")), "runtime");
  good_case(case_text(two + R"(, "sharing": "per-rank")", pattern, R"("name": "mpiio")"));
  good_case(case_text(two + R"(, "sync": "none")", pattern, R"("name": "mpiio")"));
  good_case(case_text(two + R"(, "operations": ["read"])", pattern, R"("name": "mpiio")"));
  good_case(case_text(two, pattern, R"("name": "mpiio", "access": "collective")"));
}

// proves measuring: runtime-cold
TEST(Check, ARuntimeReadsColdDataOnlyWithoutThePageCache) {
  const std::string cold = R"("runtime": 1, "cache": "cold")", pattern = R"("name": "strided", "transfer": 4096)";
  EXPECT_EQ(key_at_fault(case_text(cold, pattern)), "runtime");
  good_case(case_text(cold, pattern, R"("name": "posix", "direct": true)"));
  good_case(case_text(cold + R"(, "operations": ["write"])", pattern));
}

TEST(Check, IndependentRanksCannotSyncCollectively) {
  const std::string each = R"("clients": 2, "sync": "each")";
  const std::string pattern = R"("name": "strided")";
  EXPECT_EQ(key_at_fault(case_text(each, pattern, R"("name": "mpiio")")), "sync");
  good_case(case_text(each + R"(, "sharing": "per-rank")", pattern, R"("name": "mpiio")"));
  good_case(case_text(each, pattern, R"("name": "mpiio", "access": "collective")"));
  good_case(case_text(each, pattern));
}

TEST(Check, AShiftMovesEveryRank) {
  EXPECT_EQ(key_at_fault(case_text(R"("clients": 2, "readback": "shift", "shift": 2)")), "shift");
  good_case(case_text(R"("clients": 2, "readback": "shift", "shift": 3)"));
  good_case(case_text(R"("clients": 1, "readback": "shift")"));
}

TEST(Check, ThereAreAtMostAsManyFilesAsClients) {
  EXPECT_EQ(key_at_fault(case_text(R"("clients": 2, "sharing": 3)")), "sharing");
  good_case(case_text(R"("clients": 3, "sharing": 3)"));
}

TEST(Check, APatternIsCheckedForTheRanksOfEveryFile) {
  const std::string square = R"("name": "btio", "class": "S")";
  EXPECT_EQ(key_at_fault(case_text(R"("clients": 5, "sharing": 2)", square)), "clients");  // 3 and 2
  good_case(case_text(R"("clients": 8, "sharing": 2)", square));
  good_case(case_text(R"("clients": 5, "sharing": "per-rank")", square));
}

TEST(Check, APatternIsCheckedForTheRanksOfItsLargestFile) {
  const std::string few_slots = R"("name": "random", "transfer": 1048576, "size": 3145728)";
  EXPECT_EQ(key_at_fault(case_text(R"("clients": 4)", few_slots)), "size");
  good_case(case_text(R"("clients": 4, "sharing": 2)", few_slots));
  good_case(case_text(R"("clients": 4, "sharing": "per-rank")", few_slots));
  EXPECT_EQ(
      errors_of({case_text(R"("clients": 8, "sharing": "per-node")", few_slots)}, R"("ranks_per_node": 4, )").at(0).key,
      "size");
  EXPECT_TRUE(
      errors_of({case_text(R"("clients": 8, "sharing": "per-node")", few_slots)}, R"("ranks_per_node": 3, )").empty());
}

TEST(Check, EveryRefusalSaysWhatWouldBeRight) {
  for (const std::string& text :
       {case_text(R"("verify": "full")", R"("name": "strided")", R"("name": "null")"),
        case_text(R"("clients": 2, "sharing": 3)"), case_text("", R"("name": "segmented", "transfer": 8, "block": 4)"),
        case_text("", R"("name": "strided", "transfer": 2147483648)", R"("name": "mpiio")")})
    EXPECT_NE(errors_of({text}).at(0).remedy, "") << text;
}

std::string printed_check(const std::vector<std::string>& cases, const std::string& header = "") {
  std::vector<PlanError> errors;
  const Plan plan = read_plan(plan_text(cases, header), errors);
  std::ostringstream out;
  print_check(plan, errors, out);
  std::string text = out.str();
  std::erase_if(text, [](char letter) { return letter == ' ' || letter == '\n'; });
  return text;
}

TEST(PrintedCheck, SaysWhatACaseNeedsAndDoes) {
  // 3 ranks × 2 segments × 10 000 bytes by 4096: three requests for each block.
  const std::string text =
      printed_check({case_text(R"("clients": 3, "sharing": "per-rank")",
                               R"("name": "segmented", "transfer": 4096, "block": 10000, "segments": 2)")});
  EXPECT_EQ(text, R"({"format":"strider-check","version":1,"cases":[{"case":1,"files":3,"space_bytes":60000,)"
                  R"("largest_file_bytes":20000,"request_bytes":4096,"memory_bytes":4096,"own_client":false,"phases":[)"
                  R"({"operation":"write","bytes":60000,"requests":18,"ranks":3},)"
                  R"({"operation":"read","bytes":60000,"requests":18,"ranks":3}]}],"errors":[]})");
}

TEST(PrintedCheck, CountsTheRanksThatWork) {
  const std::string text = printed_check(
      {case_text(R"("clients": 4)", R"("name": "sequential", "transfer": 10, "size": 100, "overlap": false)")});
  EXPECT_NE(text.find(R"({"operation":"write","bytes":100,"requests":10,"ranks":1})"), std::string::npos) << text;
  EXPECT_NE(text.find(R"({"operation":"read","bytes":400,"requests":40,"ranks":4})"), std::string::npos) << text;
}

TEST(PrintedCheck, NullNeedsNoSpace) {
  EXPECT_NE(
      printed_check({case_text("", R"("name": "strided")", R"("name": "null")")}).find(R"("files":0,"space_bytes":0)"),
      std::string::npos);
}

TEST(PrintedCheck, UnevenFilesAreAddedUp) {
  const std::string text =
      printed_check({case_text(R"("clients": 5, "sharing": 2)", R"("name": "strided", "transfer": 10, "count": 1)")});
  EXPECT_NE(text.find(R"("files":2,"space_bytes":50,"largest_file_bytes":30)"), std::string::npos) << text;
}

TEST(PrintedCheck, ListsWhatIsWrong) {
  const std::string text = printed_check({case_text(R"("order": "x")")});
  EXPECT_NE(text.find(R"("errors":[{"case":1,"key":"order")"), std::string::npos) << text;
}

}  // namespace
}  // namespace strider
