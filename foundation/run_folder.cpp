#include "foundation/run_folder.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "foundation/error.hpp"
#include "foundation/json_text.hpp"
#include "foundation/whole_transfer.hpp"

namespace strider {
namespace {

constexpr const char* marker_file = ".strider";
constexpr const char* data_set_file = ".strider-data";
constexpr std::size_t longest_marker = 4096;

constexpr const char* find_out = "Strider changed nothing there; find out who changed the target during the run";

[[noreturn]] void refuse(const std::string& file, int error, const std::string& reason,
                         const std::string& remedy = find_out) {
  throw IoError({"open", file, 0, 0, error}, "outside of the folder of this run: " + reason, remedy);
}

/// What an entry is instead of a file of its own; empty where it is one.
std::string foreign_kind(const struct stat& found) {
  if (S_ISLNK(found.st_mode)) return "a symbolic link has replaced a file of this run";
  if (!S_ISREG(found.st_mode)) return "something that is not a regular file has replaced a file of this run";
  if (found.st_nlink > 1)
    return "the file has " + std::to_string(found.st_nlink) + " names (hard links), and all of them would be written";
  return "";
}

}  // namespace

RunFolder::RunFolder(std::string path, std::string run, Marker marker, FolderIdentity identity)
    : path_(std::move(path)), run_(std::move(run)), marker_(marker), identity_(std::move(identity)) {}

bool RunFolder::kernel_keeps_beneath() {
  static const bool known = [] {
    open_how how{};
    how.flags = O_PATH | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH;
    const Descriptor opened(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, ".", &how, sizeof how)));
    // Containers of some age answer EPERM for calls that they do not know.
    return opened || (errno != ENOSYS && errno != EPERM);
  }();
  return known;
}

void RunFolder::check() {
  if (!descriptor_) {
    descriptor();
    return;
  }
  struct stat opened{}, found{};
  if (::fstat(descriptor_.get(), &opened) != 0) throw_errno("fstat", path_);
  if (::stat(path_.c_str(), &found) != 0) return;  // what needs it will say so
  if (opened.st_dev != found.st_dev || opened.st_ino != found.st_ino)
    refuse(path_, EXDEV, "this path no longer leads to the directory that it had at the start of the run");
}

/// As openat(2), but never out of `directory` nor across a mount. Without openat2 the last name alone is watched.
Descriptor RunFolder::open_beneath(int directory, const char* path, int flags, mode_t mode) const {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(static_cast<unsigned>(flags | O_CLOEXEC));
  how.mode = (flags & O_CREAT) != 0 ? mode : 0;  // anything else is EINVAL
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  if (marker_ == Marker::foreign) how.resolve |= RESOLVE_NO_SYMLINKS;
  if (!RunFolder::kernel_keeps_beneath())
    return Descriptor(::openat(directory, path, flags | O_CLOEXEC | O_NOFOLLOW, mode));
  long opened = 0;
  do  // EAGAIN: something was renamed meanwhile, and the kernel cannot decide whether the path led outside
    opened = ::syscall(SYS_openat2, directory, path, &how, sizeof how);
  while (opened < 0 && (errno == EAGAIN || errno == EINTR));
  return Descriptor(static_cast<int>(opened));
}

Descriptor RunFolder::open(const std::string& path, int flags, mode_t mode) {
  Descriptor opened = open_beneath(descriptor(), relative(path), flags, mode);
  if (opened) return opened;
  if (errno == EXDEV) refuse(path, EXDEV, "a link or a mount in this path leads out of the run's folder");
  if (errno == ELOOP) refuse(path, ELOOP, "a link has replaced a file of this run");
  throw_errno("open", path);
}

void RunFolder::require_own_file(const std::string& path) {
  const Descriptor opened = open_beneath(descriptor(), relative(path), O_PATH | O_NOFOLLOW, 0);
  if (!opened && errno == EXDEV) refuse(path, EXDEV, "a link or a mount in this path leads out of the run's folder");
  if (!opened && errno == ELOOP) refuse(path, ELOOP, "a link has replaced a directory of this run");
  if (!opened) return;  // opening it for writing says why
  struct stat found{}, folder{};
  if (::fstat(opened.get(), &found) != 0) throw_errno("fstat", path);
  if (::fstat(descriptor(), &folder) != 0) throw_errno("fstat", path_);
  const std::string kind = foreign_kind(found);
  if (!kind.empty())
    refuse(path, EXDEV, kind,
           "Strider changed nothing there; remove this name, or put a copy of the file in its place");
  const bool may_be_of_others = marker_ == Marker::foreign;
  if (!may_be_of_others && found.st_uid != folder.st_uid && found.st_uid != ::geteuid())
    refuse(path, EXDEV, "the file belongs to user " + std::to_string(found.st_uid));
}

void RunFolder::remove(const std::string& path) {
  if (::unlinkat(descriptor(), relative(path), 0) != 0 && errno != ENOENT) throw_errno("unlink", path);
}

const char* RunFolder::relative(const std::string& path) const {
  const std::size_t length = path_.size();
  if (path == path_) return ".";
  if (path.size() <= length + 1 || path.compare(0, length, path_) != 0 || path[length] != '/')
    refuse(path, EXDEV, "the path is not below " + path_);
  return path.c_str() + length + 1;
}

void RunFolder::require_marker(int directory) const {
  const bool of_run = marker_ == Marker::required;
  const char* name = of_run ? marker_file : data_set_file;
  const Descriptor marker(::openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  std::string text;
  if (marker) read_to_end(marker.get(), text, longest_marker);
  if (text.find((of_run ? "\"run\": " : "\"id\": ") + json_text(run_)) != std::string::npos) return;
  const std::string what = of_run ? "this run: it lacks the run's" : "this data set: it lacks the set's";
  refuse(path_, ENOENT, "this directory is not the folder of " + what + " marker " + name);
}

void RunFolder::require_identity(int directory) const {
  const std::string difference = difference_from(identity_, directory);
  if (!difference.empty()) refuse(path_, EXDEV, "this directory is not the one that the run was given: " + difference);
}

int RunFolder::descriptor() {
  if (descriptor_) return descriptor_.get();
  Descriptor opened(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) throw_errno("open", path_);
  require_identity(opened.get());
  if (marker_ == Marker::required || marker_ == Marker::data_set) require_marker(opened.get());
  descriptor_ = std::move(opened);
  return descriptor_.get();
}

OpenFile open_file(RunFolder* folder, const std::string& path, int flags, mode_t mode) {
  return {
      folder != nullptr ? folder->open(path, flags, mode) : Descriptor(::open(path.c_str(), flags | O_CLOEXEC, mode)),
      path};
}

void remove_file(RunFolder* folder, const std::string& path) {
  if (folder != nullptr) return folder->remove(path);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) throw_errno("unlink", path);
}

}  // namespace strider
