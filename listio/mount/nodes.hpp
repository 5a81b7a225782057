#pragma once
#include <cerrno>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "listio/protocol/messages.hpp"

namespace strider::listio {

/// The inodes that the kernel knows, by number, with the paths that they have now.
///
/// A file or directory has one node as long as the kernel looks at it or has it open, also under another path: other
/// mounts rename and replace files. Not for several threads at once.
class Nodes {
 public:
  using Number = std::uint64_t;
  static constexpr Number root = 1;

  /// The identity of a node, with any path: a number of its own, 0 for the root.
  struct Identity {
    FileId id = 0;
    EntryKind kind = EntryKind::directory;
  };

  Nodes();
  /// The node of the file at a path, with one more lookup. Another node that had the path is without one now.
  Number look_up(const std::string& path, const Identity& found);
  const Identity& identity(Number number) const;
  /// The kernel takes back `lookups` of them.
  void forget(Number number, std::uint64_t lookups);
  /// IoError of a node without a name: ENOENT of a removed directory; ESTALE of others, for the kernel to look again.
  const std::string& path(Number number) const;
  bool has_path(Number number) const { return error_of(number) == 0; }
  /// A directory that was removed here: it is nowhere else.
  bool is_gone(Number number) const { return error_of(number) == ENOENT; }
  /// A node was found at another path.
  void move(Number number, const std::string& path);
  /// The path of a name in a directory. IoError with ENAMETOOLONG if servers do not take it.
  std::string child(Number parent, std::string_view name) const;
  /// The file at `from` and everything below it is now at `to`; the earlier file at `to` has no name any more.
  void rename(const std::string& from, const std::string& to);
  /// The file at the path has no name any more.
  void remove(const std::string& path);
  void remove_directory(const std::string& path);

  void open(Number number);
  void close(Number number);
  bool is_open(const std::string& path) const;
  std::size_t count() const { return nodes_.size(); }

 private:
  struct Node {
    std::string path;
    Identity identity{};
    std::uint64_t lookups = 0, opens = 0;
    int error = 0;  ///< of a request for its name; 0: it has one
  };
  int error_of(Number number) const;
  void remove(const std::string& path, int error);
  void drop_if_unused(Number number);

  std::unordered_map<Number, Node> nodes_;
  std::map<std::string, Number> numbers_;  ///< of the named ones, in the order of paths
  std::unordered_map<FileId, Number> by_id_;
  Number next_ = root + 1;
};

}  // namespace strider::listio
