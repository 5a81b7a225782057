#pragma once
#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace forgetfs {

using Bytes = std::vector<char>;

/// A write or a truncation that is not on the disk yet.
struct Piece {
  std::uint64_t offset = 0;  ///< of a truncation: the new size
  Bytes data;
  bool truncates = false;
};

struct Node;
using Ref = std::shared_ptr<Node>;
using Names = std::map<std::string, Ref>;

/// A file, folder or symbolic link. Content and names have two images: the present one of programs, and the one that a
/// power cut leaves. Mode, owner, times and extended attributes have one, which survives.
struct Node {
  std::uint64_t number = 0;
  mode_t mode = 0;
  uid_t owner = 0;
  gid_t group = 0;
  nlink_t links = 1;
  timespec accessed{}, modified{};
  std::map<std::string, std::string> attributes;
  Bytes now, disk;
  Bytes old;               ///< the data of each place before its last change
  std::vector<Piece> log;  ///< from `disk` to `now`
  Names names, stable_names;
  std::string target;          ///< of a symbolic link
  std::weak_ptr<Node> parent;  ///< of the name that it got last
  std::string name;
  std::uint64_t lookups = 0;  ///< that the kernel has not forgotten

  bool is_folder() const { return S_ISDIR(mode); }
  std::string path() const;
  /// A write, as it lands.
  void put(Piece piece);
  void make_stable();
  /// A power cut, as far as the content is concerned.
  void lose_content();
  /// Whether a power cut would lose nothing of it.
  bool is_stable() const { return log.empty() && (!is_folder() || names == stable_names); }
  /// The state of the disk if each unit of each unsynced write lands or not.
  Bytes torn(std::uint64_t unit, std::mt19937_64& random) const;
};

/// Which names a sync of a file makes stable.
enum class NameSync {
  with_file,   ///< as ext4: a file's present name and the folders above become stable with it
  folder_only  ///< as POSIX promises: names become stable by a sync of their folder only
};

/// Earlier states of files and folders.
using Kept = std::vector<std::pair<Ref, Node>>;

class Tree {
 public:
  explicit Tree(NameSync name_sync);
  const Ref& root() const { return root_; }
  /// The node of a number; nothing if it is gone.
  Ref find(std::uint64_t number) const;
  Ref make(mode_t mode, uid_t owner, gid_t group);
  void give_name(const Ref& folder, const std::string& name, const Ref& node);
  void take_name(const Ref& folder, const std::string& name);
  void remember(const Ref& node);  ///< one lookup more
  void forget(std::uint64_t number, std::uint64_t lookups);

  void sync(const Ref& node);
  void sync_all();
  /// Loses all that is not stable. With a unit, each unit of each unsynced write lands or not: torn and reordered.
  void cut() { lose(0, 0); }
  void tear(std::uint64_t unit, std::uint64_t seed) { lose(unit, seed); }
  /// A folder, and all that is below it now or would be after a power cut. The folder is named by its path from the
  /// root, such as /a/b; nothing if it is not there.
  Kept keep(const std::string& path) const;
  /// Undoes all changes since. With `cut`, also loses data that was not stable then.
  void put_back(const Kept& kept, bool cut);
  void for_each(const std::function<void(const Ref&)>& action) const;
  /// Nodes that the kernel knows.
  std::vector<std::uint64_t> known() const;

 private:
  void lose(std::uint64_t unit, std::uint64_t seed);
  void count_links();

  NameSync name_sync_;
  std::uint64_t next_ = 1;
  Ref root_;
  std::map<std::uint64_t, Ref> known_;
};

}  // namespace forgetfs
