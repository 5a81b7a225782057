#include <gtest/gtest.h>

#include <sstream>

#include "foundation/error.hpp"
#include "plan/plans.hpp"

namespace strider {
namespace {

std::string extents(const std::string& case_json, const ExtentsQuery& query, const std::string& header = "") {
  std::ostringstream out;
  print_extents(good_plan({case_json}, header), query, out);
  return out.str();
}
const std::string strided = R"("name": "strided", "transfer": 10, "count": 3)";
const std::string columns = "request,extent,file_offset,memory_offset,length\n";

TEST(Extents, FollowTheFormula) {
  EXPECT_EQ(
      extents(case_text(R"("clients": 4)", strided), {.rank = 2}),
      "# case 1 rank 2 operation write file case1.0 size 120\n" + columns + "0,0,20,0,10\n1,0,60,0,10\n2,0,100,0,10\n");
}

TEST(Extents, AreInTheOrderOfTheVisits) {
  EXPECT_EQ(
      extents(case_text(R"("clients": 4, "order": "backward")", strided), {.rank = 0}),
      "# case 1 rank 0 operation write file case1.0 size 120\n" + columns + "2,0,80,0,10\n1,0,40,0,10\n0,0,0,0,10\n");
}

TEST(Extents, StopAtTheLimit) {
  EXPECT_EQ(extents(case_text(R"("clients": 4)", strided), {.rank = 1, .limit = 1}),
            "# case 1 rank 1 operation write file case1.0 size 120\n" + columns + "0,0,10,0,10\n");
}

TEST(Extents, OfAReaderAreThoseOfWhomItReads) {
  const std::string shifted =
      case_text(R"("clients": 4, "sharing": "per-rank", "readback": "shift", "shift": 3)", strided);
  EXPECT_EQ(extents(shifted, {.rank = 2, .operation = "read", .limit = 1}),
            "# case 1 rank 2 operation read file case1.1 size 30\n" + columns + "0,0,0,0,10\n");
  EXPECT_EQ(extents(shifted, {.rank = 2, .operation = "write", .limit = 1}),
            "# case 1 rank 2 operation write file case1.2 size 30\n" + columns + "0,0,0,0,10\n");
}

TEST(Extents, NameTheFileOfTheNode) {
  EXPECT_EQ(extents(case_text(R"("clients": 5, "sharing": "per-node")", strided), {.rank = 4, .limit = 1},
                    R"("ranks_per_node": 2, )"),
            "# case 1 rank 4 operation write file case1.2 size 30\n" + columns + "0,0,0,0,10\n");
}

TEST(Extents, OfARankWithoutWorkAreNone) {
  EXPECT_EQ(extents(case_text(R"("clients": 2)", R"("name": "sequential", "size": 100, "transfer": 10)"), {.rank = 1}),
            "# case 1 rank 1 operation write file case1.0 size 100\n" + columns);
}

TEST(Extents, RefuseWhatThePlanDoesNotHave) {
  EXPECT_THROW(extents(case_text(), {.case_number = 2}), InputError);
  EXPECT_THROW(extents(case_text(), {.rank = 1}), InputError);
  try {
    extents(case_text(), {.operation = "reread"});
    ADD_FAILURE() << "an operation that the case does not have";
  } catch (const InputError& error) {
    EXPECT_EQ(error.remedy(), "it has write, read");
  }
}

}  // namespace
}  // namespace strider
