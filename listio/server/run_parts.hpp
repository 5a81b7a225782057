#pragma once
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "listio/layout/byte_run.hpp"

namespace strider::listio {

/// A run of a list, and where its bytes are in memory.
struct RunPart {
  ByteRun run;
  std::byte* memory = nullptr;
};

/// The bytes of `runs` are in `buffer`, one run after the other, from its begin; it has to be long enough.
std::vector<RunPart> parts_of(std::span<const ByteRun> runs, std::span<std::byte> buffer);
inline bool is_before(const RunPart& a, const RunPart& b) { return a.run.offset < b.run.offset; }

/// Adds memory to the pieces of a call, which are the last ones of `all`: it continues the last piece, or is another.
/// `all` must have room, so that spans of it stay good.
void add_piece(std::vector<iovec>& all, std::span<iovec>& of_call, std::byte* memory, std::uint64_t bytes);

}  // namespace strider::listio
