#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "listio/client/call.hpp"
#include "listio/protocol/messages.hpp"

namespace strider::listio {

/// What a client has changed and not synced yet, and which processes of servers have it. A server that was started
/// again may have lost such changes with its host's memory: it cannot know, and would sync what is left.
class Unsynced {
 public:
  /// More files than these are not told apart.
  static constexpr std::size_t most_files = 100000;

  /// Servers have carried out the calls of a change of this file.
  void changed(FileId file, const Operation& operation);
  /// Server 0 has carried out a change of names.
  void changed_names(const Call& call);
  void forget(FileId file) { files_.erase(file); }

  /// Whether the file has changes to sync.
  bool has(FileId file) const;
  /// Takes the changes of this file, or of names, as synced by these calls. The server whose process was another one
  /// when it got them: they may be lost.
  std::optional<std::uint32_t> lost(FileId file, const Operation& synced);
  std::optional<std::uint32_t> lost_names(const Operation& synced);

 private:
  using Processes = std::map<std::uint32_t, std::uint64_t>;  ///< by server
  /// Those of files that are not told apart, once for each file.
  Processes take_others(FileId file);
  static std::optional<std::uint32_t> find_other(const Processes& had, const Operation& synced);

  std::map<FileId, Processes> files_;
  Processes others_;          ///< of files that are not told apart
  std::set<FileId> settled_;  ///< files without changes in `others_`; when they are too many, all count again
  Processes names_;
};

}  // namespace strider::listio
