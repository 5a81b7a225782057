#pragma once
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>
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
  /// The same, and has moved the first and the last byte of each extent alone.
  bool reads_edges = false;
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
    for (const Extent& extent : request.extents) {
      std::byte* to = request.memory + extent.memory_offset;
      const std::byte* from = content.data() + extent.file_offset;
      if (!reads_edges) std::memcpy(to, from, extent.length);
      else to[0] = from[0], to[extent.length - 1] = from[extent.length - 1];
    }
  }
  void sync() override { note("sync", {}); }
  void close() override { note("close", {}); }
  std::uint64_t size() override { return content.size(); }

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

/// Keeps requests in flight; half of them, the oldest first, are done at a time.
class RecordingQueue final : public QueuedFile {
 public:
  RecordingFile file;  ///< with the calls "write", "read" and "complete"

  void submit(Direction direction, const Request& request, std::uint32_t slot) override {
    if (std::ranges::find(slots_, slot) != slots_.end()) throw std::logic_error("the slot is taken");
    direction == Direction::write ? file.write(request) : file.read(request);
    slots_.push_back(slot);
  }
  std::size_t complete(std::span<std::uint32_t> slots) override {
    const std::size_t count = (slots_.size() + 1) / 2;
    std::copy_n(slots_.begin(), count, slots.begin());
    slots_.erase(slots_.begin(), slots_.begin() + static_cast<std::ptrdiff_t>(count));
    if (fails_to_complete) {
      slots_.clear();
      fails_to_complete = false;
      throw IoError({"complete", "file", 0, 0, EIO});
    }
    return count;
  }
  /// None is done at once where it is told so.
  std::size_t complete_within(std::span<std::uint32_t> slots, std::uint64_t) override {
    return slow ? 0 : complete(slots);
  }
  void write(const Request& request) override { file.write(request); }
  void read(const Request& request) override { file.read(request); }
  void sync() override { file.sync(); }
  void close() override { file.close(); }
  std::uint64_t size() override { return file.size(); }
  std::size_t in_flight() const { return slots_.size(); }
  bool fails_to_complete = false;  ///< the next time
  bool slow = false;               ///< requests are done only where they are waited for without a limit

 private:
  std::vector<std::uint32_t> slots_;
};

}  // namespace strider
