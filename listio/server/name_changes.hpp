#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "foundation/descriptor.hpp"
#include "listio/protocol/messages.hpp"
#include "listio/server/data_store.hpp"

namespace strider::listio {

/// The name of a path of the volume, and the directory that it stands in: paths from the server's folder.
std::string names_path(const std::string& path);
std::string names_directory(const std::string& path);

/// The small files and directories of a server's folder that have changed and are not on stable storage yet. Paths are
/// relative to that folder, such as names/a/b. The caller serializes all calls, together with the changes themselves:
/// so a path leads to the changed file.
class NameChanges {
 public:
  /// A file is new, or has another content, mode or time of change; a directory has another mode or time.
  void change(const std::string& path) { changed_[path] |= content; }
  /// A directory has a name more, or a name means another file.
  void gain(const std::string& directory) { changed_[directory] |= gained; }
  /// A directory has a name less.
  void lose(const std::string& directory) { changed_[directory] |= lost; }
  /// If a file has changed, syncs of directories are of it too: it has replaced one whose data are to be removed.
  void hurry(const std::string& path);
  /// The file is gone.
  void forget(const std::string& path);
  void forget_all();
  /// The file at `from` is at `to`, with all below it.
  void rename(const std::string& from, const std::string& to);

  /// How many paths there are.
  std::size_t size() const { return changed_.size() + syncing_.size(); }
  /// A sync begins: `next` returns the changes until now. Directories are those that have lost names,
  /// and those of names that have gained some: no new entries, and no copies of these.
  void begin_sync(SyncNamesRequest::Part part = SyncNamesRequest::Part::all);
  /// Changes become stable in so many turns, files first, then directories that have gained names before those that
  /// have lost some: a file that moved has one of its names at any time.
  static constexpr unsigned turns = 4;
  std::size_t left(unsigned turn) const;
  /// The next one of a turn; none at its end.
  std::optional<std::string> next(unsigned turn);
  /// What `next` returned last could not be made stable: it belongs to the next sync.
  void keep(const std::string& path) { changed_[path] |= content | gained | lost; }

 private:
  enum Change : unsigned { content = 1, gained = 2, lost = 4, urgent = 8 };
  /// A number below `turns`.
  static unsigned turn_of(unsigned changes);

  std::map<std::string, unsigned> changed_;
  std::set<std::pair<unsigned, std::string>> syncing_;  ///< by turn
};

/// Makes all files and directories below `folder`/`name` stable, and it itself; nothing to do if it is not there. 0, or
/// the error number.
Errno sync_tree(int folder, const std::string& name);

}  // namespace strider::listio
