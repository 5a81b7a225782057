#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "listio/registration/registrar.hpp"

namespace strider::listio {

/// An io_uring that writes lists from its fixed buffers: one WRITEV_FIXED for at most 1024 pieces of a region, all in
/// one submission. Linux 6.15.
class FixedWriter {
 public:
  FixedWriter();
  ~FixedWriter();
  FixedWriter(const FixedWriter&) = delete;
  FixedWriter& operator=(const FixedWriter&) = delete;

  int ring() const { return ring_; }
  /// Writes increasing pieces, one after the other from the start of the file. std::system_error.
  void write(int file, std::span<const Range> pieces, const Lease& lease);

 private:
  void map_queues();
  void submit(unsigned count);

  static constexpr unsigned entries_ = 2048;
  int ring_ = -1;
  std::size_t queue_bytes_ = 0, entry_bytes_ = 0;
  std::byte* queue_ = nullptr;
  void* submissions_ = nullptr;
  struct Offsets {
    unsigned tail, mask, array, done_head, done_mask, done;
  } at_{};
};

}  // namespace strider::listio
