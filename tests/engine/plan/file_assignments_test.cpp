#include "plan/file_assignments.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "plan/operation.hpp"

namespace strider {
namespace {

/// Ranks of each file in the order of their places, and that every assignment says what its file says.
std::vector<std::vector<std::uint32_t>> ranks_by_file(const FileAssignments& assignments, std::uint32_t clients) {
  std::vector<std::vector<std::uint32_t>> files(assignments.files());
  for (std::uint32_t rank = 0; rank < clients; ++rank) {
    const FileAssignment assignment = assignments.assignment(rank);
    EXPECT_LT(assignment.file, assignments.files());
    EXPECT_EQ(assignment.place.ranks, assignments.ranks_of(assignment.file));
    EXPECT_EQ(assignment.place.rank, files.at(assignment.file).size()) << "places are in the order of ranks";
    files.at(assignment.file).push_back(rank);
  }
  for (std::uint64_t file = 0; file < files.size(); ++file) EXPECT_EQ(files[file].size(), assignments.ranks_of(file));
  return files;
}

using RanksByFile = std::vector<std::vector<std::uint32_t>>;

TEST(FileAssignments, SharedPutsAllRanksOnOneFile) {
  EXPECT_EQ(ranks_by_file(FileAssignments({SharingKind::shared, 1}, 3, {}), 3), (RanksByFile{{0, 1, 2}}));
}

TEST(FileAssignments, PerRankGivesEachItsOwnFile) {
  EXPECT_EQ(ranks_by_file(FileAssignments({SharingKind::per_rank, 1}, 3, {}), 3), (RanksByFile{{0}, {1}, {2}}));
}

TEST(FileAssignments, PerNodeFollowsTheNodesHoweverUneven) {
  EXPECT_EQ(ranks_by_file(FileAssignments({SharingKind::per_node, 1}, 5, {0, 0, 0, 1, 1}), 5),
            (RanksByFile{{0, 1, 2}, {3, 4}}));
  EXPECT_EQ(ranks_by_file(FileAssignments({SharingKind::per_node, 1}, 5, {0, 1, 2, 0, 1}), 5),
            (RanksByFile{{0, 3}, {1, 4}, {2}}));
  EXPECT_EQ(ranks_by_file(FileAssignments({SharingKind::per_node, 1}, 4, {0, 0, 0, 0}), 4),
            (RanksByFile{{0, 1, 2, 3}}));
}

TEST(FileAssignments, SeveralFilesAreDealtToConsecutiveRanks) {
  EXPECT_EQ(ranks_by_file(FileAssignments({SharingKind::files, 2}, 5, {}), 5), (RanksByFile{{0, 1, 2}, {3, 4}}));
  EXPECT_EQ(ranks_by_file(FileAssignments({SharingKind::files, 3}, 6, {}), 6), (RanksByFile{{0, 1}, {2, 3}, {4, 5}}));
}

TEST(FileAssignments, GroupsOfSeveralFilesDifferByOneRankAtMost) {
  for (std::uint32_t clients = 1; clients <= 70; ++clients)
    for (std::uint32_t files = 1; files <= clients; ++files) {
      const RanksByFile groups = ranks_by_file(FileAssignments({SharingKind::files, files}, clients, {}), clients);
      ASSERT_EQ(groups.size(), files);
      std::uint32_t next = 0;
      for (const auto& group : groups) {
        ASSERT_GE(group.size(), clients / files) << clients << " clients on " << files << " files";
        ASSERT_LE(group.size(), clients / files + 1) << clients << " clients on " << files << " files";
        for (const std::uint32_t rank : group) ASSERT_EQ(rank, next++) << "groups are consecutive ranks";
      }
      ASSERT_EQ(next, clients);
    }
}

TEST(FileAssignments, TheFirstFileHasTheMostRanks) {  // so that checking a case's pattern for it checks it for all
  for (std::uint32_t clients = 1; clients <= 70; ++clients)
    for (std::uint32_t files = 1; files <= clients; ++files) {
      const FileAssignments assignments({SharingKind::files, files}, clients, {});
      for (std::uint64_t file = 1; file < files; ++file) ASSERT_LE(assignments.ranks_of(file), assignments.ranks_of(0));
    }
}

TEST(ConsecutiveNodes, FillOneNodeAfterTheOther) {
  EXPECT_EQ(consecutive_nodes(5, 2), (NumberRuns{0, 0, 1, 1, 2}));
  EXPECT_EQ(consecutive_nodes(3, 0), (NumberRuns{0, 0, 0}));
}

std::vector<std::uint32_t> readers(Readback readback, std::uint32_t clients, std::uint32_t shift,
                                   std::uint64_t repetition) {
  Case test;
  test.clients = clients;
  test.readback = readback;
  test.shift = shift;
  std::vector<std::uint32_t> result;
  for (std::uint32_t rank = 0; rank < clients; ++rank) result.push_back(readback_rank(test, rank, repetition));
  return result;
}

TEST(Readback, EachRanksDataIsReadByOneRank) {
  for (const Readback readback : {Readback::same, Readback::shift, Readback::growing_shift, Readback::shuffle})
    for (std::uint32_t clients = 1; clients <= 40; ++clients)
      for (std::uint32_t shift = 0; shift <= 45; shift += 5) {
        std::vector<std::uint32_t> sorted = readers(readback, clients, shift, shift), all(clients);
        std::sort(sorted.begin(), sorted.end());
        std::iota(all.begin(), all.end(), 0);
        ASSERT_EQ(sorted, all);
      }
}

TEST(Readback, SameReadsItsOwnAndShiftThatOfTheRankFurtherOn) {
  EXPECT_EQ(readers(Readback::same, 3, 1, 0), (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(readers(Readback::shift, 4, 1, 0), (std::vector<std::uint32_t>{1, 2, 3, 0}));
  EXPECT_EQ(readers(Readback::shift, 4, 6, 0), (std::vector<std::uint32_t>{2, 3, 0, 1}));
}

TEST(Readback, GrowsByStepsWhereTheShiftGrows) {
  Case test;
  test.clients = 5;
  test.shift = 2;
  const auto read_from_3 = [&](Readback readback, std::uint32_t steps) {
    test.readback = readback;
    return readback_rank(test, 3, 0, steps);
  };
  for (const std::uint32_t steps : {1, 2, 3}) {
    EXPECT_EQ(read_from_3(Readback::growing_shift, steps), (3 + 2 * steps) % 5);
    EXPECT_EQ(read_from_3(Readback::shift, steps), 0U);
  }
}

/// As in mdtest: stat_name, read_name and rm_name.
TEST(Readback, QueriesReadsAndRemovalsAreFurtherAndFurtherOn) {
  for (const Operation query :
       {Operation::stat, Operation::chmod, Operation::stat_directory, Operation::rename_directory})
    EXPECT_EQ(steps_of_shift(entry_of(query)), 1U) << name_of(query);
  for (const Operation opening :
       {Operation::small_read, Operation::open_close, Operation::open, Operation::small_write})
    EXPECT_EQ(steps_of_shift(entry_of(opening)), 2U) << name_of(opening);
  for (const Operation removal : {Operation::unlink, Operation::rmdir})
    EXPECT_EQ(steps_of_shift(entry_of(removal)), 3U) << name_of(removal);
}

TEST(Readback, ShuffleLetsNoRankReadItsOwn) {
  for (std::uint32_t clients = 2; clients <= 40; ++clients)
    for (std::uint64_t repetition = 0; repetition < 20; ++repetition) {
      const std::vector<std::uint32_t> writers = readers(Readback::shuffle, clients, 1, repetition);
      for (std::uint32_t rank = 0; rank < clients; ++rank) ASSERT_NE(writers[rank], rank);
    }
}

TEST(Readback, ShuffleDiffersBetweenRepetitionsAndIsRepeatable) {
  EXPECT_EQ(readers(Readback::shuffle, 30, 1, 2), readers(Readback::shuffle, 30, 1, 2));
  EXPECT_NE(readers(Readback::shuffle, 30, 1, 2), readers(Readback::shuffle, 30, 1, 3));
}

TEST(FileNames, AreDifferentForEachCaseAndFile) {
  std::set<std::string> names;
  for (std::uint64_t number = 1; number <= 30; ++number)
    for (std::uint64_t file = 0; file < 30; ++file) {
      Case test;
      test.number = number;
      names.insert(file_name(test, file));
    }
  EXPECT_EQ(names.size(), 900U);
}

}  // namespace
}  // namespace strider
