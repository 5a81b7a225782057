#include "foundation/folder_identity.hpp"

#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>

#include "foundation/error.hpp"

namespace strider {
namespace {

constexpr uid_t unknown_user = 65534;

template <typename Number>
std::optional<Number> number_of(const std::string& part, const std::string& text) {
  if (part.empty()) return std::nullopt;
  Number number{};
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
  if (error != std::errc() || end != part.data() + part.size())
    throw InputError("identity", "an identity must be OWNER:INODE:DEVICE:HOST: " + text,
                     "start the run with strider run");
  return number;
}

/// Takes the text up to the next colon away.
std::string next_part(std::string& rest) {
  const std::size_t end = std::min(rest.find(':'), rest.size());
  const std::string part = rest.substr(0, end);
  rest.erase(0, std::min(end + 1, rest.size()));
  return part;
}

std::string this_host() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return std::string(name.data()) + '/' + boot;
}

bool is_numbered_by_client(const struct statfs& found) {
  constexpr std::array<std::uint32_t, 5> types{0x65735546, 0xFF534D42, 0xFE534D42, 0x517B,
                                               0x01021997};  // FUSE, CIFS, SMB 2, SMB, 9P
  return std::ranges::find(types, static_cast<std::uint32_t>(found.f_type)) != types.end();
}

bool has_numbers_of_its_client(int directory) {
  struct statfs found{};
  return ::fstatfs(directory, &found) == 0 && is_numbered_by_client(found);
}

}  // namespace

bool has_numbers_of_its_client(const std::string& path) {
  struct statfs found{};
  return ::statfs(path.c_str(), &found) == 0 && is_numbered_by_client(found);
}

FolderIdentity FolderIdentity::parse(const std::string& text) {
  std::string rest = text;
  FolderIdentity identity;
  identity.owner = number_of<uid_t>(next_part(rest), text);
  identity.inode = number_of<ino_t>(next_part(rest), text);
  identity.device = number_of<dev_t>(next_part(rest), text);
  identity.host = rest;
  return identity;
}

std::string difference_from(const FolderIdentity& identity, int directory) {
  struct stat found{};
  if (::fstat(directory, &found) != 0) throw_errno("fstat", "the folder of the run");
  // Hosts number the devices of network file systems themselves.
  const bool of_this_host = !identity.host.empty() && identity.host == this_host();
  // Of NFS 4, a host that does not know the names of users shows all files as those of one user.
  const bool unmapped =
      !of_this_host && found.st_uid == unknown_user && identity.inode && !has_numbers_of_its_client(directory);
  if (identity.owner && *identity.owner != found.st_uid && !unmapped)
    return "it belongs to user " + std::to_string(found.st_uid) + " instead of user " + std::to_string(*identity.owner);
  const bool other_device = of_this_host && identity.device && *identity.device != found.st_dev;
  const bool other_inode = identity.inode && *identity.inode != found.st_ino;
  if (other_device || (other_inode && (of_this_host || !has_numbers_of_its_client(directory))))
    return "another directory has taken its place (inode " + std::to_string(found.st_ino) + ")";
  return "";
}

}  // namespace strider
