#include "listio/server/missed_changes.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "listio/server/shards.hpp"

namespace strider::listio {
namespace {

constexpr std::size_t most_runs = 2048, fewer_runs = 1024;  // that are distinguished

}  // namespace

Errno MissedChanges::mark(FileId file) {
  const std::lock_guard lock(mutex_);
  const Errno error = make_mark(file);
  if (error == 0) ++changing_[file];
  return error;
}

Errno MissedChanges::make_mark(FileId file) {
  if (marked_.contains(file)) return 0;
  OpenFiles::Handle handle;
  Errno error = marks_.open(file, O_CREAT, handle);
  if (error == 0) error = marks_.sync_name(file);
  if (error == 0) marked_.insert(file);
  return error;
}

void MissedChanges::add(FileId file, std::span<const ByteRun> runs) {
  const std::lock_guard lock(mutex_);
  const auto changing = changing_.find(file);
  if (--changing->second == 0) changing_.erase(changing);
  const auto found = missed_.find(file);
  if (found == missed_.end()) return;
  found->second.add(RangeSet(runs));
  if (found->second.size() > most_runs) found->second.coarsen(fewer_runs);
}

Errno MissedChanges::mark_all(FileId file) {
  const std::lock_guard lock(mutex_);
  missed_.erase(file);
  return make_mark(file);
}

void MissedChanges::start() {
  const std::lock_guard lock(mutex_);
  missed_.clear();
}

bool MissedChanges::was_taken(FileId file) const {
  const auto found = missed_.find(file);
  return found != missed_.end() && found->second.empty();
}

Errno MissedChanges::list(const ListMissedRequest& request, DataPage& page) {
  const std::lock_guard lock(mutex_);
  return list_shards(
      request.cookie, page,
      [&](unsigned shard, std::vector<FileId>& files) {
        const Errno error = marks_.list(shard, files);
        if (request.changed) std::erase_if(files, [&](FileId file) { return was_taken(file); });
        return error;
      },
      [&](FileId file) {
        page.files.push_back({file});
        return 0;
      });
}

void MissedChanges::take(FileId file, Missed& missed) {
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] = missed_.try_emplace(file);
  if (is_new) missed.runs = {{0, most_file_bytes}};
  else missed.runs.assign(found->second.runs().begin(), found->second.runs().end());
  found->second = {};
}

Errno MissedChanges::forget() {
  const std::lock_guard lock(mutex_);
  if (!changing_.empty()) return EAGAIN;
  std::vector<FileId> files;
  for (unsigned shard = 0; shard < shards; ++shard)
    if (const Errno error = marks_.list(shard, files); error != 0) return error;
  if (!std::ranges::all_of(files, [&](FileId file) { return was_taken(file); })) return EAGAIN;
  marked_.clear();  // even if a removal fails
  for (const FileId file : files)
    if (const Errno error = marks_.remove(file); error != 0) return error;
  missed_.clear();
  return 0;
}

}  // namespace strider::listio
