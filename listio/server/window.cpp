#include "listio/server/window.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "listio/registration/range.hpp"

namespace strider::listio {
namespace {

constexpr std::size_t alignment = std::size_t{2} << 20;  // of a huge page
constexpr std::size_t most_bytes = std::size_t{1} << 40, least_bytes = std::size_t{1} << 30;

std::size_t rounded(std::size_t bytes) { return (bytes + alignment - 1) & ~(alignment - 1); }

}  // namespace

Windows::Windows() {
  for (bytes_ = most_bytes; bytes_ >= least_bytes; bytes_ /= 2) {
    void* const place = ::mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) continue;
    begin_ = static_cast<std::byte*>(place);
    next_ = rounded(reinterpret_cast<std::uintptr_t>(place)) - reinterpret_cast<std::uintptr_t>(place);
    return;
  }
  throw std::system_error(errno, std::generic_category(), "cannot reserve address space for communication buffers");
}

Windows::~Windows() { ::munmap(begin_, bytes_); }

std::optional<std::size_t> Windows::find_free(std::size_t offset, std::size_t size) const {
  // What still is in use from the last time round is left out.
  for (auto user = used_.lower_bound(offset); user != used_.end() && user->first < offset + size; ++user)
    offset = user->second;
  return offset <= bytes_ - size ? std::optional(offset) : std::nullopt;
}

std::span<std::byte> Windows::take(std::size_t bytes) {
  const std::size_t size = rounded(bytes);
  if (size == 0 || size > bytes_ / 4) return {};
  std::optional<std::size_t> found = find_free(next_, size);
  if (!found) found = find_free(next_ % alignment, size);
  if (!found) return {};
  std::byte* const window = begin_ + *found;
  if (::mprotect(window, size, PROT_READ | PROT_WRITE) != 0) return {};
  ::madvise(window, size, MADV_NOHUGEPAGE);  // that a small request does not take the memory of a large one
  next_ = *found + size;
  used_.emplace(*found, next_);
  return {window, bytes};
}

void Windows::populate(std::span<std::byte> window) {
  ::madvise(window.data(), window.size() & ~(alignment - 1), MADV_HUGEPAGE);
  std::memset(window.data(), 0, window.size());
}

void Windows::discard(std::span<std::byte> part) {
  const auto begin = reinterpret_cast<std::uintptr_t>(part.data());
  const std::uintptr_t page = page_bytes();
  const std::uintptr_t first = (begin + page - 1) / page * page, end = (begin + part.size()) / page * page;
  if (first < end) ::madvise(part.data() + (first - begin), end - first, MADV_DONTNEED);
}

void Windows::give_back(std::span<std::byte> window) {
  const auto offset = static_cast<std::size_t>(window.data() - begin_);
  const auto found = used_.find(offset);
  if (found == used_.end()) return;
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  // Otherwise it stays in use: its memory must not be given to another one.
  if (::mmap(window.data(), found->second - offset, PROT_NONE, flags, -1, 0) != MAP_FAILED) used_.erase(found);
}

}  // namespace strider::listio
