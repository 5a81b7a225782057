#include "listio/mpi/errors.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <system_error>

#include "listio/mpi/below.hpp"

namespace strider::listio::mpi {
namespace {

/// The error that this thread has met last.
thread_local Outcome last_outcome;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

class Handlers {
 public:
  static Handlers& all() {
    static auto* const handlers = new Handlers;  // also for errors while the process ends
    return *handlers;
  }
  void add(MPI_Errhandler handler, MPI_File_errhandler_function* function) {
    const std::scoped_lock lock(mutex_);
    functions_[handler] = function;
  }
  MPI_File_errhandler_function* find(MPI_Errhandler handler) {
    const std::scoped_lock lock(mutex_);
    const auto found = functions_.find(handler);
    return found == functions_.end() ? nullptr : found->second;
  }

 private:
  std::mutex mutex_;
  std::map<MPI_Errhandler, MPI_File_errhandler_function*> functions_;
};

/// Codes of other functions, such as MPI_Wait, are no classes.
bool is_of_last_outcome(int code) {
  int error_class = MPI_SUCCESS;
  return below().Error_class(code, &error_class) == MPI_SUCCESS && error_class == last_outcome.error_class;
}

}  // namespace

void note(const Outcome& outcome) {
  static const bool verbose = std::getenv("STRIDER_LISTIO_VERBOSE") != nullptr;
  if (verbose) std::fprintf(stderr, "strider-mpiio: %s\n", outcome.text.c_str());
  last_outcome = outcome;
}

int class_of(int error_number) {
  switch (error_number) {
    case ENOENT: return MPI_ERR_NO_SUCH_FILE;
    case EEXIST: return MPI_ERR_FILE_EXISTS;
    case EACCES:
    case EPERM: return MPI_ERR_ACCESS;
    case ENOSPC: return MPI_ERR_NO_SPACE;
    case EDQUOT: return MPI_ERR_QUOTA;
    case EROFS: return MPI_ERR_READ_ONLY;
    case EISDIR:
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG: return MPI_ERR_BAD_FILE;
    case ENOMEM: return MPI_ERR_NO_MEM;
    default: return MPI_ERR_IO;
  }
}

Outcome current_outcome() {
  const auto with_remedy = [](const std::string& text, const std::string& remedy) {
    return remedy.empty() ? text : text + "; " + remedy;
  };
  try {
    throw;
  } catch (const Failure& failure) {
    return {failure.error_class(), failure.what()};
  } catch (const IoError& error) {
    const int number = error.details().error_number;
    return {class_of(number), error.details().file + ": " + with_remedy(error.what(), error.remedy())};
  } catch (const InputError& error) {
    return {MPI_ERR_ARG, with_remedy(error.what(), error.remedy())};
  } catch (const std::system_error& error) {
    return {class_of(error.code().value()), error.what()};
  } catch (const std::bad_alloc&) {
    return {MPI_ERR_NO_MEM, "no memory"};
  } catch (const std::exception& error) {
    return {MPI_ERR_OTHER, error.what()};
  }
}

int raise(MPI_File file, const Outcome& outcome) {
  if (!outcome.failed()) return MPI_SUCCESS;
  note(outcome);
  below().File_call_errhandler(file, outcome.error_class);
  return outcome.error_class;
}

int raise_without_file(const Outcome& outcome) {
  if (!outcome.failed()) return MPI_SUCCESS;
  note(outcome);
  const Below& mpi = below();
  MPI_Errhandler handler = MPI_ERRORS_RETURN;
  mpi.File_get_errhandler(MPI_FILE_NULL, &handler);
  int code = outcome.error_class;
  if (handler == MPI_ERRORS_ARE_FATAL) {
    std::fprintf(stderr, "strider-mpiio: %s\n", outcome.text.c_str());
    mpi.Abort(MPI_COMM_WORLD, code);
  }
  if (handler == MPI_ERRORS_RETURN) return code;
  if (MPI_File_errhandler_function* function = Handlers::all().find(handler); function != nullptr) {
    MPI_File none = MPI_FILE_NULL;
    function(&none, &code);
  }
  mpi.Errhandler_free(&handler);
  return code;  // as the handler leaves it
}

int describe_error(int code, char* text, int* length) {
  const int result = below().Error_string(code, text, length);
  if (result != MPI_SUCCESS || code == MPI_SUCCESS || !is_of_last_outcome(code) || *length < 0) return result;
  const std::string all = std::string(text, static_cast<std::size_t>(*length)) + ": " + last_outcome.text;
  const std::size_t bytes = std::min<std::size_t>(all.size(), MPI_MAX_ERROR_STRING - 1);
  std::memcpy(text, all.data(), bytes);
  text[bytes] = '\0';
  *length = static_cast<int>(bytes);
  return result;
}

void remember_handler(MPI_Errhandler handler, MPI_File_errhandler_function* function) {
  Handlers::all().add(handler, function);
}

}  // namespace strider::listio::mpi
