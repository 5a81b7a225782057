#include "plan/data_set.hpp"

#include <gtest/gtest.h>

#include "foundation/error.hpp"
#include "plan/file_assignments.hpp"
#include "plan/plans.hpp"

namespace strider {
namespace {

/// A set of two files of 128 KiB, which two ranks wrote.
const std::string manifest = R"("id": "abc", "seed": 5, "generation": 3, "files": [[2, 131072]])";
std::string in_set(const std::string& more, const std::string& state = manifest) {
  return R"("dataset": "kept", "manifest": {)" + state + R"(}, "clients": 2, )" + more;
}
std::string case_in_set(const std::string& more, const std::string& state = manifest) {
  return case_text(in_set(more, state));
}
/// The message about a case with one mistake.
std::string complaint(const std::string& case_json) {
  const std::vector<PlanError> errors = errors_of({case_json});
  EXPECT_EQ(errors.size(), 1U) << case_json;
  if (errors.empty()) return "";
  EXPECT_EQ(errors[0].key, "dataset");
  return errors[0].message;
}

TEST(DataSetNames, NumberFilesAfterThePrefix) {
  DataSet set;
  set.name = "kept";
  EXPECT_EQ(set.file_name(0), "data.0");
  EXPECT_EQ(set.file_name(12), "data.12");
  set.prefix = "testFile.";
  set.digits = 8;
  EXPECT_EQ(set.file_name(12), "testFile.00000012");
  EXPECT_EQ(set.file_name(123456789), "testFile.123456789");
  set.suffix = ".3";
  EXPECT_EQ(set.file_name(12), "testFile.00000012.3");
  set.directories = true;
  EXPECT_EQ(set.file_name(12), "12/testFile.00000012.3") << "the directory has the number without zeros";
  set.digits = 0;
  EXPECT_EQ(set.file_name(0), "0/testFile..3");
}

TEST(DataSetNames, AreThoseOfTheFilesOfACase) {
  Case test;
  test.number = 7;
  EXPECT_EQ(file_name(test, 1), "case7.1");
  test.data_set.name = "kept";
  test.data_set.first_file = 4;
  EXPECT_EQ(file_name(test, 1), "data.5");
}

TEST(DataSetState, KnowsTheBytesOfEachFile) {
  DataSetState state;
  state.files = {{2, 100}, {3, 50}};
  EXPECT_EQ(state.file_count(), 5U);
  EXPECT_EQ(state.largest_file(), 100U);
  EXPECT_EQ(state.bytes_of(1), 100U);
  EXPECT_EQ(state.bytes_of(2), 50U);
  EXPECT_EQ(state.bytes_of(5), 0U);
}

TEST(DataSetOfACase, ComesFromThePlan) {
  const Case test = good_case(case_in_set(R"("operations": ["read"], "sharing": "per-rank")"));
  EXPECT_EQ(test.data_set.name, "kept");
  EXPECT_EQ(test.data_set.id, "abc");
  EXPECT_EQ(test.data_set.seed, 5U);
  EXPECT_EQ(test.data_set.state.generation, 3U);
  EXPECT_TRUE(test.data_set.state.dense());
}

TEST(DataSetOfACase, LeavesTheDataOfOtherCasesAsItWas) {
  const Case plain = good_case(case_text()), other = good_case(case_text(R"("dataset": "kept")"));
  EXPECT_EQ(plain.workload, other.workload);
}

TEST(DataSetOfACase, IsReadByAnyPatternThatFitsItsFiles) {
  good_case(case_in_set(R"("operations": ["read", "reread"])"));
  EXPECT_NE(complaint(case_in_set(R"("operations": ["read"], "sharing": "shared")",
                                  R"("generation": 1, "files": [[1, 131071]])"))
                .find("131072 bytes of data.0, which has 131071"),
            std::string::npos);
  EXPECT_NE(complaint(case_in_set(R"("operations": ["read"], "sharing": "per-rank")",
                                  R"("generation": 1, "files": [[1, 131072]])"))
                .find("2 files, the set 1"),
            std::string::npos);
}

TEST(DataSetOfACase, HasToExistUnlessTheCaseWritesIt) {
  good_case(case_in_set(R"("operations": ["write", "read"])", R"("seed": 5)"));
  EXPECT_NE(complaint(case_in_set(R"("operations": ["read"])", R"("seed": 5)")).find("does not exist"),
            std::string::npos);
  EXPECT_NE(complaint(case_in_set(R"("operations": ["write"])")).find("exists"), std::string::npos);
  good_case(case_in_set(R"("operations": ["read"])", R"("seed": 5, "made_before": true)"));
}

TEST(DataSetOfACase, IsRewrittenAsAWholeOnly) {
  const std::string one_file = R"("generation": 1, "files": [[1, 131072]])";
  good_case(case_in_set(R"("operations": ["rewrite"])", one_file));
  EXPECT_NE(complaint(case_in_set(R"("operations": ["rewrite"])", R"("generation": 1, "files": [[1, 131080]])"))
                .find("each byte"),
            std::string::npos);
  EXPECT_NE(complaint(case_in_set(R"("operations": ["rewrite"])")).find("each byte"), std::string::npos)
      << "a second file would keep its generation";
  EXPECT_NE(complaint(case_in_set(R"("operations": ["rewrite"], "deadline": 1.0)", one_file)).find("deadline"),
            std::string::npos);
  EXPECT_NE(complaint(case_in_set(R"("operations": ["rewrite"], "runtime": 1.0)", one_file)).find("runtime"),
            std::string::npos);
  EXPECT_NE(complaint(case_in_set(R"("operations": ["read-modify-write"])", one_file)).find("read-modify-write"),
            std::string::npos);
}

TEST(DataSetOfACase, ThatIsLooseIsRewrittenInPart) {
  const std::string longer = R"("generation": 1, "files": [[1, 131080]], "loose": true)";
  const std::string shorter = R"("generation": 1, "files": [[1, 8]], "loose": true)";
  for (const std::string& state : {longer, shorter}) {
    good_case(case_in_set(R"("operations": ["rewrite"])", state));
    good_case(case_in_set(R"("operations": ["rewrite"], "deadline": 1.0)", state));
    good_case(case_in_set(R"("operations": ["rewrite"], "runtime": 1.0)", state));
  }
  EXPECT_NE(complaint(case_in_set(R"("operations": ["read"])", shorter)).find("accesses"), std::string::npos);
  EXPECT_NE(complaint(case_in_set(R"("operations": ["read-modify-write"])", longer)).find("read-modify-write"),
            std::string::npos);
}

TEST(DataSetOfACase, ThatIsLooseIsReadUpToItsRequests) {
  const std::string shorter = R"("generation": 1, "files": [[1, 8]], "loose": true, "requests": 1)";
  EXPECT_EQ(good_case(case_in_set(R"("operations": ["read"])", shorter)).data_set.requests, 1U);
}

TEST(DataSetOfACase, WithBytesThatWereNeverWrittenIsReadAsItWasWritten) {
  const std::string same = R"("operations": ["read"])";
  const std::uint64_t geometry = good_case(case_in_set(same)).geometry;
  const auto state = [&](std::uint64_t writer) {
    return R"("generation": 1, "files": [[1, 100000]], "parts": [[3, 16384], [2, 100000]], "geometry": )" +
           std::to_string(writer);
  };
  good_case(case_in_set(same, state(geometry)));
  EXPECT_NE(complaint(case_in_set(same, state(geometry + 1))).find("never written"), std::string::npos);
}

TEST(DataSetOfACase, ThatAKilledWriterLeftIsFirstWrittenAgain) {
  const std::string left = R"("generation": 1, "files": [[1, 131072]], "incomplete": true)";
  EXPECT_NE(complaint(case_in_set(R"("operations": ["read"])", left)).find("did not end"), std::string::npos);
  good_case(case_in_set(R"("operations": ["rewrite", "read"])", left));
}

TEST(DataSetOfACase, NeedsAnInterfaceWithFilesInItsDirectory) {
  const auto with = [](const std::string& interface) {
    return case_text(in_set(R"("operations": ["read"])"), R"("name": "segmented", "transfer": 4096, "block": 65536)",
                     interface);
  };
  EXPECT_NE(complaint(with(R"("name": "null")")).find("stores no data"), std::string::npos);
  EXPECT_NE(complaint(with(R"("name": "mpiio", "prefix": "listio:")")).find("servers"), std::string::npos);
  good_case(with(R"("name": "mpiio")"));
}

TEST(Manifest, IsRefusedWithoutNumbersAndNames) {
  const auto key_of = [](const std::string& state) {
    return key_at_fault(case_in_set(R"("operations": ["read"])", state));
  };
  EXPECT_EQ(key_of(R"("generation": -1)"), "manifest");
  EXPECT_EQ(key_of(R"("generation": "1")"), "manifest");
  EXPECT_EQ(key_of(R"("prefix": "../other/data.")"), "manifest");
  EXPECT_EQ(key_of(R"("files": [[1]])"), "manifest");
  EXPECT_EQ(key_of(R"("files": [[100000001, 1]])"), "manifest");
  EXPECT_EQ(key_of(R"("digits": 21)"), "manifest");
  EXPECT_EQ(key_of(R"("digits": 0, "prefix": "")"), "manifest");
}

/// What is wrong with the packet of a case that reads, or else whatever `more` says.
std::string packet_complaint(const std::string& packet, const std::string& more = R"("operations": ["read"])",
                             const std::string& pattern = R"("name": "segmented", "transfer": 4096, "block": 65536)") {
  const std::vector<PlanError> errors =
      errors_of({case_text(in_set(more, manifest + R"(, "packet": {)" + packet + "}"), pattern)});
  if (errors.size() != 1) return std::to_string(errors.size()) + " errors";
  EXPECT_EQ(errors[0].key, "manifest");
  EXPECT_NE(errors[0].remedy, "");
  return errors[0].message;
}

Packet packet_of_file(std::uint64_t file, const std::string& packet, const std::string& more) {
  const Case test = good_case(case_text(in_set(more, manifest + R"(, "packet": {)" + packet + "}")));
  return packet_of(test, file).value_or(Packet{.type = Packet::Type::random});
}

TEST(PacketOfACase, HasTheGeometryOfThePattern) {
  const std::string offset = R"("type": "offset", "signature": 4294967295)";
  const Packet expected{
      .type = Packet::Type::offset, .signature = 4294967295, .transfer_bytes = 4096, .block_bytes = 65536, .tasks = 2};
  EXPECT_EQ(packet_of_file(0, offset, R"("operations": ["read"])"), expected);
  const Packet own{.type = Packet::Type::offset,
                   .signature = 4294967295,
                   .transfer_bytes = 4096,
                   .block_bytes = 65536,
                   .tasks = 1,
                   .first_rank = 1};
  EXPECT_EQ(packet_of_file(1, offset, R"("operations": ["read"], "sharing": "per-rank")"), own);
}

TEST(PacketOfACase, HasTheGeometryThatThePlanGives) {
  const Packet expected{.type = Packet::Type::random, .transfer_bytes = 16, .block_bytes = 48, .tasks = 7};
  const std::string packet = R"("type": "random", "signature": 0, "transfer": 16, "block": 48, "tasks": 7)";
  EXPECT_EQ(packet_of_file(0, packet, R"("operations": ["read"])"), expected);
  EXPECT_EQ(packet_complaint(packet, R"("operations": ["read"])",
                             R"("name": "sequential", "size": 131072, "transfer": 4096)"),
            "0 errors");
}

TEST(PacketOfACase, IsDataThatIorCanWrite) {
  const std::string packet = R"("type": "timestamp", "signature": 1)", reads = R"("operations": ["read"])";
  EXPECT_EQ(packet_complaint(packet), "0 errors");
  const std::string sequential = R"("name": "sequential", "size": 131072, "transfer": 4096)";
  EXPECT_NE(packet_complaint(packet, reads, sequential).find("does not say how IOR wrote"), std::string::npos);
  EXPECT_NE(packet_complaint(packet, R"("operations": ["read"], "sharing": 2)").find("sharing"), std::string::npos);
  EXPECT_NE(packet_complaint(packet + R"(, "transfer": 8, "block": 8, "tasks": 1)", R"("operations": ["rewrite"])",
                             sequential)
                .find("IOR cannot write"),
            std::string::npos);
  EXPECT_NE(packet_complaint(packet, reads, R"("name": "segmented", "transfer": 1000, "block": 1500)")
                .find("transfers of 1000 bytes in blocks of 1500"),
            std::string::npos);
  EXPECT_NE(packet_complaint(packet, reads, R"("name": "segmented", "transfer": 12, "block": 24)").find("12 bytes"),
            std::string::npos);
}

TEST(PacketOfACase, NeedsADataSet) {
  EXPECT_EQ(key_at_fault(case_text(R"("manifest": {"packet": {"type": "offset", "signature": 1}})")), "manifest");
}

TEST(PacketOfACase, IsRefusedWithoutTypeAndSignature) {
  EXPECT_NE(packet_complaint(R"("signature": 1)").find("packet.type"), std::string::npos);
  EXPECT_NE(packet_complaint(R"("type": "zero", "signature": 1)").find("packet.type"), std::string::npos);
  EXPECT_NE(packet_complaint(R"("type": "offset")").find("packet.signature"), std::string::npos);
  EXPECT_NE(packet_complaint(R"("type": "offset", "signature": 4294967296)").find("packet.signature"),
            std::string::npos);
  EXPECT_NE(packet_complaint(R"("type": "offset", "signature": 1, "transfer": 0)").find("packet.transfer"),
            std::string::npos);
  EXPECT_NE(packet_complaint(R"("type": "offset", "signature": 1, "tasks": 20000000)").find("packet.tasks"),
            std::string::npos);
  EXPECT_NE(packet_complaint(R"("type": "offset", "signature": 1, "task": 2)").find("no key \"task\""),
            std::string::npos);
}

TEST(WritersOfAllBytes, AreThoseWhoseRequestsFillTheFile) {
  const auto writes_all = [](const std::string& pattern) {
    const Case test = good_case(case_text(R"("clients": 2)", pattern));
    return writes_every_byte(test, *make_pattern_of(test), FileAssignments(test.sharing, 2, {}));
  };
  EXPECT_TRUE(writes_all(R"("name": "segmented", "transfer": 4096, "block": 65536)"));
  EXPECT_TRUE(writes_all(R"("name": "sequential", "size": 5000, "transfer": 4096)")) << "rank 0 alone";
  EXPECT_FALSE(writes_all(R"("name": "random", "size": 65536, "transfer": 4096, "count": 3)"));
}

TEST(WholeFiles, AreReadFromEndToEndByAnyNumberOfRanks) {
  const Case test = good_case(case_text(R"("dataset": "kept", "clients": 3, "operations": ["read"], "manifest": {)"
                                        R"("generation": 1, "whole": true, "files": [[1, 10000000]]})",
                                        R"("name": "sequential", "size": 10000000)"));
  const auto pattern = make_pattern_of(test);
  std::uint64_t bytes = 0;
  for (std::uint32_t rank = 0; rank < 3; ++rank) bytes += pattern->bytes({rank, 3}, Direction::read);
  EXPECT_EQ(bytes, 10000000U);
}

}  // namespace
}  // namespace strider
