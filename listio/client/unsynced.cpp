#include "listio/client/unsynced.hpp"

#include <utility>

namespace strider::listio {

void Unsynced::changed(FileId file, const Operation& operation) {
  if (files_.size() >= most_files && !files_.contains(file)) {
    for (auto& [other, processes] : std::exchange(files_, {})) {
      others_.insert(processes.begin(), processes.end());
      settled_.erase(other);
    }
  }
  for (const Call& call : operation.calls) files_[file].emplace(call.server, call.process);
}

void Unsynced::changed_names(const Call& call) { names_.emplace(call.server, call.process); }

void Unsynced::found_name(FileId file, const Call& call) {
  if (found_.size() >= most_files && !found_.contains(file)) {
    for (const auto& [other, process] : std::exchange(found_, {})) names_.emplace(0, process);
  }
  found_[file] = call.process;
}

void Unsynced::forget(FileId file) {
  files_.erase(file);
  found_.erase(file);
}

UnsyncedChanges Unsynced::take(FileId file) {
  UnsyncedChanges changes = take_names();
  changes.data = take_others(file);
  if (auto own = files_.extract(file)) changes.data.merge(own.mapped());
  if (const auto found = found_.extract(file)) changes.names.emplace(0, found.mapped());
  return changes;
}

UnsyncedChanges Unsynced::take_names() { return {{}, std::exchange(names_, {})}; }

void Unsynced::put_back(FileId file, UnsyncedChanges changes) {
  if (!changes.data.empty()) files_[file].merge(changes.data);
  names_.merge(changes.names);
}

Unsynced::Processes Unsynced::take_others(FileId file) {
  if (others_.empty() || settled_.contains(file)) return {};
  if (settled_.size() >= most_files) settled_.clear();
  settled_.insert(file);
  return others_;
}

std::optional<std::uint32_t> Unsynced::find_lost(const Processes& had, const Operation& synced) {
  for (const Call& call : synced.calls)
    for (auto at = had.lower_bound({call.server, 0}); at != had.end() && at->first == call.server; ++at)
      if (at->second != call.process) return call.server;
  return {};
}

}  // namespace strider::listio
