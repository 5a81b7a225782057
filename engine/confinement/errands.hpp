#pragma once
#include <map>
#include <string>

#include "foundation/descriptor.hpp"

namespace strider {

/// Errands: what a confined run needs done outside of its domain, by a process that is not confined. They are asked for
/// by a word each, over a socket that only the user can reach; there is no other way to make that process do something.
enum class Errand { drop_caches, remount };

/// Result of an errand that was asked for.
struct ErrandResult {
  enum class State {
    done,
    refused,     ///< `message` says why
    no_process,  ///< there is no process to ask: this one does it by itself
  } state = State::no_process;
  std::string message, remedy;
};

/// Asks the process behind a socket; waits until it has answered. An empty path, or a socket that is not there as on
/// other hosts: no process. `argument` is one word.
ErrandResult ask_errand(const std::string& socket, Errand errand, const std::string& argument = "");

/// What the process does for each word: throws IoError where it cannot.
using Errands = std::map<Errand, void (*)(const void* context, const std::string& argument)>;

/// The other side: a socket, in a directory of the user's own.
class ErrandSocket {
 public:
  /// Throws IoError.
  explicit ErrandSocket(const std::string& path);
  int get() const { return descriptor_.get(); }
  /// Takes a connection, does its errand in a process of its own, and returns at once.
  void serve(const Errands& errands, const void* context) const;

 private:
  Descriptor descriptor_;
};

}  // namespace strider
