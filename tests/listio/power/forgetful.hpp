#pragma once
#include <cstdint>
#include <string>

namespace strider::listio {

/// The control of a file system that discards unsynced data (tests/forgetfs).
class Forgetful {
 public:
  explicit Forgetful(std::string socket) : socket_(std::move(socket)) {}
  /// Carries out a command; its answer. std::runtime_error if that fails.
  std::string command(const std::string& text) const;
  /// How many times the power could have been cut: after each flush that changed something.
  std::uint64_t boundaries() const { return std::stoull(command("snapshots-made")); }

 private:
  std::string socket_;
};

}  // namespace strider::listio
