#include "foundation/error.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace strider {
namespace {

TEST(IoError, TakesItsTextFromTheSystem) {
  const IoError error({"pwrite", "/target/file", 4096, 512, ENOSPC});
  EXPECT_STREQ(error.what(), "No space left on device");
  EXPECT_EQ(error.details().call, "pwrite");
  EXPECT_EQ(error.details().file, "/target/file");
  EXPECT_EQ(error.details().offset, 4096U);
  EXPECT_EQ(error.details().length, 512U);
}

TEST(IoError, KeepsALibrarysOwnText) {
  const IoError error({"MPI_File_open", "file", 0, 0, 0}, "File does not exist");
  EXPECT_STREQ(error.what(), "File does not exist");
}

TEST(IoError, HasARemedyForWhatUsersCanCure) {
  for (const int number :
       {ENOSPC, EDQUOT, EACCES, EPERM, EINVAL, EIO, ESTALE, ENOENT, EOPNOTSUPP, EFBIG, EMFILE, ENFILE})
    EXPECT_NE(IoError({"call", "file", 0, 0, number}).remedy(), "") << number;
  EXPECT_EQ(IoError({"call", "file", 0, 0, EBADF}).remedy(), "");
}

}  // namespace
}  // namespace strider
