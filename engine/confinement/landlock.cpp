#include "confinement/landlock.hpp"

#include <fcntl.h>
#include <glob.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include "foundation/error.hpp"

namespace strider {
namespace {

// As in linux/landlock.h of a new kernel: what older headers lack, an older kernel may be asked for nevertheless.
constexpr long create_ruleset_number = 444, add_rule_number = 445, restrict_self_number = 446;
constexpr unsigned query_version = 1, rule_path_beneath = 1;
struct RulesetAttributes {
  std::uint64_t access_fs, access_net, scoped;
};
struct PathBeneath {
  std::uint64_t allowed_access;
  std::int32_t parent;
} __attribute__((packed));

constexpr std::uint64_t bit(unsigned number) { return std::uint64_t{1} << number; }
constexpr std::uint64_t write_file = bit(1), refer = bit(13), truncate = bit(14), ioctl_device = bit(15);
constexpr std::uint64_t remove_and_make = 0x1ff0;  ///< bits 4 to 12: remove directories and files, make any kind
constexpr std::uint64_t for_files = write_file | truncate | ioctl_device;
constexpr std::uint64_t scope_abstract_sockets = bit(0), scope_signals = bit(1);

/// What the version of the kernel governs of all that changes something.
std::uint64_t governed(int abi) {
  std::uint64_t rights = write_file | remove_and_make;
  if (abi >= 2) rights |= refer;
  if (abi >= abi_with_truncate) rights |= truncate;
  if (abi >= 5) rights |= ioctl_device;
  return rights;
}

/// A kernel refuses a structure that is longer than the one it knows, unless the rest is 0.
std::size_t attribute_bytes(int abi) {
  return abi >= 6 ? sizeof(RulesetAttributes) : abi >= 4 ? 2 * sizeof(std::uint64_t) : sizeof(std::uint64_t);
}

constexpr const char* device_patterns[] = {
    "/dev/null", "/dev/zero",   "/dev/full",      "/dev/random",     "/dev/urandom", "/dev/tty",   "/dev/ptmx",
    "/dev/pts",  "/dev/shm",    "/dev/hugepages", "/dev/infiniband", "/dev/knem",    "/dev/xpmem", "/dev/hfi1_*",
    "/dev/cxi*", "/dev/ipath*", "/dev/gdrdrv",    "/dev/nvidia*",    "/dev/kfd",     "/dev/dri",   "/dev/pvfs2-req",
};

}  // namespace

LandlockSupport landlock_support() {
  const long found = ::syscall(create_ruleset_number, nullptr, 0, query_version);
  LandlockSupport support;
  if (found > 0) support.abi = static_cast<int>(found);
  else if (errno == EOPNOTSUPP) support.reason = "Landlock is switched off (not in the kernel's lsm= list)";
  else support.reason = "this kernel has no Landlock (Linux 5.13 or later, CONFIG_SECURITY_LANDLOCK)";
  if (const char* limit = std::getenv("STRIDER_LANDLOCK_ABI")) support.abi = std::min(support.abi, std::atoi(limit));
  if (support.abi <= 0 && support.reason.empty()) support.reason = "STRIDER_LANDLOCK_ABI is 0";
  return support;
}

WriteRules::WriteRules(int abi) : handled_(governed(abi)) {
  const RulesetAttributes attributes{handled_, 0, abi >= 6 ? scope_abstract_sockets | scope_signals : 0};
  ruleset_ = Descriptor(static_cast<int>(::syscall(create_ruleset_number, &attributes, attribute_bytes(abi), 0)));
  if (!ruleset_) throw_errno("landlock_create_ruleset", "");
}

void WriteRules::allow(const std::string& path) {
  const OpenFile file(Descriptor(::open(path.c_str(), O_PATH | O_CLOEXEC)), path);
  allow(file.get(), path);
}

void WriteRules::allow(int descriptor, const std::string& name) {
  struct stat found{};
  if (::fstat(descriptor, &found) != 0) throw_errno("fstat", name);
  const std::uint64_t rights = S_ISDIR(found.st_mode) ? handled_ : handled_ & for_files;
  const PathBeneath rule{rights, descriptor};
  if (::syscall(add_rule_number, ruleset_.get(), rule_path_beneath, &rule, 0) != 0)
    throw_errno("landlock_add_rule", name);
}

void WriteRules::allow_devices() {
  for (const char* pattern : device_patterns) {
    glob_t found{};
    if (::glob(pattern, 0, nullptr, &found) == 0)
      for (std::size_t i = 0; i < found.gl_pathc; ++i) allow(found.gl_pathv[i]);
    ::globfree(&found);
  }
}

void WriteRules::enforce() {
  // Without CAP_SYS_ADMIN the kernel demands that no program gains rights from here on.
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) throw_errno("prctl", "PR_SET_NO_NEW_PRIVS");
  if (::syscall(restrict_self_number, ruleset_.get(), 0) != 0) throw_errno("landlock_restrict_self", "");
}

}  // namespace strider
