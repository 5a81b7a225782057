#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

namespace strider {

/// The user's input is wrong. `key` is the suite key at fault, or empty.
class InputError : public std::runtime_error {
 public:
  InputError(std::string key, const std::string& message, std::string remedy)
      : std::runtime_error(message), key_(std::move(key)), remedy_(std::move(remedy)) {}
  const std::string& key() const { return key_; }
  const std::string& remedy() const { return remedy_; }

 private:
  std::string key_;
  std::string remedy_;
};

/// Storage refused. Says which call on which piece of which file; who and where the runner adds.
class IoError : public std::runtime_error {
 public:
  struct What {
    std::string call;
    std::string file;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    int error_number = 0;  ///< errno, or 0 where the message says it all
  };
  /// `remedy`: where it does not follow from the error's number.
  IoError(What what, const std::string& message, std::string remedy = "")
      : std::runtime_error(message), what_(std::move(what)), remedy_(std::move(remedy)) {}
  /// The message is the system's text for `what.error_number`.
  explicit IoError(What what);
  const What& details() const { return what_; }
  /// What a user can do about it.
  std::string remedy() const;

 private:
  What what_;
  std::string remedy_;
};

/// Throws IoError with the current errno.
[[noreturn]] void throw_errno(const char* call, const std::string& file, std::uint64_t offset = 0,
                              std::uint64_t length = 0);

/// Throws std::system_error of errno, which `call` set.
[[noreturn]] void throw_system_error(const char* call);
/// Throws std::system_error of this number of errno's kind.
[[noreturn]] void throw_system_error(int error_number);

}  // namespace strider
