#pragma once
#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "interfaces/directory.hpp"

namespace strider {

/// A directory in memory that knows files alone, and is strict: what is not there, or is there already, is an error.
class ModelDirectory final : public Directory {
 public:
  struct File {
    std::vector<std::byte> bytes;
    int accesses = 0;
  };

  Handle open(const char* path, OpenMode mode) override {
    if (mode == OpenMode::create && !files.emplace(path, File{}).second) fail("open", path, EEXIST);
    find("open", path);
    open_files[++last_] = path;
    return last_;
  }
  void write(Handle file, std::span<const std::byte> data, const char* path) override {
    if (files.size() > most_files) fail("write", path, ENOSPC);
    find("write", named(file)).bytes.assign(data.begin(), data.end());
  }
  std::uint64_t read(Handle file, std::span<std::byte> to, const char*) override {
    const auto& bytes = find("read", named(file)).bytes;
    const std::size_t length = std::min(to.size(), bytes.size());
    std::copy_n(bytes.begin(), length, to.begin());
    return length;
  }
  void close(Handle file, const char* path) override {
    if (open_files.erase(file) == 0) fail("close", path, EBADF);
  }
  ItemState state(const char* path) override { return {ItemType::file, find("state", path).bytes.size(), 1}; }
  void access(const char* path) override { ++find("access", path).accesses; }
  void set_mode(const char* path, unsigned) override { find("set_mode", path); }
  void set_times(const char* path) override { find("set_times", path); }
  void unlink(const char* path) override {
    find("unlink", path);
    files.erase(path);
  }

  std::set<std::string> names() const {
    std::set<std::string> all;
    for (const auto& [path, file] : files) all.insert(path);
    return all;
  }

  std::map<std::string, File> files;
  std::map<Handle, std::string> open_files;
  std::size_t most_files = ~std::size_t{0};  ///< writes fail while there are more

 private:
  [[noreturn]] static void fail(const char* call, const std::string& path, int number) {
    throw IoError({call, path, 0, 0, number});
  }
  File& find(const char* call, const std::string& path) {
    const auto found = files.find(path);
    if (found == files.end()) fail(call, path, ENOENT);
    return found->second;
  }
  const std::string& named(Handle file) { return open_files.at(file); }

  Handle last_ = 0;
};

}  // namespace strider
