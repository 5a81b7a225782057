#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>

#include "foundation/descriptor.hpp"
#include "listio/server/sums.hpp"

namespace strider::listio {

/// Writes all bytes, or throws std::system_error.
void write_whole(const Descriptor& file, std::span<const std::byte> bytes, std::uint64_t offset);

/// Limit on the pages of checksums that all files of a server keep in memory. For several threads at once.
class SumMemory {
 public:
  explicit SumMemory(std::size_t most_pages) : most_pages_(most_pages) {}
  /// Takes a page, unless the limit is reached.
  bool take();
  void give_back(std::size_t pages) { used_pages_ -= pages; }
  bool is_full() const { return used_pages_ >= most_pages_; }
  bool is_half_free() const { return used_pages_ <= most_pages_ / 2; }
  std::size_t used_pages() const { return used_pages_; }

 private:
  const std::size_t most_pages_;
  std::atomic<std::size_t> used_pages_ = 0;
};

/// The checksums of one file, in pages of 4096 bytes, each of which stays in memory from its first use on. Changes are
/// in memory alone until `flush`; where the limit of memory is reached, calls go to the file of checksums instead. All
/// functions throw std::system_error. `load` may be called by several threads at once, everything else by one.
class SumPages {
 public:
  static constexpr std::uint64_t page_sums = 4096 / sizeof(Sum);

  explicit SumPages(SumMemory& memory) : memory_(memory) {}
  ~SumPages() { drop(); }
  SumPages(const SumPages&) = delete;
  SumPages& operator=(const SumPages&) = delete;

  /// The checksums of blocks from `first` on; 0 beyond the end of the file.
  void load(const Descriptor& file, std::uint64_t first, std::span<Sum> sums);
  /// The same as they are on the storage, those excepted that were not flushed yet.
  void load_stored(const Descriptor& file, std::uint64_t first, std::span<Sum> sums);
  /// Has room in the file and pages in memory, so that `store` cannot fail. Only where the limit is reached, it still
  /// can.
  void prepare(const Descriptor& file, std::uint64_t first, std::uint64_t blocks);
  void store(const Descriptor& file, std::uint64_t first, std::span<const Sum> sums);
  /// Writes all changes to the file; it is not made durable. What fails is written by the next call.
  void flush(const Descriptor& file);
  /// Sets the checksums of blocks from `first` on to 0. The file is cut by the caller.
  void cut(std::uint64_t first);
  /// Forgets all pages, changes too.
  void drop();
  bool is_empty() const { return pages_.empty(); }

 private:
  struct Page {
    std::array<Sum, page_sums> sums;
    bool is_changed = false;
    bool has_room = false;  ///< on the storage
  };
  Page* find(std::uint64_t number);
  /// Null where the limit is reached.
  Page* find_or_read(const Descriptor& file, std::uint64_t number);

  SumMemory& memory_;
  std::mutex mutex_;  ///< of what `load` changes
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
};

}  // namespace strider::listio
