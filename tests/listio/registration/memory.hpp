#pragma once
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "listio/registration/domain.hpp"

namespace strider::listio {

/// Touched memory of whole pages of ordinary size, some of which can be taken away.
class Pages {
 public:
  explicit Pages(std::uint64_t count) : count_(count) {
    memory_ = static_cast<char*>(::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (memory_ == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    ::madvise(memory_, bytes(), MADV_NOHUGEPAGE);
    touch();
  }
  ~Pages() { ::munmap(memory_, bytes()); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::uint64_t bytes() const { return count_ * page_bytes(); }
  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(memory_); }
  Range pages(std::uint64_t first, std::uint64_t count) const {
    return {begin() + first * page_bytes(), begin() + (first + count) * page_bytes()};
  }
  char* at(std::uint64_t page) const { return memory_ + page * page_bytes(); }

  void touch() const {
    for (std::uint64_t page = 0; page < count_; ++page) *at(page) = 1;
  }
  void unmap(std::uint64_t first, std::uint64_t count = 1) const { ::munmap(at(first), count * page_bytes()); }
  void map_again(std::uint64_t first, std::uint64_t count = 1) const {
    ::mmap(at(first), count * page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    for (std::uint64_t page = first; page < first + count; ++page) *at(page) = 2;
  }
  void protect(std::uint64_t first, int protection, std::uint64_t count = 1) const {
    ::mprotect(at(first), count * page_bytes(), protection);
  }

 private:
  std::uint64_t count_;
  char* memory_ = nullptr;
};

/// A line of /proc/self/status in KiB, such as VmLck or VmPin.
inline std::uint64_t status_kib(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name + ":")) return std::stoull(line.substr(name.size() + 1));
  return 0;
}

/// The kernel's count of memory locked or pinned by this process, in pages.
inline std::uint64_t pinned_pages() { return (status_kib("VmLck") + status_kib("VmPin")) * 1024 / page_bytes(); }

/// The same, once it does not get less any more: io_uring lets go of the pages of a closed ring a moment later.
inline std::uint64_t lasting_pinned_pages() {
  for (int wait_ms = 0; wait_ms < 2000 && pinned_pages() > 0; ++wait_ms) ::usleep(1000);
  return pinned_pages();
}

/// The model's costs, in the seed's relation but so small that tests are quick.
inline constexpr CostModel quick_cost{0.0077, 0.0742, 0.0023, 0.011};

/// The domain of a name, or nothing where the kernel does not allow it.
inline std::unique_ptr<Domain> try_domain(const std::string& name) {
  if (name == "model") return make_model_domain({.cost = quick_cost});
  try {
    return make_domain(name);
  } catch (const std::system_error&) {
    return nullptr;
  }
}

/// Runs `action` in a child that may lock `limit_pages` pages and no more; the number it returns.
template <typename Action>
int with_little_memory(std::uint64_t limit_pages, const Action& action) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{limit_pages * page_bytes(), limit_pages * page_bytes()};
    const bool limited = ::setrlimit(RLIMIT_MEMLOCK, &limit) == 0 && (::geteuid() != 0 || ::setuid(65534) == 0);
    ::_exit(limited ? action() : 99);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

}  // namespace strider::listio
