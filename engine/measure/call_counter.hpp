#pragma once
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include "foundation/descriptor.hpp"
#include "foundation/field.hpp"

namespace strider {

/// Read-like and write-like system calls: read, pread, readv, …, and their like for writing, whatever they moved; and
/// what the kernel charges the process with.
struct CallCount {
  std::uint64_t read = 0, write = 0;              ///< calls
  std::uint64_t read_bytes = 0, write_bytes = 0;  ///< that they moved: rchar and wchar
  std::uint64_t storage_read_bytes = 0;           ///< that the process made the kernel fetch from storage
  std::uint64_t storage_write_bytes = 0;          ///< that it made the kernel owe to storage

  static constexpr std::string_view record_name = "CallCount";
  static constexpr std::string_view record_about =
      "I/O counters that the kernel keeps for processes (/proc/PID/io); null where it keeps none.";
  static constexpr auto fields() {
    return std::tuple{
        field({"read_calls", "Read-like system calls during the transfer; null where a kernel does not count them.",
               Over::sum, "null"},
              &CallCount::read),
        field({"write_calls", "Write-like system calls during the transfer.", Over::sum, "null"}, &CallCount::write),
        field({"call_read_bytes", "Bytes that the read calls moved (`rchar`).", Over::sum, "null"},
              &CallCount::read_bytes),
        field({"call_write_bytes", "Bytes that the write calls moved (`wchar`).", Over::sum, "null"},
              &CallCount::write_bytes),
        field({"storage_read_bytes", "Bytes that the kernel fetched from storage for the processes (`read_bytes`).",
               Over::sum, "null"},
              &CallCount::storage_read_bytes),
        field({"storage_write_bytes",
               "Bytes that the processes caused the kernel to write to storage, now or later (`write_bytes`).",
               Over::sum, "null"},
              &CallCount::storage_write_bytes)};
  }
  CallCount operator-(const CallCount& before) const { return difference_of(*this, before); }
};

/// Counts the calls of this process, all threads together, as the kernel does in /proc/self/io (proc_pid_io(5)).
class CallCounter {
 public:
  /// Calls made so far, but for the counter's own; nothing where the kernel does not count.
  std::optional<CallCount> now() {
    if (!file_) return std::nullopt;
    char text[512];
    const ssize_t size = ::pread(file_.get(), text, sizeof text, 0);
    // A reading is itself a call, which the kernel counts when it is over: the next reading is the first to see it.
    const std::uint64_t own_calls = readings_++, own_bytes = bytes_;
    if (size <= 0) return std::nullopt;
    bytes_ += static_cast<std::uint64_t>(size);
    const std::string_view content(text, static_cast<std::size_t>(size));
    const auto read = number_after("syscr: ", content), write = number_after("syscw: ", content);
    const auto read_bytes = number_after("rchar: ", content), write_bytes = number_after("wchar: ", content);
    // With the ends of line, since another name ends like the second of them.
    const auto fetched = number_after("\nread_bytes: ", content), owed = number_after("\nwrite_bytes: ", content);
    if (!read || !write || !read_bytes || !write_bytes || !fetched || !owed) return std::nullopt;
    return CallCount{.read = *read - own_calls,
                     .write = *write,
                     .read_bytes = *read_bytes - own_bytes,
                     .write_bytes = *write_bytes,
                     .storage_read_bytes = *fetched,
                     .storage_write_bytes = *owed};
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

  Descriptor file_{::open("/proc/self/io", O_RDONLY | O_CLOEXEC)};
  std::uint64_t readings_ = 0, bytes_ = 0;
};

}  // namespace strider
