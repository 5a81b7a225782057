#include "interfaces/listio/holes.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "foundation/error.hpp"

namespace strider {
namespace {

/// The whole pages in each gap between the extents.
std::vector<std::span<std::byte>> gaps_of(const Request& request) {
  std::vector<Extent> extents(request.extents.begin(), request.extents.end());
  std::ranges::sort(extents, {}, &Extent::memory_offset);
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  std::vector<std::span<std::byte>> gaps;
  for (std::size_t i = 1; i < extents.size(); ++i) {
    const Extent& before = extents[i - 1];
    const auto end = reinterpret_cast<std::uintptr_t>(request.memory) + before.memory_offset + before.length;
    const std::uintptr_t first = (end + page - 1) / page * page;
    const std::uintptr_t last =
        (reinterpret_cast<std::uintptr_t>(request.memory) + extents[i].memory_offset) / page * page;
    if (first < last) gaps.push_back({reinterpret_cast<std::byte*>(first), last - first});
  }
  return gaps;
}

}  // namespace

void MemoryHoles::make(const Request& request) {
  if (wanted_ == holes_.size()) return;
  const auto gaps = gaps_of(request);
  if (gaps.size() < wanted_)
    throw IoError({"munmap", "", 0, 0, 0},
                  "the pieces of a request have " + std::to_string(gaps.size()) +
                      " gaps of at least a page between them, fewer than listio.holes",
                  "lower listio.holes, or raise memory_gap");
  while (holes_.size() < wanted_) {
    const std::span<std::byte> hole = gaps[(2 * holes_.size() + 1) * gaps.size() / (2 * wanted_)];
    const int result = kind_ == HoleKind::unmapped ? ::munmap(hole.data(), hole.size())
                                                   : ::mprotect(hole.data(), hole.size(), PROT_NONE);
    if (result != 0) throw IoError({kind_ == HoleKind::unmapped ? "munmap" : "mprotect", "", 0, hole.size(), errno});
    holes_.push_back(hole);
  }
}

MemoryHoles::~MemoryHoles() {
  for (const std::span<std::byte>& hole : holes_) {
    // If something else has come to lie there, it stays.
    if (kind_ == HoleKind::unmapped)
      static_cast<void>(::mmap(hole.data(), hole.size(), PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
    else ::mprotect(hole.data(), hole.size(), PROT_READ | PROT_WRITE);
  }
}

}  // namespace strider
