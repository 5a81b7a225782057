#include "core/regular_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace strider {
namespace {

std::string irregularity_of(const struct stat& found, std::uint64_t most_bytes) {
  if (S_ISDIR(found.st_mode)) return "is a directory";
  if (S_ISFIFO(found.st_mode)) return "is a FIFO";
  if (S_ISSOCK(found.st_mode)) return "is a socket";
  if (!S_ISREG(found.st_mode)) return "is a device";
  if (static_cast<std::uint64_t>(found.st_size) <= most_bytes) return "";
  return "has " + std::to_string(found.st_size) + " bytes, and " + std::to_string(most_bytes) + " are the most";
}

class OpenFile {
 public:
  explicit OpenFile(int number) : number_(number) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (number_ >= 0) ::close(number_);
  }
  int get() const { return number_; }

 private:
  int number_;
};

[[noreturn]] void fail() { throw std::runtime_error("cannot be read: " + std::generic_category().message(errno)); }

}  // namespace

std::string irregularity_of(const std::string& path, std::uint64_t most_bytes) {
  struct stat found{};
  return ::stat(path.c_str(), &found) == 0 ? irregularity_of(found, most_bytes) : "";
}

std::string read_regular(const std::string& path, std::uint64_t most_bytes) {
  // Opening a device may do something, so that what the path is comes first; it may change before it is opened.
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) fail();
  const auto require = [&] {
    const std::string problem = irregularity_of(found, most_bytes);
    if (!problem.empty()) throw std::runtime_error(problem);
  };
  require();
  const OpenFile file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (file.get() < 0 || ::fstat(file.get(), &found) != 0) fail();
  require();
  // No more than it had when it was opened: what the kernel invents has no size and may have no end.
  std::string text(static_cast<std::size_t>(found.st_size), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::read(file.get(), text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail();
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  text.resize(done);
  return text;
}

}  // namespace strider
