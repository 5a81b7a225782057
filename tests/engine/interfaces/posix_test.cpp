#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "foundation/folder.hpp"
#include "interfaces/interface.hpp"

namespace strider {
namespace {

std::unique_ptr<Interface> posix(std::initializer_list<std::string> flags = {}) {
  Settings settings;
  for (const char* name : {"direct", "dsync", "preallocate"}) settings.set(name, false);
  for (const std::string& flag : flags) settings.set(flag, true);
  settings.set("method", std::string("multiple"));
  settings.set("sieve_buffer", std::uint64_t{1 << 20});
  return find_interface("posix")->make(settings);
}

TEST(Posix, DirectIoAsksForAlignment) {
  EXPECT_EQ(posix()->alignment(), 1U);
  EXPECT_EQ(posix({"dsync", "preallocate"})->alignment(), 1U);
  EXPECT_EQ(posix({"direct"})->alignment(), 512U);
}

TEST(Posix, PreallocatesTheWholeFileByItsFirstRank) {
  const Folder folder;
  const auto interface = posix({"preallocate"});
  const auto size_after = [&](std::uint32_t rank, const std::string& name) {
    interface->open({folder.file(name), Access::write, Creation::create, 1 << 20, {rank, 2}})->close();
    struct stat status{};
    EXPECT_EQ(::stat(folder.file(name).c_str(), &status), 0);
    return status.st_size;
  };
  try {
    EXPECT_EQ(size_after(0, "first"), 1 << 20);
  } catch (const IoError& error) {
    GTEST_SKIP() << "fallocate: " << error.what();
  }
  EXPECT_EQ(size_after(1, "second"), 0);
}

TEST(Posix, MakesFilesForItsUserAlone) {
  const Folder folder;
  posix()->open({folder.file("file"), Access::write, Creation::create})->close();
  struct stat status{};
  ASSERT_EQ(::stat(folder.file("file").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U & ~0U);
}

/// Files may not grow beyond a size while it lives.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;
  ~SmallFiles() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

// proves measuring: latency, latency-covers
TEST(Posix, ContinuesAShortWriteUntilTheSystemSaysWhy) {
  const Folder folder;
  const SmallFiles limit(10'000);
  const auto file = posix()->open({folder.file("file"), Access::write, Creation::create});
  const std::vector<std::byte> memory(8192);
  const Extent extent{4096, 0, 8192};  // the first 5904 bytes fit: the system writes those and then refuses
  try {
    file->write({{&extent, 1}, const_cast<std::byte*>(memory.data())});
    FAIL() << "the write was not refused";
  } catch (const IoError& error) {
    EXPECT_EQ(error.details().call, "pwrite");
    EXPECT_EQ(error.details().error_number, EFBIG);
    EXPECT_EQ(error.details().offset, 10'000U);
    EXPECT_EQ(error.details().length, 2288U);
    EXPECT_NE(error.remedy(), "");
  }
}

TEST(Posix, ReportsWhatCloseReports) {
  const Folder folder;
  const auto file = posix()->open({folder.file("file"), Access::write, Creation::create});
  int newest = ::open("/dev/null", O_RDONLY);
  ::close(newest);
  ::close(newest - 1);  // the file's own descriptor, the last one opened before
  try {
    file->close();
    FAIL() << "close was silent";
  } catch (const IoError& error) {
    EXPECT_EQ(error.details().call, "close");
    EXPECT_EQ(error.details().file, folder.file("file"));
  }
}

}  // namespace
}  // namespace strider
