#pragma once
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace strider {

/// Read-like and write-like system calls: read, pread, readv, …, and their like for writing, whatever they moved.
struct CallCount {
  std::uint64_t read = 0, write = 0;

  CallCount operator-(const CallCount& before) const { return {read - before.read, write - before.write}; }
};

/// Counts the calls of this process, all threads together, as the kernel does in /proc/self/io (proc_pid_io(5)).
class CallCounter {
 public:
  CallCounter() : descriptor_(::open("/proc/self/io", O_RDONLY | O_CLOEXEC)) {}
  CallCounter(const CallCounter&) = delete;
  CallCounter& operator=(const CallCounter&) = delete;
  ~CallCounter() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  /// Calls made so far, but for the counter's own; nothing where the kernel does not count.
  std::optional<CallCount> now() {
    if (descriptor_ < 0) return std::nullopt;
    char text[512];
    const ssize_t size = ::pread(descriptor_, text, sizeof text, 0);
    // A reading is itself a call, which the kernel counts when it is over: the next reading is the first to see it.
    const std::uint64_t own = readings_++;
    if (size <= 0) return std::nullopt;
    const std::string_view content(text, static_cast<std::size_t>(size));
    const auto read = number_after("syscr: ", content), write = number_after("syscw: ", content);
    if (!read || !write) return std::nullopt;
    return CallCount{*read - own, *write};
  }

 private:
  static std::optional<std::uint64_t> number_after(std::string_view label, std::string_view content) {
    const std::size_t position = content.find(label);
    if (position == std::string_view::npos) return std::nullopt;
    content.remove_prefix(position + label.size());
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(content.data(), content.data() + content.size(), value);
    return error == std::errc{} ? std::optional(value) : std::nullopt;
  }

  int descriptor_;
  std::uint64_t readings_ = 0;
};

}  // namespace strider
