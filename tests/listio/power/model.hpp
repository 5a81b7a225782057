#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "listio/protocol/file_id.hpp"

namespace strider::listio {

using Bytes = std::vector<std::byte>;

/// What may be left of a file after a power cut.
struct FileModel {
  Bytes now;
  Bytes stable;                 ///< as of the last sync; nothing before the first one
  std::vector<Bytes> since;     ///< its content after each change since then
  bool was_truncated = false;   ///< since then
  std::set<std::string> paths;  ///< that it may have; the last sync left one of them, or none
  bool may_be_gone = false;     ///< no name at all
  bool is_in_doubt = false;     ///< one of its copies may have lost unsynced data
  std::string path;             ///< now; empty: removed
};

/// What may be left of a volume.
class Model {
 public:
  void create(FileId file, const std::string& path);
  void write(FileId file, std::uint64_t offset, const Bytes& bytes);
  void truncate(FileId file, std::uint64_t bytes);
  /// Also a directory: all files below it.
  void rename(const std::string& from, const std::string& to);
  void unlink(const std::string& path);
  /// Data of this file, and all names, are stable.
  void sync(FileId file);
  void sync_names();
  /// A server has lost its power: unsynced data is old or new from now on, until the next sync.
  void doubt();

  /// Files that have a name now.
  std::map<std::string, FileId> named() const;
  const Bytes& content(FileId file) const { return files_.at(file).now; }
  /// The errors of a volume in which `found` has the path and the content of each file that could be read, and
  /// `damaged` the paths of those that could not; empty if there are none.
  std::vector<std::string> mistakes(const std::map<std::string, std::pair<FileId, Bytes>>& found,
                                    const std::set<std::string>& damaged) const;
  /// The same of a volume that runs, and of which no server was cut but those that led to doubts.
  std::vector<std::string> mistakes_now(const std::map<std::string, std::pair<FileId, Bytes>>& found) const;

 private:
  void changed(FileModel& file) { file.since.push_back(file.now); }
  std::map<FileId, FileModel> files_;
};

}  // namespace strider::listio
