#pragma once
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace strider {

/// A new folder that is gone with the object.
class Folder {
 public:
  Folder() {
    std::string name = testing::TempDir() + "/strider-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder in " + testing::TempDir());
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return path_ / name; }
  std::vector<std::string> content() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) names.push_back(entry.path().filename());
    return names;
  }

 private:
  std::filesystem::path path_;
};

/// Memory that begins at a page, as direct I/O wants it.
class Pages {
 public:
  explicit Pages(std::size_t bytes) : bytes_(bytes) {
    memory_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { ::munmap(memory_, bytes_); }
  std::byte* data() const { return static_cast<std::byte*>(memory_); }
  std::span<std::byte> span() const { return {data(), bytes_}; }

 private:
  std::size_t bytes_;
  void* memory_ = nullptr;
};

}  // namespace strider
