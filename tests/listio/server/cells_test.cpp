#include "listio/server/cells.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <limits>

namespace strider::listio {
namespace {

TEST(CellsTest, CountFromZeroAndTellWhatWasBefore) {
  Cells cells({});
  CellState made, state;
  ASSERT_EQ(cells.make(1, made), 0);
  EXPECT_NE(made.cell, 0U);
  EXPECT_EQ(made.value, 0);
  EXPECT_EQ(cells.add(made.cell, 5, state), 0);
  EXPECT_EQ(state.value, 0);
  EXPECT_EQ(cells.add(made.cell, -7, state), 0);
  EXPECT_EQ(state.value, 5);
  EXPECT_EQ(cells.set(made.cell, 100, state), 0);
  EXPECT_EQ(state.value, -2);
  EXPECT_EQ(cells.free(made.cell, state), 0);
  EXPECT_EQ(state.value, 100);
  EXPECT_EQ(cells.add(made.cell, 1, state), ENOENT);
  EXPECT_EQ(cells.set(made.cell, 1, state), ENOENT);
  EXPECT_EQ(cells.free(made.cell, state), ENOENT);
}

TEST(CellsTest, ASumThatIsNoNumberChangesNothing) {
  Cells cells({});
  CellState cell;
  cells.make(1, cell);
  cells.set(cell.cell, std::numeric_limits<std::int64_t>::max() - 1, cell);
  EXPECT_EQ(cells.add(cell.cell, 2, cell), EOVERFLOW);
  EXPECT_EQ(cells.add(cell.cell, 1, cell), 0);
  EXPECT_EQ(cell.value, std::numeric_limits<std::int64_t>::max() - 1);
}

TEST(CellsTest, EndWithTheSessionThatMadeThem) {
  Cells cells({});
  CellState first, second;
  cells.make(1, first);
  cells.make(2, second);
  cells.end(1);
  CellState state;
  EXPECT_EQ(cells.add(first.cell, 1, state), ENOENT);
  EXPECT_EQ(cells.add(second.cell, 1, state), 0);
  cells.end(2);
  EXPECT_EQ(cells.size(), 0U);
}

TEST(CellsTest, AreBoundedForEachSessionAndForAll) {
  Cells cells({.most = 3, .most_of_session = 2});
  CellState first, state;
  EXPECT_EQ(cells.make(1, first), 0);
  EXPECT_EQ(cells.make(1, state), 0);
  EXPECT_EQ(cells.make(1, state), ENOSPC) << "of one session";
  EXPECT_EQ(cells.make(2, state), 0);
  EXPECT_EQ(cells.make(3, state), ENOSPC) << "of all";
  EXPECT_EQ(cells.free(first.cell, state), 0);
  EXPECT_EQ(cells.make(1, state), 0);
}

}  // namespace
}  // namespace strider::listio
