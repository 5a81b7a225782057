#include "listio/server/small_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <system_error>

namespace strider::listio {

Errno make_file_id(FileId& file) {
  do {
    if (::getrandom(&file, sizeof file, 0) != sizeof file) return errno;
  } while (file == 0);
  return 0;
}

Descriptor make_folder(int folder, const char* name) {
  const bool made = ::mkdirat(folder, name, 0700) == 0;
  if ((!made && errno != EEXIST) || (made && ::fsync(folder) != 0))
    throw std::system_error(errno, std::generic_category(), name);
  Descriptor descriptor(::openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!descriptor) throw std::system_error(errno, std::generic_category(), name);
  return descriptor;
}

Errno open_below(int folder, const std::string& path, int flags, Descriptor& descriptor) {
  constexpr int all = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  descriptor = Descriptor(::openat(folder, ".", all | O_DIRECTORY));
  for (std::size_t begin = 0; descriptor && begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const int more = end < path.size() ? O_DIRECTORY : flags;
    // Step by step, so that a symbolic link in between is not followed either.
    descriptor = Descriptor(::openat(descriptor.get(), path.substr(begin, end - begin).c_str(), all | more));
    begin = end + 1;
  }
  return descriptor ? 0 : errno;
}

Errno each_name(Descriptor directory, const std::function<void(std::string_view)>& take) {
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(directory.get()), ::closedir);
  if (!stream) return errno;
  (void)directory.release();  // the stream closes it
  const auto next = [&] {
    errno = 0;  // Only errno distinguishes an error from the end.
    return ::readdir(stream.get());
  };
  while (const dirent* const entry = next()) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") take(name);
  }
  return errno;
}

Errno list_names(int folder, std::vector<std::string>& names) {
  Descriptor directory;
  if (const Errno error = open_below(folder, "", 0, directory); error != 0) return error;
  return each_name(std::move(directory), [&](std::string_view name) { names.emplace_back(name); });
}

Errno write_file(int folder, const std::string& name, const std::string& text, std::uint32_t mode) {
  const Descriptor file(::openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return errno;
  if (::fchmod(file.get(), mode) != 0) return errno;
  const ssize_t written = ::write(file.get(), text.data(), text.size());
  if (written < 0) return errno;
  return written == static_cast<ssize_t>(text.size()) ? 0 : ENOSPC;
}

bool take_stable_mark(int folder, const char* name) {
  const bool was_there = ::unlinkat(folder, name, 0) == 0;
  if ((was_there && ::fsync(folder) != 0) || (!was_there && errno != ENOENT))
    throw std::system_error(errno, std::generic_category(), name);
  return was_there;
}

void leave_stable_mark(int folder, const char* name) {
  if (write_file(folder, name, "", 0600) == 0) (void)::fsync(folder);
}

}  // namespace strider::listio
