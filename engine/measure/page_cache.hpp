#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "foundation/run_folder.hpp"

namespace strider {

/// How much of a file this node's kernel holds in memory.
struct CachedPart {
  std::uint64_t cached_bytes = 0;
  std::uint64_t file_bytes = 0;
};

enum class PageCacheView {
  cachestat,  ///< cachestat(2), Linux 6.5
  mincore,    ///< mincore(2), of a mapping
};

/// A file's pages in this node's memory. Opens the file to read; throws IoError where that fails.
class PageCache {
 public:
  /// `folder`: the file is opened below it.
  explicit PageCache(const std::string& path, RunFolder* folder = nullptr);

  /// What was written from this node goes to stable storage, so that its pages can be dropped.
  void sync() { file_.sync(); }
  /// Asks the kernel to drop the pages; dirty and mapped ones stay.
  void drop();
  /// Nothing where the kernel does not report it. The second way is for kernels without the first.
  std::optional<CachedPart> look(PageCacheView way) const;

 private:
  OpenFile file_;
  std::uint64_t size_ = 0;
};

/// Makes the kernel drop all clean pages of this node, of all programs. False where that is not permitted.
bool drop_all_pages();

}  // namespace strider
