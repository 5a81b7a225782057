#include "listio/client/unsynced.hpp"

#include <utility>

namespace strider::listio {

void Unsynced::changed(FileId file, const Operation& operation) {
  if (files_.size() >= most_files && !files_.contains(file)) {
    // The first process counts: if a server has another one later, some file may have lost changes.
    for (const auto& [other, processes] : std::exchange(files_, {})) {
      others_.insert(processes.begin(), processes.end());
      settled_.erase(other);
    }
  }
  for (const Call& call : operation.calls) files_[file].emplace(call.server, call.process);
}

void Unsynced::changed_names(const Call& call) { names_.emplace(call.server, call.process); }

bool Unsynced::has(FileId file) const {
  return files_.contains(file) || (!others_.empty() && !settled_.contains(file));
}

std::optional<std::uint32_t> Unsynced::lost(FileId file, const Operation& synced) {
  const auto found = files_.find(file);
  Processes had = take_others(file);
  if (found != files_.end()) had.insert(found->second.begin(), found->second.end());
  files_.erase(file);
  return find_other(had, synced);
}

std::optional<std::uint32_t> Unsynced::lost_names(const Operation& synced) {
  return find_other(std::exchange(names_, {}), synced);
}

Unsynced::Processes Unsynced::take_others(FileId file) {
  if (others_.empty() || settled_.contains(file)) return {};
  if (settled_.size() >= most_files) settled_.clear();
  settled_.insert(file);
  return others_;
}

std::optional<std::uint32_t> Unsynced::find_other(const Processes& had, const Operation& synced) {
  for (const Call& call : synced.calls) {
    const auto found = had.find(call.server);
    if (found != had.end() && found->second != call.process) return call.server;
  }
  return {};
}

}  // namespace strider::listio
