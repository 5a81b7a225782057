#include "listio/server/small_files.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>

namespace strider::listio {

Errno make_file_id(FileId& file) {
  do {
    if (::getrandom(&file, sizeof file, 0) != sizeof file) return errno;
  } while (file == 0);
  return 0;
}

std::string digits_of(FileId file) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(file));
  return text.data();
}

Descriptor make_folder(int folder, const char* name) {
  const bool made = ::mkdirat(folder, name, 0700) == 0;
  if ((!made && errno != EEXIST) || (made && ::fsync(folder) != 0))
    throw std::system_error(errno, std::generic_category(), name);
  Descriptor descriptor(::openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!descriptor) throw std::system_error(errno, std::generic_category(), name);
  return descriptor;
}

Errno write_file(int folder, const std::string& name, const std::string& text, std::uint32_t mode) {
  const Descriptor file(::openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return errno;
  if (::fchmod(file.get(), mode) != 0) return errno;
  const ssize_t written = ::write(file.get(), text.data(), text.size());
  if (written < 0) return errno;
  return written == static_cast<ssize_t>(text.size()) ? 0 : ENOSPC;
}

}  // namespace strider::listio
