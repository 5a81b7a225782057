#pragma once
#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "foundation/descriptor.hpp"
#include "listio/protocol/messages.hpp"
#include "listio/server/data_store.hpp"
#include "listio/server/entry_copies.hpp"
#include "listio/server/name_changes.hpp"

namespace strider::listio {

/// The volume's names: directories of the file system below `names`, and for each file a small file that says which
/// number the file has and how it is spread. Paths were checked by `is_path`; symbolic links are not followed, so
/// nothing outside can be reached. For several threads at once. All calls end with 0 or an error number: EUCLEAN where
/// the small file is damaged.
///
/// Nothing but `sync` makes changes stable, unless there are very many. The destructor does, and says so in the folder;
/// where a server ended without that, the first sync is of all names.
///
/// Each entry has a copy by the number of its file, which is made before the file gets a name and removed after it has
/// lost it. So data of a file without a copy are of no use to any client, even with renames in the meantime.
class Names {
 public:
  /// In `folder`, an open directory; `servers` is how many there are. std::system_error if that cannot be.
  Names(int folder, std::uint32_t servers);
  ~Names();
  Names(const Names&) = delete;
  Names& operator=(const Names&) = delete;

  Errno open(const OpenRequest& request, Entry& entry);
  Errno stat(const std::string& path, Entry& entry);
  Errno unlink(const std::string& path, Orphan& orphan);
  Errno rename(const std::string& from, const std::string& to, Orphan& orphan);
  Errno make_directory(const std::string& path, std::uint32_t mode);
  Errno remove_directory(const std::string& path);
  Errno list(const std::string& path, std::uint64_t cookie, DirectoryPage& page);
  Errno set(const SetEntryRequest& request);
  /// Looks through all names, unless it is a file whose copy has its path. ENOENT if it has none.
  Errno locate(const LocateRequest& request, std::string& path);
  Errno make_link(const std::string& path, const std::string& text);
  Errno read_link(const std::string& path, std::string& text) const;

  // Requests of a check of the volume.

  Errno state(NamesState& state) const;
  Errno check_entry(const std::string& path, EntryCheck& check);
  Errno list_copies(std::uint64_t cookie, DataPage& page) const;
  Errno check_copy(FileId file, CopyCheck& check);
  /// EEXIST if there is nothing to repair; `now` is where it is then.
  Errno repair(const RepairNameRequest& request, LinkText& now);
  /// Which entry is damaged, and in which way, as a sentence; empty if the name has none that is.
  std::string damage_of(const std::string& path) const;
  /// Earlier changes of names are on stable storage. Once this has failed, the kernel may have dropped data:
  /// it fails from then on.
  using Part = SyncNamesRequest::Part;
  Errno sync(Part part = Part::all);

 private:
  /// Where a name is: the directory that it stands in, open, and the name.
  struct Place {
    Descriptor folder;
    std::string name;
  };
  Errno find(const std::string& path, Place& place) const;
  Errno open_directory(const std::string& path, Descriptor& directory) const;
  /// The file at a name; `entry` is the one that clients get.
  struct Look {
    Entry entry;
    bool has_checksum = true;
    std::string text, damage;  ///< of an entry: its parts, and why it is damaged
  };
  /// EUCLEAN if the entry is damaged.
  Errno look(int folder, const std::string& name, Look& look) const;
  Errno read_entry(int folder, const std::string& name, Entry& entry) const;
  Errno create(const OpenRequest& request, Entry& entry);
  Errno link(const EntryCopy& copy, std::uint32_t mode);
  Errno judge(const std::string& path, Place& place, Look& look) const;
  Errno read_copy(FileId file, CopyCheck& check) const;
  bool leads_to(const std::string& path, FileId file) const;
  Errno search(int folder, const std::string& path, const LocateRequest& request, std::string& found) const;
  Errno replace_entry(const Place& place, FileId file, const LayoutWords& layout, std::uint32_t mode);
  void change_entry(const std::string& path);
  void forget_entry(const std::string& path);
  void change_set_aside(const std::string& path);
  Errno rewrite_entry(const std::string& path, FileId file);
  Errno rewrite_copy(const std::string& path);
  Errno set_aside_entry(const std::string& path, std::string& now);
  Errno set_aside_copy(FileId file, std::string& now);
  Errno make_way(const std::string& path);
  Errno restore(FileId file, std::string& now);
  /// Changes that are not stable take memory: there are fewer than `most_changes` when this returns 0.
  Errno limit_changes();
  Errno sync_all();
  /// The file or directory to sync next, open, unless that failed.
  struct Changed {
    Descriptor file;  ///< none of a removed file
    Errno error = 0;
  };
  std::optional<Changed> next_change(unsigned turn);
  Errno sync_turn(unsigned turn);
  Errno sync_changes(Part part);

  std::uint32_t servers_;
  bool all_changed_;                   ///< a server that ended before may have left changes that are not stable
  Descriptor folder_, names_, fresh_;  ///< the server's, the root, and a folder of files that have no name yet
  NameChanges changes_;
  EntryCopies copies_;
  Errno failure_ = 0;      ///< of an earlier sync
  std::mutex mutex_;       ///< of calls that change names
  std::mutex sync_mutex_;  ///< of calls that make changes stable; locked before the other one
  std::atomic<std::uint64_t> generation_;
};

}  // namespace strider::listio
