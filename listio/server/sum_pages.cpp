#include "listio/server/sum_pages.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "foundation/error.hpp"
#include "foundation/whole_transfer.hpp"

namespace strider::listio {
namespace {

static_assert(std::endian::native == std::endian::little, "checksums are kept as they are in memory");

/// Bytes beyond the end read as 0.
void read_sums(const Descriptor& file, std::uint64_t first, std::span<Sum> sums) {
  const auto bytes = std::as_writable_bytes(sums);
  const Transferred got = transfer_whole(bytes.size(), [&](std::uint64_t done) {
    return moved_or_error(
        ::pread(file.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(sum_offset(first) + done)));
  });
  if (got.error_number != 0) throw_system_error(got.error_number);
  std::memset(bytes.data() + got.bytes, 0, bytes.size() - got.bytes);
}

/// Calls `action(page, block, done, part)` for each page that has checksums of `count` blocks from `first` on: it has
/// those of `part` of them, from `block` on, which follow `done` others.
template <typename Action>
void each_page(std::uint64_t first, std::uint64_t count, const Action& action) {
  for (std::uint64_t done = 0; done < count;) {
    const std::uint64_t block = first + done;
    const std::uint64_t part = std::min(count - done, SumPages::page_sums - block % SumPages::page_sums);
    action(block / SumPages::page_sums, block, done, part);
    done += part;
  }
}

}  // namespace

void write_whole(const Descriptor& file, std::span<const std::byte> bytes, std::uint64_t offset) {
  const Transferred written = transfer_whole(bytes.size(), [&](std::uint64_t done) {
    return moved_or_error(
        ::pwrite(file.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done)));
  });
  if (written.bytes < bytes.size()) throw_system_error(written.error_number != 0 ? written.error_number : EIO);
}

bool SumMemory::take() {
  if (used_pages_.fetch_add(1) < most_pages_) return true;
  --used_pages_;
  return false;
}

SumPages::Page* SumPages::find(std::uint64_t number) {
  const auto found = pages_.find(number);
  return found == pages_.end() ? nullptr : found->second.get();
}

SumPages::Page* SumPages::find_or_read(const Descriptor& file, std::uint64_t number) {
  if (Page* const page = find(number)) return page;
  if (!memory_.take()) return nullptr;
  try {
    auto page = std::make_unique<Page>();
    read_sums(file, number * page_sums, page->sums);
    return pages_.emplace(number, std::move(page)).first->second.get();
  } catch (...) {
    memory_.give_back(1);
    throw;
  }
}

void SumPages::load(const Descriptor& file, std::uint64_t first, std::span<Sum> sums) {
  const std::lock_guard lock(mutex_);
  each_page(first, sums.size(), [&](std::uint64_t number, std::uint64_t block, std::uint64_t done, std::uint64_t part) {
    const std::span<Sum> wanted = sums.subspan(done, part);
    if (const Page* const page = find_or_read(file, number))
      std::ranges::copy(std::span(page->sums).subspan(block % page_sums, part), wanted.begin());
    else read_sums(file, block, wanted);
  });
}

void SumPages::load_stored(const Descriptor& file, std::uint64_t first, std::span<Sum> sums) {
  const std::lock_guard lock(mutex_);
  each_page(first, sums.size(), [&](std::uint64_t number, std::uint64_t block, std::uint64_t done, std::uint64_t part) {
    const std::span<Sum> wanted = sums.subspan(done, part);
    const Page* const page = find(number);
    if (page != nullptr && page->is_changed)
      std::ranges::copy(std::span(page->sums).subspan(block % page_sums, part), wanted.begin());
    else read_sums(file, block, wanted);
  });
}

void SumPages::prepare(const Descriptor& file, std::uint64_t first, std::uint64_t blocks) {
  each_page(first, blocks, [&](std::uint64_t number, auto...) {
    Page* const page = find_or_read(file, number);
    if (page != nullptr && page->has_room) return;
    const auto offset = static_cast<off_t>(sum_offset(number * page_sums));
    // Where a file system cannot, a write finds out.
    if (::fallocate(file.get(), 0, offset, sizeof page->sums) != 0 && errno != EOPNOTSUPP && errno != ENOSYS)
      throw_system_error(errno);
    if (page != nullptr) page->has_room = true;
  });
}

void SumPages::store(const Descriptor& file, std::uint64_t first, std::span<const Sum> sums) {
  each_page(first, sums.size(), [&](std::uint64_t number, std::uint64_t block, std::uint64_t done, std::uint64_t part) {
    const std::span<const Sum> given = sums.subspan(done, part);
    if (Page* const page = find(number)) {
      std::ranges::copy(given, page->sums.begin() + block % page_sums);
      page->is_changed = true;
    } else {
      write_whole(file, std::as_bytes(given), sum_offset(block));
    }
  });
}

void SumPages::flush(const Descriptor& file) {
  for (auto& [number, page] : pages_) {
    if (!page->is_changed) continue;
    write_whole(file, std::as_bytes(std::span(page->sums)), sum_offset(number * page_sums));
    page->is_changed = false;
  }
}

void SumPages::cut(std::uint64_t first) {
  for (auto& [number, page] : pages_) {
    const std::uint64_t begin = number * page_sums;
    page->has_room = false;
    if (begin + page_sums <= first) continue;
    std::ranges::fill(std::span(page->sums).subspan(first > begin ? first - begin : 0), Sum{0});
  }
}

void SumPages::drop() {
  memory_.give_back(pages_.size());
  pages_.clear();
}

}  // namespace strider::listio
