#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "foundation/extent.hpp"

namespace strider {

/// What is wrong with the pages of a hole: none are mapped, or none may be accessed.
enum class HoleKind { unmapped, inaccessible };

/// Holes in the memory between the pieces of a request, as a program has them whose arrays were not allocated together:
/// what makes it hard to register many pieces at once. The memory is whole again when this ends.
class MemoryHoles {
 public:
  MemoryHoles(HoleKind kind, std::uint64_t count) : kind_(kind), wanted_(count) {}
  MemoryHoles(const MemoryHoles&) = delete;
  MemoryHoles& operator=(const MemoryHoles&) = delete;
  ~MemoryHoles();

  /// Makes the holes, once: all whole pages in each of some gaps, evenly spread. IoError if there are too few gaps.
  void make(const Request& request);

 private:
  HoleKind kind_;
  std::uint64_t wanted_;
  std::vector<std::span<std::byte>> holes_;
};

}  // namespace strider
