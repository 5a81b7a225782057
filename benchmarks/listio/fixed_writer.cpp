#include "fixed_writer.hpp"

#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

namespace strider::listio {
namespace {

constexpr std::uint8_t writev_fixed = 61;  // IORING_OP_WRITEV_FIXED, which older headers lack
constexpr std::size_t most_pieces = 1024;

[[noreturn]] void fail(int error, const char* call) { throw std::system_error(error, std::generic_category(), call); }

}  // namespace

FixedWriter::FixedWriter() {
  io_uring_params parameters{};
  ring_ = static_cast<int>(::syscall(SYS_io_uring_setup, entries_, &parameters));
  if (ring_ < 0) fail(errno, "io_uring_setup");
  queue_bytes_ = std::max<std::size_t>(parameters.sq_off.array + parameters.sq_entries * sizeof(unsigned),
                                       parameters.cq_off.cqes + parameters.cq_entries * sizeof(io_uring_cqe));
  entry_bytes_ = parameters.sq_entries * sizeof(io_uring_sqe);
  at_ = {parameters.sq_off.tail, parameters.sq_off.ring_mask, parameters.sq_off.array,
         parameters.cq_off.head, parameters.cq_off.ring_mask, parameters.cq_off.cqes};
  map_queues();
}

FixedWriter::~FixedWriter() {
  ::munmap(queue_, queue_bytes_);
  ::munmap(submissions_, entry_bytes_);
  ::close(ring_);
}

void FixedWriter::map_queues() {
  const auto map = [&](std::size_t bytes, long offset) {
    void* const memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring_, static_cast<off_t>(offset));
    if (memory == MAP_FAILED) fail(errno, "mmap of a ring");
    return memory;
  };
  queue_ = static_cast<std::byte*>(map(queue_bytes_, IORING_OFF_SQ_RING));
  submissions_ = map(entry_bytes_, IORING_OFF_SQES);
}

void FixedWriter::write(int file, std::span<const Range> pieces, const Lease& lease) {
  std::vector<iovec> vectors;
  vectors.reserve(pieces.size());
  for (const Range& piece : pieces) vectors.push_back({reinterpret_cast<void*>(piece.begin), piece.bytes()});
  auto* const tail = reinterpret_cast<unsigned*>(queue_ + at_.tail);
  const unsigned mask = *reinterpret_cast<unsigned*>(queue_ + at_.mask);
  auto* const array = reinterpret_cast<unsigned*>(queue_ + at_.array);
  std::uint64_t offset = 0;
  unsigned count = 0;
  auto region = lease.regions().begin();
  for (std::size_t first = 0; first < pieces.size();) {
    while (!region->range.contains(pieces[first])) ++region;
    std::size_t last = first;
    std::uint64_t bytes = 0;
    for (; last < pieces.size() && last - first < most_pieces && region->range.contains(pieces[last]); ++last)
      bytes += pieces[last].bytes();
    const unsigned index = (*tail + count) & mask;
    io_uring_sqe& entry = static_cast<io_uring_sqe*>(submissions_)[index];
    entry = {};
    entry.opcode = writev_fixed;
    entry.fd = file;
    entry.addr = reinterpret_cast<std::uint64_t>(&vectors[first]);
    entry.len = static_cast<unsigned>(last - first);
    entry.off = offset;
    entry.buf_index = static_cast<std::uint16_t>(region->slot);
    array[index] = index;
    ++count;
    offset += bytes;
    first = last;
  }
  submit(count);
}

void FixedWriter::submit(unsigned count) {
  auto* const tail = reinterpret_cast<unsigned*>(queue_ + at_.tail);
  __atomic_store_n(tail, *tail + count, __ATOMIC_RELEASE);
  const long entered =
      ::syscall(SYS_io_uring_enter, ring_, count, count, IORING_ENTER_GETEVENTS, static_cast<void*>(nullptr), 0);
  if (entered != static_cast<long>(count)) fail(entered < 0 ? errno : EIO, "io_uring_enter");
  auto* const head = reinterpret_cast<unsigned*>(queue_ + at_.done_head);
  const unsigned mask = *reinterpret_cast<unsigned*>(queue_ + at_.done_mask);
  const auto* const done = reinterpret_cast<io_uring_cqe*>(queue_ + at_.done);
  for (unsigned i = 0; i < count; ++i)
    if (done[(*head + i) & mask].res < 0) fail(-done[(*head + i) & mask].res, "WRITEV_FIXED");
  __atomic_store_n(head, *head + count, __ATOMIC_RELEASE);
}

}  // namespace strider::listio
