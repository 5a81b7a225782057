#include "measure/page_cache.hpp"

#include <gtest/gtest.h>
#include <sys/vfs.h>

#include <fstream>
#include <string>

#include "foundation/error.hpp"
#include "foundation/folder.hpp"

namespace strider {
namespace {

constexpr std::uint64_t file_bytes = 3 * 4096 * 100 + 17;

class PageCacheTest : public testing::TestWithParam<PageCacheView> {
 protected:
  PageCacheTest() : path_(folder_.file("file")) { std::ofstream(path_) << std::string(file_bytes, 'x'); }
  bool in_memory() const {
    struct statfs status{};
    constexpr decltype(status.f_type) tmpfs = 0x01021994;
    return ::statfs(path_.c_str(), &status) == 0 && status.f_type == tmpfs;
  }

  Folder folder_;
  std::string path_;
};

// proves measuring: cold, cold-dropped
TEST_P(PageCacheTest, SeesWhatWasWrittenAndThatItIsDropped) {
  if (in_memory()) GTEST_SKIP() << "machine: the temporary folder is in memory, where nothing can be dropped";
  PageCache pages(path_);
  const auto written = pages.look(GetParam());
  if (!written) GTEST_SKIP() << "machine: the kernel does not tell";
  EXPECT_EQ(written->cached_bytes, file_bytes);
  EXPECT_EQ(written->file_bytes, file_bytes);
  pages.sync();
  pages.drop();
  EXPECT_EQ(pages.look(GetParam())->cached_bytes, 0);
  std::ifstream(path_).get();
  EXPECT_GT(pages.look(GetParam())->cached_bytes, 0);
}

INSTANTIATE_TEST_SUITE_P(Views, PageCacheTest, testing::Values(PageCacheView::cachestat, PageCacheView::mincore),
                         [](const auto& view) {
                           return view.param == PageCacheView::cachestat ? "cachestat" : "mincore";
                         });

TEST(PageCache, NamesTheFileThatItCannotOpen) {
  try {
    PageCache("/nonexistent/file");
    FAIL();
  } catch (const IoError& error) {
    EXPECT_EQ(error.details().file, "/nonexistent/file");
    EXPECT_EQ(error.details().error_number, ENOENT);
  }
}

}  // namespace
}  // namespace strider
