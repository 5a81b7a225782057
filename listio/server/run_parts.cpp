#include "listio/server/run_parts.hpp"

namespace strider::listio {

std::vector<RunPart> parts_of(std::span<const ByteRun> runs, std::span<std::byte> buffer) {
  std::vector<RunPart> parts;
  parts.reserve(runs.size());
  std::byte* memory = buffer.data();
  for (const ByteRun& run : runs) {
    parts.push_back({run, memory});
    memory += run.length;
  }
  return parts;
}

void add_piece(std::vector<iovec>& all, std::span<iovec>& of_call, std::byte* memory, std::uint64_t bytes) {
  iovec* const last = of_call.empty() ? nullptr : &of_call.back();
  if (last != nullptr && static_cast<std::byte*>(last->iov_base) + last->iov_len == memory) {
    last->iov_len += bytes;
    return;
  }
  all.push_back({memory, bytes});
  of_call = {of_call.data(), of_call.size() + 1};
}

}  // namespace strider::listio
