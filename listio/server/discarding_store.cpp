#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

#include "listio/server/data_store.hpp"

namespace strider::listio {
namespace {

class DiscardingStore final : public DataStore {
 public:
  Errno read(FileId file, std::span<const ByteRun> runs, std::span<std::byte>, Extent& extent) override {
    const std::lock_guard lock(mutex_);
    const std::uint64_t bytes = sizes_[file];
    for (const ByteRun& run : runs) {
      read_bytes_ += run.length;
      if (run.end() > bytes) extent = Extent::beyond_end;
    }
    return 0;
  }
  Errno write(FileId file, std::span<const ByteRun> runs, std::span<std::byte>) override {
    const std::lock_guard lock(mutex_);
    std::uint64_t& bytes = sizes_[file];
    for (const ByteRun& run : runs) {
      written_bytes_ += run.length;
      bytes = std::max(bytes, run.end());
    }
    return 0;
  }
  Errno sync(FileId) override { return 0; }
  Errno stat(FileId file, DataStat& stat) override {
    const std::lock_guard lock(mutex_);
    const auto found = sizes_.find(file);
    stat = {found == sizes_.end() ? 0 : found->second, 0};
    return 0;
  }
  Errno truncate(FileId file, std::uint64_t bytes) override {
    const std::lock_guard lock(mutex_);
    sizes_[file] = bytes;
    return 0;
  }
  Errno set_time(FileId, std::int64_t) override { return 0; }
  Errno remove(FileId file) override {
    const std::lock_guard lock(mutex_);
    sizes_.erase(file);
    return 0;
  }
  Errno list(std::uint64_t cookie, DataPage& page) override {
    constexpr std::size_t page_files = 2000;
    const std::lock_guard lock(mutex_);
    page.cookie = 0;
    for (auto each = sizes_.upper_bound(cookie); each != sizes_.end(); ++each) {
      page.files.push_back({each->first, each->second});
      if (page.files.size() < page_files) continue;
      page.cookie = each->first;
      break;
    }
    return 0;
  }
  Counters counters() const override { return {read_bytes_, written_bytes_, 0}; }

 private:
  std::mutex mutex_;
  std::map<FileId, std::uint64_t> sizes_;
  std::atomic<std::uint64_t> read_bytes_ = 0, written_bytes_ = 0;
};

}  // namespace

std::unique_ptr<DataStore> make_discarding_store() { return std::make_unique<DiscardingStore>(); }

}  // namespace strider::listio
