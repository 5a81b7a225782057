#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <vector>

#include "listio/layout/range_set.hpp"
#include "listio/server/data_store.hpp"
#include "listio/server/numbered_files.hpp"

namespace strider::listio {

/// Of which files of a store the other copy has missed changes, because its server was out: on stable storage, an
/// empty file missed/XX/XXXXXXXXXXXXXXXX for each, before the first such change. Which bytes it has missed is in
/// memory, since a client began to fill it. For several threads at once; calls end with 0 or an error number.
class MissedChanges {
 public:
  /// In `folder`, an open directory. std::system_error if the folder missed cannot be made.
  explicit MissedChanges(int folder) : marks_(folder, "missed", std::make_shared<OpenFiles>()) {}

  /// Before a change that the other copy misses.
  Errno mark(FileId file);
  /// Once for each `mark` that succeeded, when the change has ended: which bytes.
  void add(FileId file, std::span<const ByteRun> runs);
  /// All of a file is to be taken.
  Errno mark_all(FileId file);

  /// A client begins to fill: nothing was taken yet.
  void start();
  Errno list(const ListMissedRequest& request, DataPage& page);
  /// The changes since the last call; all that there may be, if it is the first since `start`.
  void take(FileId file, Missed& missed);
  /// All files, or EAGAIN if something was not taken, or is being changed. The marks may be back after a power failure.
  Errno forget();

 private:
  Errno make_mark(FileId file);
  bool was_taken(FileId file) const;

  NumberedFiles marks_;
  std::mutex mutex_;
  std::map<FileId, unsigned> changing_;  ///< changes that have not ended
  std::set<FileId> marked_;              ///< which are known to be marked
  std::map<FileId, RangeSet> missed_;    ///< of those that are being filled
};

}  // namespace strider::listio
