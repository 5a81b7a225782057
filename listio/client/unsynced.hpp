#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "listio/client/call.hpp"
#include "listio/client/client.hpp"
#include "listio/protocol/messages.hpp"

namespace strider::listio {

/// Unsynced changes of a client, and the server processes that have them. A server that was started
/// again may have lost such changes with its host's memory: it cannot know, and would sync the rest.
class Unsynced {
 public:
  using Processes = UnsyncedChanges::Processes;
  /// More files than these are not distinguished.
  static constexpr std::size_t most_files = 100000;

  /// Servers have carried out the calls of a change of this file.
  void changed(FileId file, const Operation& operation);
  /// Server 0 has carried out a change of names.
  void changed_names(const Call& call);
  /// Server 0 has the name of this file, which another client may have made.
  void found_name(FileId file, const Call& call);
  void forget(FileId file);

  /// The changes of this file and of names, for a sync; they do not count for other syncs any more.
  UnsyncedChanges take(FileId file);
  UnsyncedChanges take_names();
  /// After a sync that has failed: they count for the next one.
  void put_back(FileId file, UnsyncedChanges changes);

  /// The first server that had such changes in another process than it has now: they may be lost.
  static std::optional<std::uint32_t> find_lost(const Processes& had, const Operation& synced);

 private:
  /// Those of files that are not distinguished, once for each file.
  Processes take_others(FileId file);

  std::map<FileId, Processes> files_;
  Processes others_;          ///< of files that are not distinguished
  std::set<FileId> settled_;  ///< files without changes in `others_`; when they are too many, all count again
  Processes names_;
  std::map<FileId, std::uint64_t> found_;  ///< files whose names were found, and in which process of server 0
};

}  // namespace strider::listio
