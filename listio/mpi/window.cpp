#include "listio/mpi/window.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "listio/mpi/errors.hpp"

namespace strider::listio::mpi {
namespace {

std::shared_ptr<const FlatType> one_byte() {
  static const auto byte = std::make_shared<const FlatType>(
      FlatType{.runs = {{0, 1}}, .before = {0}, .size = 1, .lower_bound = 0, .extent = 1});
  return byte;
}

/// Bytes of data of a type that ascends, at offsets below `end`.
std::int64_t bytes_below(const FlatType& type, std::int64_t end) {
  const auto after =
      std::partition_point(type.runs.begin(), type.runs.end(), [&](const TypeRun& run) { return run.offset < end; });
  if (after == type.runs.begin()) return 0;
  const auto last = static_cast<std::size_t>(after - type.runs.begin()) - 1;
  return type.before[last] + std::min(type.runs[last].length, end - type.runs[last].offset);
}

/// Bytes of data of copies of a type that ascends, at offsets below `end`.
std::int64_t bytes_of_copies_below(const FlatType& type, std::int64_t end) {
  if (type.extent <= 0) return bytes_below(type, end);
  // The first `whole` copies end at or before `end`. Copies may be interleaved: data may span more than an extent.
  const std::int64_t whole = std::max<std::int64_t>(0, (end - type.runs.back().end()) / type.extent);
  std::int64_t bytes = whole * type.size;
  const std::int64_t last = end - type.runs.front().offset;
  for (std::int64_t start = whole * type.extent; start < last; start += type.extent) {
    bytes += bytes_below(type, end - start);
    if (type.extent >= last - start) break;
  }
  return bytes;
}

std::int64_t address_of(const void* memory) {
  return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(memory));
}

}  // namespace

View::View() : filetype_(one_byte()) {}

View::View(std::int64_t displacement, std::int64_t etype_bytes, std::shared_ptr<const FlatType> filetype)
    : displacement_(displacement), etype_bytes_(etype_bytes), filetype_(std::move(filetype)) {}

bool View::has_place_for(std::int64_t etypes, std::int64_t bytes) const {
  const FlatType& type = *filetype_;
  if (bytes == 0 || type.size == 0) return true;
  std::int64_t first = 0, last = 0, copy = 0, end = 0;
  if (etypes < 0 || __builtin_mul_overflow(etypes, etype_bytes_, &first) ||
      __builtin_add_overflow(first, bytes - 1, &last) || __builtin_mul_overflow(last / type.size, type.extent, &copy))
    return false;
  // Where copies are interleaved, data before the last byte may lie behind it.
  const std::int64_t in_copy =
      type.is_interleaved() ? type.runs.back().end() : Cursor(type, 0, last % type.size).address() + 1;
  return !__builtin_add_overflow(displacement_, copy, &end) && !__builtin_add_overflow(end, in_copy, &end);
}

std::int64_t View::byte_offset(std::int64_t etypes) const {
  if (filetype_->size == 0) return displacement_;
  if (!has_place_for(etypes, 1))
    throw Failure(MPI_ERR_ARG, "the offset lies beyond the largest file: " + std::to_string(etypes));
  return Cursor(*filetype_, displacement_, etypes * etype_bytes_).address();
}

std::int64_t View::etypes_at_or_after(std::int64_t byte) const {
  if (etype_bytes_ == 0 || filetype_->size == 0 || byte <= displacement_) return 0;
  const std::int64_t data = bytes_of_copies_below(*filetype_, byte - displacement_);
  return data / etype_bytes_ + (data % etype_bytes_ == 0 ? 0 : 1);
}

Cursor::Cursor(const FlatType& type, std::int64_t base, std::int64_t position)
    : type_(&type), is_dense_(type.is_dense()), base_(base), inside_(position) {
  if (type.size == 0 || is_dense_) return;
  base_ += position / type.size * type.extent;
  const std::int64_t in_copy = position % type.size;
  const auto next = std::upper_bound(type.before.begin(), type.before.end(), in_copy);
  run_ = static_cast<std::size_t>(next - type.before.begin()) - 1;
  inside_ = in_copy - type.before[run_];
}

std::int64_t Cursor::address() const { return base_ + type_->runs[run_].offset + inside_; }

std::int64_t Cursor::left() const {
  return is_dense_ ? std::numeric_limits<std::int64_t>::max() : type_->runs[run_].length - inside_;
}

void Cursor::skip(std::int64_t bytes) {
  inside_ += bytes;
  if (is_dense_ || inside_ < type_->runs[run_].length) return;
  inside_ = 0;
  if (++run_ < type_->runs.size()) return;
  run_ = 0;
  base_ += type_->extent;
}

Walk::Walk(const View& view, std::int64_t etypes, void* memory, const FlatType& memory_type, std::int64_t count,
           std::size_t most_pieces)
    : most_pieces_(most_pieces),
      left_(view.filetype().size == 0 ? 0 : memory_type.size * count),
      memory_(memory_type, address_of(memory), 0),
      file_(view.filetype(), view.displacement(), etypes * view.etype_bytes()) {}

bool Walk::next(Batch& batch) {
  batch.memory.clear();
  batch.runs.clear();
  batch.bytes = 0;
  while (left_ > 0) {
    const std::int64_t bytes = std::min({left_, memory_.left(), file_.left()});
    if (!add(batch, memory_.address(), file_.address(), bytes)) break;
    memory_.skip(bytes);
    file_.skip(bytes);
    left_ -= bytes;
  }
  return batch.bytes > 0;
}

/// False, and nothing is added, where a list is full. Neighbours that touch are one piece, also those of two copies.
bool Walk::add(Batch& batch, std::int64_t address, std::int64_t offset, std::int64_t bytes) const {
  const bool continues_memory =
      !batch.memory.empty() &&
      address_of(batch.memory.back().iov_base) + static_cast<std::int64_t>(batch.memory.back().iov_len) == address;
  const bool continues_run = !batch.runs.empty() && batch.runs.back().end() == static_cast<std::uint64_t>(offset);
  if (!continues_memory && batch.memory.size() == most_pieces_) return false;
  if (!continues_run && batch.runs.size() == most_pieces_) return false;
  if (continues_memory) batch.memory.back().iov_len += static_cast<std::size_t>(bytes);
  else batch.memory.push_back({reinterpret_cast<void*>(address), static_cast<std::size_t>(bytes)});
  if (continues_run) batch.runs.back().length += static_cast<std::uint64_t>(bytes);
  else batch.runs.push_back({static_cast<std::uint64_t>(offset), static_cast<std::uint64_t>(bytes)});
  batch.bytes += bytes;
  return true;
}

}  // namespace strider::listio::mpi
