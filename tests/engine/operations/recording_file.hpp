#pragma once
#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "interfaces/interface.hpp"

namespace strider {

/// Stands in for a file: remembers the calls in their order, and the bytes.
class RecordingFile final : public File {
 public:
  std::vector<std::string> calls;
  std::vector<std::byte> content = std::vector<std::byte>(1 << 16);
  /// Number of the call that fails, counted from 0.
  std::size_t fails_at = ~std::size_t{0};
  /// Claims to have read, and has moved nothing.
  bool reads_nothing = false;
  /// Done in each call.
  std::function<void()> meanwhile = [] {};

  void write(const Request& request) override {
    note("write", request);
    for (const Extent& extent : request.extents)
      std::memcpy(content.data() + extent.file_offset, request.memory + extent.memory_offset, extent.length);
  }
  void read(const Request& request) override {
    note("read", request);
    if (reads_nothing) return;
    for (const Extent& extent : request.extents)
      std::memcpy(request.memory + extent.memory_offset, content.data() + extent.file_offset, extent.length);
  }
  void sync() override { note("sync", {}); }
  void close() override { note("close", {}); }

 private:
  void note(const std::string& call, const Request& request) {
    std::string text = call;
    for (const Extent& extent : request.extents)
      text += " " + std::to_string(extent.file_offset) + "+" + std::to_string(extent.length);
    calls.push_back(text);
    meanwhile();
    if (calls.size() - 1 == fails_at) throw IoError({call, "file", 0, 0, EIO});
  }
};

}  // namespace strider
