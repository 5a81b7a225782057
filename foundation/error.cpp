#include "foundation/error.hpp"

#include <cerrno>
#include <system_error>

namespace strider {

IoError::IoError(What what)
    : std::runtime_error(std::generic_category().message(what.error_number)), what_(std::move(what)) {}

std::string IoError::remedy() const {
  if (!remedy_.empty()) return remedy_;
  switch (what_.error_number) {
    case ENOSPC: return "free space in the target or make the case smaller (block, segments, count or clients)";
    case EDQUOT: return "ask for more quota or make the case smaller (block, segments, count or clients)";
    case EACCES:
    case EPERM: return "choose a target in which you may write on every node";
    case EINVAL:
      return "with direct I/O, choose transfer sizes that the device accepts (multiples of 4 KiB); not every file "
             "system supports direct I/O";
    case EIO: return "check the kernel log of this host and the logs of the storage servers";
    case ESTALE:
    case ENOENT: return "check that every node has mounted the same target and that the caches are coherent";
    case EOPNOTSUPP: return "this file system lacks the call; leave out the option that asks for it";
    case EFBIG: return "raise the file size limit (ulimit -f) or use more files (sharing)";
    case EMFILE:
    case ENFILE: return "raise the limit of open files (ulimit -n)";
    default: return "";
  }
}

void throw_errno(const char* call, const std::string& file, std::uint64_t offset, std::uint64_t length) {
  throw IoError({call, file, offset, length, errno});
}

void throw_system_error(const char* call) { throw std::system_error(errno, std::generic_category(), call); }

void throw_system_error(int error_number) { throw std::system_error(error_number, std::generic_category()); }

}  // namespace strider
