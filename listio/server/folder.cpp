#include "listio/server/folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <system_error>

#include "foundation/crc32c.hpp"
#include "foundation/error.hpp"
#include "listio/protocol/secret.hpp"

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

constexpr std::size_t most_label_bytes = 255;
constexpr const char* replaced_words = " replaced ";

/// With the checksum of all before it.
std::string text_of(const Label& label) {
  std::string text = "strider-listio-server 2 volume " + to_hex(label.volume.id) + " epoch " +
                     std::to_string(label.volume.epoch) + " number " + std::to_string(label.number) + " servers " +
                     std::to_string(label.servers) + (label.checksums == Checksums::crc32c ? " checksums crc32c" : "") +
                     (label.copies > 1 ? " copies " + std::to_string(label.copies) : "") +
                     (label.replaced > 0 ? replaced_words + std::to_string(label.replaced) : "") + " crc32c ";
  std::array<char, 16> sum{};
  std::snprintf(sum.data(), sum.size(), "%08x\n", crc32c(std::as_bytes(std::span(text))));
  return text + sum.data();
}

/// As releases without ids of volumes wrote it.
std::string old_text_of(const Label& label) {
  return "strider-listio-server 1 number " + std::to_string(label.number) + " servers " +
         std::to_string(label.servers) + "\n";
}

/// The label that has this text; none if it is damaged. One of an older release is of no particular volume: of
/// `of_old`.
std::optional<Label> label_of(const std::string& text, const VolumeState& of_old) {
  Label label;
  if (std::sscanf(text.c_str(), "strider-listio-server 1 number %u servers %u", &label.number, &label.servers) == 2) {
    label.volume = of_old;
    return text == old_text_of(label) ? std::optional(label) : std::nullopt;
  }
  std::array<char, 33> id{};
  unsigned long long epoch = 0;
  if (std::sscanf(text.c_str(), "strider-listio-server 2 volume %32[0-9a-f] epoch %llu number %u servers %u", id.data(),
                  &epoch, &label.number, &label.servers) != 4 ||
      std::strlen(id.data()) != 2 * label.volume.id.size())
    return {};
  label.volume = {volume_id_of(id.data()), epoch};
  if (text.find(" checksums crc32c ") != std::string::npos) label.checksums = Checksums::crc32c;
  if (text.find(" copies 2 ") != std::string::npos) label.copies = 2;
  if (const std::size_t found = text.find(replaced_words); found != std::string::npos)
    std::sscanf(text.c_str() + found, " replaced %u", &label.replaced);
  return text == text_of(label) ? std::optional(label) : std::nullopt;
}

/// Whether a folder whose label has the state `found` holds all that the start before `wanted` left: a start that was
/// not completed may have labelled it already.
bool follows(const VolumeState& wanted, const VolumeState& found) {
  return found.epoch == wanted.epoch || found.epoch + 1 == wanted.epoch;
}

/// Whether a folder, given by its parent, is missing or has nothing in it.
bool is_empty(int parent, const char* name) {
  const int descriptor = ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return errno == ENOENT;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(descriptor), ::closedir);
  if (!entries) return false;
  while (const dirent* entry = ::readdir(entries.get()))
    if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0) return false;
  return true;
}

}  // namespace

const char* name_of(Checksums checksums) { return checksums == Checksums::crc32c ? "crc32c" : "off"; }

ServerFolder::ServerFolder(const std::string& directory, const Label& label, Folder folder)
    : path_(directory + "/server-" + std::to_string(label.number)) {
  if (folder == Folder::existing && ::access((path_ + "/label").c_str(), F_OK) != 0) {
    const std::string replace =
        label.copies < 2 || label.number == 0
            ? ""
            : "; if the folder is lost, and all servers are on this host, start the volume with --replace " +
                  std::to_string(label.number);
    refuse(path_, "no data of this server found",
           "start each server on its former host (the same hosts in the same order), or keep the directory on a file "
           "system that they share" +
               replace);
  }
  make_folder(directory);
  make_folder(path_);
  folder_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder_) refuse(path_);
  struct stat found{};
  if (::fstat(folder_.get(), &found) != 0) refuse(path_);
  if ((found.st_uid != ::geteuid() && found.st_uid != 0) || (found.st_mode & S_IWOTH) != 0)
    refuse(path_, "another user owns it or can write to it", "use a volume of your own");
  lock();
  std::array<char, most_label_bytes + 1> text{};
  const ssize_t count = ::pread(label_.get(), text.data(), most_label_bytes, 0);
  if (count < 0) refuse(path_ + "/label");
  check(text.data(), label, folder);
  if (text.data() != text_of(label)) write(label);
}

void ServerFolder::lock() {
  label_ = Descriptor(::openat(folder_.get(), "label", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!label_) refuse(path_ + "/label");
  if (::flock(label_.get(), LOCK_EX | LOCK_NB) != 0)
    refuse(path_, "another server uses this folder", "stop that server, or name another directory");
}

void ServerFolder::check(const std::string& text, const Label& wanted, Folder folder) const {
  if (text.empty()) {
    if (is_unused()) return;
    refuse(path_, "holds data, and its label is empty", "restore the folder from a backup of this server");
  }
  const std::optional<Label> found = label_of(text, wanted.volume);
  if (!found) refuse(path_ + "/label", "is damaged", "restore the folder from a backup of this server");
  // A first start that failed, with another id, has left such a folder.
  const bool is_new = folder == Folder::any && found->volume.epoch == 1 && wanted.volume.epoch == 1 && is_unused();
  if (found->volume.id != wanted.volume.id && !is_new)
    refuse(path_, "belongs to volume " + to_hex(found->volume.id) + ", not to " + to_hex(wanted.volume.id),
           "put the folder of this volume back, or name another directory");
  if (found->number != wanted.number || found->servers != wanted.servers)
    refuse(path_,
           "belongs to server " + std::to_string(found->number) + " of " + std::to_string(found->servers) +
               ", not to server " + std::to_string(wanted.number) + " of " + std::to_string(wanted.servers),
           "start the volume with the number of servers with which it was created, each with its own folder");
  if (found->checksums != wanted.checksums && !is_new)
    refuse(path_,
           std::string("has data with checksums ") + name_of(found->checksums) + ", not " + name_of(wanted.checksums),
           std::string("start its server with --checksums ") + name_of(found->checksums));
  if (found->copies != wanted.copies && !is_new)
    refuse(path_, "has data in " + std::to_string(found->copies) + " copies, not in " + std::to_string(wanted.copies),
           "start its server with --copies " + std::to_string(found->copies));
  if (found->replaced != wanted.replaced && !is_new)
    refuse(path_,
           "is not the folder that the server had last: it was replaced " + std::to_string(wanted.replaced) +
               " times, this one " + std::to_string(found->replaced) + " times",
           "put the last one back; if it is lost, move this one away and start the volume with --replace " +
               std::to_string(wanted.number));
  if (!follows(wanted.volume, found->volume))
    refuse(path_,
           "is in the state of start " + std::to_string(found->volume.epoch) + " of the volume, whose last start was " +
               std::to_string(wanted.volume.epoch - 1),
           "it is an old copy, or the volume file is: put back what the volume had when it was last stopped");
}

bool ServerFolder::is_unused() const {
  return std::ranges::all_of(std::array{"data", "names", "sums", "second/data", "second/sums"},
                             [&](const char* name) { return is_empty(folder_.get(), name); });
}

void ServerFolder::write(const Label& label) const {
  const std::string text = text_of(label);
  if (::pwrite(label_.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()) ||
      ::ftruncate(label_.get(), static_cast<off_t>(text.size())) != 0 || ::fsync(label_.get()) != 0 ||
      ::fsync(folder_.get()) != 0)
    refuse(path_ + "/label");
}

}  // namespace strider::listio
