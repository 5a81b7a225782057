#include <algorithm>

#include "operations/transfer.hpp"

namespace strider {

void Contents::generate(std::span<const Extent> extents, std::span<std::byte> memory) const {
  const std::uint64_t begin = timer_.now();
  for (const Extent& extent : extents)
    work_.written->fill(memory.subspan(extent.memory_offset, extent.length), extent.file_offset);
  if (!extents.empty())  // in increasing order
    tally_.written_end = std::max(tally_.written_end, extents.back().file_offset + extents.back().length);
  tally_.prepare_ticks += timer_.now() - begin;
}

/// Expects data of the last phase that wrote, or of an older one where read-write has not written.
void Contents::expect(std::uint64_t index) const {
  const Work::Expected& expected = work_.expected;
  if (expected.older != nullptr) {
    const bool old = expected.older->draw.reads(index);
    expected.examiner->expect_generation(old ? expected.older->generation : expected.generation);
    expected.examiner->expect_pass((old ? expected.older->left : expected.left).last_at(index));
  } else if (expected.left.repeated()) {
    expected.examiner->expect_pass(expected.left.last_at(index));
  }
}

void Contents::prepare(std::uint64_t index, std::span<const Extent> extents, std::span<std::byte> memory,
                       Memory state) const {
  const std::uint64_t begin = timer_.now();
  expect(index);
  for (const Extent& extent : extents) {
    if (state == Memory::used) spoil(memory.subspan(extent.memory_offset, extent.length));
    work_.expected.examiner->prepare(memory, extent);
  }
  tally_.prepare_ticks += timer_.now() - begin;
}

void Contents::examine(std::uint64_t index, std::span<const Extent> extents, std::span<std::byte> memory,
                       FileData::Then then) const {
  const std::uint64_t begin = timer_.now();
  expect(index);
  for (const Extent& extent : extents) work_.expected.examiner->examine(memory, extent, then);
  tally_.prepare_ticks += timer_.now() - begin;
}

void Contents::think() const {
  const std::uint64_t begin = timer_.now(), end = begin + timer_.from_ns(work_.timing.think_ns);
  std::uint64_t now = begin;
  volatile double result = 1;
  while (now < end) {
    for (int i = 0; i < 16; ++i) result = result * 1.0000001 + 1e-9;
    now = timer_.now();
  }
  tally_.compute_ticks += now - begin;
}

}  // namespace strider
