#pragma once
#include <stdexcept>
#include <string>
#include <utility>

#include "foundation/error.hpp"
#include "listio/mpi/below.hpp"

namespace strider::listio::mpi {

/// A call cannot be done. `error_class` is a class of the standard, which is also the code that the program gets.
class Failure : public std::runtime_error {
 public:
  Failure(int error_class, const std::string& text) : std::runtime_error(text), error_class_(error_class) {}
  int error_class() const { return error_class_; }

 private:
  int error_class_;
};

/// How a step of a call ended. Ranks agree on outcomes before any of them returns from a collective call.
struct Outcome {
  int error_class = MPI_SUCCESS;
  std::string text;

  bool failed() const { return error_class != MPI_SUCCESS; }
  /// The first failure counts.
  void add(Outcome later) {
    if (!failed()) *this = std::move(later);
  }
};

/// The class that says the most about an error number.
int class_of(int error_number);

/// The outcome of the exception that is being handled.
Outcome current_outcome();

template <typename Step>
Outcome outcome_of(const Step& step) {
  try {
    step();
    return {};
  } catch (...) {
    return current_outcome();
  }
}

/// Runs the error handler of an open file, unless there was no error; returns the result of the program's call.
int raise(MPI_File file, const Outcome& outcome);
/// The same for calls without a file: the handler of MPI_FILE_NULL.
int raise_without_file(const Outcome& outcome);

/// Makes it the error that this thread has met last. `raise` does so too.
void note(const Outcome& outcome);

/// MPI_Error_string, with details of the error that this thread has met last.
int describe_error(int code, char* text, int* length);

/// Keeps the function of an error handler: some libraries do not let others run it for MPI_FILE_NULL.
void remember_handler(MPI_Errhandler handler, MPI_File_errhandler_function* function);

}  // namespace strider::listio::mpi
