#include "foundation/regular_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "foundation/descriptor.hpp"
#include "foundation/whole_transfer.hpp"

namespace strider {
namespace {

std::string irregularity_of(const struct stat& found, std::uint64_t most_bytes) {
  if (S_ISDIR(found.st_mode)) return "is a directory";
  if (S_ISFIFO(found.st_mode)) return "is a FIFO";
  if (S_ISSOCK(found.st_mode)) return "is a socket";
  if (!S_ISREG(found.st_mode)) return "is a device";
  if (static_cast<std::uint64_t>(found.st_size) <= most_bytes) return "";
  return "has " + std::to_string(found.st_size) + " bytes, but at most " + std::to_string(most_bytes) + " are allowed";
}

[[noreturn]] void fail(int error_number) {
  throw std::runtime_error("cannot be read: " + std::generic_category().message(error_number));
}

}  // namespace

std::string irregularity_of(const std::string& path, std::uint64_t most_bytes) {
  struct stat found{};
  return ::stat(path.c_str(), &found) == 0 ? irregularity_of(found, most_bytes) : "";
}

std::string read_regular(const std::string& path, std::uint64_t most_bytes) {
  // Opening a device may do something, so that what the path is comes first; it may change before it is opened.
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) fail(errno);
  const auto require = [&] {
    const std::string problem = irregularity_of(found, most_bytes);
    if (!problem.empty()) throw std::runtime_error(problem);
  };
  require();
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file || ::fstat(file.get(), &found) != 0) fail(errno);
  require();
  // No more than it had when it was opened: what the kernel invents has no size and may have no end.
  std::string text;
  const Transferred moved = read_to_end(file.get(), text, static_cast<std::uint64_t>(found.st_size));
  if (moved.error_number != 0) fail(moved.error_number);
  return text;
}

}  // namespace strider
