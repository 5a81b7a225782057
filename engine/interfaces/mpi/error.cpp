#include "interfaces/mpi/error.hpp"

#include <mpi.h>

#include <cerrno>
#include <system_error>

namespace strider {
namespace {

/// The errno behind an MPI error; 0 where it is unknown, and MPI's own text says it. ROMIO hides most of them in
/// MPI_ERR_IO and quotes the system's message in its text.
int nearest_errno(int error_class, const std::string& text) {
  if (const int number = quoted_errno(text); number != 0) return number;
  switch (error_class) {
    case MPI_ERR_NO_SPACE: return ENOSPC;
    case MPI_ERR_QUOTA: return EDQUOT;
    case MPI_ERR_ACCESS: return EACCES;
    case MPI_ERR_READ_ONLY: return EROFS;
    case MPI_ERR_NO_SUCH_FILE: return ENOENT;
    case MPI_ERR_FILE_EXISTS: return EEXIST;
    case MPI_ERR_IO: return EIO;
    default: return 0;
  }
}

}  // namespace

int quoted_errno(const std::string& text) {
  for (const int number : {ENOSPC, EDQUOT, EFBIG, EROFS, EACCES, EPERM, ESTALE, EINTR, EINVAL, ENOENT, EEXIST, EIO})
    if (text.find(std::generic_category().message(number)) != std::string::npos) return number;
  // ROMIO's own words.
  if (text.find("Access denied to file") != std::string::npos) return EACCES;
  return text.find("File does not exist") != std::string::npos ? ENOENT : 0;
}

void throw_mpi(int code, IoError::What what) {
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0, error_class = 0;
  MPI_Error_string(code, text, &length);
  MPI_Error_class(code, &error_class);
  const std::string message(text, static_cast<std::size_t>(length));
  what.error_number = nearest_errno(error_class, message);
  throw IoError(std::move(what), message);
}

void check_mpi(int code, const char* call, const std::string& file) {
  if (code != MPI_SUCCESS) throw_mpi(code, {call, file, 0, 0, 0});
}

std::string moved_too_little(std::uint64_t bytes, std::uint64_t wanted) {
  return "the call moved " + std::to_string(bytes) + " of " + std::to_string(wanted) + " bytes";
}

}  // namespace strider
