#pragma once
// To be included after FUSE_USE_VERSION is defined.
#include <fuse3/fuse_lowlevel.h>

#include <cerrno>
#include <cstdio>
#include <new>
#include <string>
#include <system_error>

#include "foundation/error.hpp"
#include "listio/mount/file_system.hpp"

namespace strider::listio {

inline FileSystem& system_of(fuse_req_t request) { return *static_cast<FileSystem*>(fuse_req_userdata(request)); }

/// Into the log; not of every request while a server is gone.
inline void log_failure(const std::string& what, const char* message) {
  constexpr int most_lines = 1000;
  static int lines = 0;
  if (++lines > most_lines) return;
  std::fprintf(stderr, "%s: %s\n", what.c_str(), message);
  if (lines == most_lines) std::fputs("further messages are left out\n", stderr);
}

/// Whether an error is that of a server or of the volume, and no answer to a program's request.
inline bool is_failure(int error) {
  return error == EIO || error == EUCLEAN || error == EPROTO || error == ENOSPC || error == ETIMEDOUT ||
         error == ECONNRESET || error == ECONNREFUSED || error == EHOSTUNREACH;
}

/// Answers with the error of `action`, which answers itself where there is none.
template <typename Action>
void answer(fuse_req_t request, const Action& action) {
  int error = EIO;
  try {
    action(system_of(request));
    return;
  } catch (const IoError& failure) {
    if (failure.details().error_number != 0) error = failure.details().error_number;
    if (is_failure(error)) log_failure(failure.details().call + " " + failure.details().file, failure.what());
  } catch (const InputError& failure) {
    error = EINVAL;
  } catch (const std::system_error& failure) {
    error = failure.code().value();
  } catch (const std::bad_alloc&) {
    error = ENOMEM;
  } catch (const std::exception& failure) {
    log_failure("mount", failure.what());
  }
  fuse_reply_err(request, error);
}

}  // namespace strider::listio
