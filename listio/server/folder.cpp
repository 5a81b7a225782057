#include "listio/server/folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "foundation/error.hpp"

namespace strider::listio {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why, const std::string& remedy) {
  throw InputError("directory", path + ": " + why, remedy);
}

[[noreturn]] void refuse(const std::string& path) {
  refuse(path, std::generic_category().message(errno), "name a directory in which you may write");
}

/// A new folder's name is on stable storage when this returns.
void make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0) {
    if (errno != EEXIST) refuse(path);
    return;
  }
  const Descriptor parent(::open((path + "/..").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent || ::fsync(parent.get()) != 0) refuse(path);
}

}  // namespace

ServerFolder::ServerFolder(const std::string& directory, std::uint32_t number, std::uint32_t servers, Folder folder)
    : path_(directory + "/server-" + std::to_string(number)) {
  if (folder == Folder::existing && ::access((path_ + "/label").c_str(), F_OK) != 0)
    refuse(path_, "no data of this server found",
           "start each server on its former host (the same hosts in the same order), or keep the directory on a file "
           "system that they share");
  make_folder(directory);
  make_folder(path_);
  folder_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder_) refuse(path_);
  label_ = Descriptor(::openat(folder_.get(), "label", O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!label_) refuse(path_ + "/label");
  if (::flock(label_.get(), LOCK_EX | LOCK_NB) != 0)
    refuse(path_, "another server uses this folder", "stop that server, or name another directory");
  const std::string wanted =
      "strider-listio-server 1 number " + std::to_string(number) + " servers " + std::to_string(servers) + "\n";
  std::array<char, 256> text{};
  const ssize_t count = ::pread(label_.get(), text.data(), text.size() - 1, 0);
  if (count < 0) refuse(path_ + "/label");
  if (count > 0 && wanted != text.data())
    refuse(path_, "belongs to '" + std::string(text.data(), static_cast<std::size_t>(count - 1)) + "'",
           "start the volume with the number of servers with which it was created");
  if (count == 0 && (::pwrite(label_.get(), wanted.data(), wanted.size(), 0) != static_cast<ssize_t>(wanted.size()) ||
                     ::fsync(label_.get()) != 0 || ::fsync(folder_.get()) != 0))
    refuse(path_ + "/label");
}

}  // namespace strider::listio
