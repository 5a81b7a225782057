#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "foundation/extent.hpp"
#include "interfaces/directory.hpp"

namespace strider {

/// WHAT: the operations of data, then those of metadata.
enum class Operation {
  write,
  rewrite,
  read,
  reread,
  read_modify_write,
  read_write,
  prefill,
  make_tree,
  create,
  mknod,
  open,
  lseek,
  close,
  open_close,
  stat,
  access,
  chmod,
  utime,
  truncate,
  expand,
  small_write,
  small_read,
  setxattr,
  getxattr,
  rename,
  link,
  symlink,
  readlink,
  unlink,
  mkdir,
  stat_directory,
  chdir,
  rename_directory,
  rmdir,
  readdir,
  readdir_stat,
  remove_tree,
  mix,
};

/// What operations of metadata make, need and remove.
enum class Thing : unsigned { tree, files, directories, hard_links, symbolic_links, attributes, open_files };
inline constexpr unsigned thing_count = 7;
std::string_view name_of(Thing thing);
std::optional<Thing> find_thing(std::string_view name);

/// A set of things.
class Things {
 public:
  constexpr Things() = default;
  constexpr Things(std::initializer_list<Thing> things) {
    for (const Thing thing : things) add(thing);
  }
  constexpr bool has(Thing thing) const { return (bits_ & bit(thing)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr void add(Thing thing) { bits_ |= bit(thing); }
  constexpr void add(Things others) { bits_ |= others.bits_; }
  constexpr void remove(Things others) { bits_ &= ~others.bits_; }
  constexpr Things both(Things others) const {
    Things result = *this;
    result.bits_ &= others.bits_;
    return result;
  }
  bool operator==(const Things&) const = default;

 private:
  static constexpr unsigned bit(Thing thing) { return 1U << static_cast<unsigned>(thing); }
  unsigned bits_ = 0;
};

enum class OperatesOn { nothing, files, directories, tree };

/// What a phase of metadata does to a tree.
struct MetadataOperation {
  OperatesOn operates_on = OperatesOn::nothing;
  MetadataCalls calls = {};  ///< that the interface must offer
  Things needs = {};         ///< must be there before
  Things avoids = {};        ///< must not be there before
  Things makes = {};
  Things removes = {};
  enum class Population { same, changes } population = Population::same;  ///< whether items differ afterwards
  enum class Owner { acting, own } owner = Owner::acting;                 ///< own: never another rank's items
  enum class Mixes { no, yes } mixes = Mixes::no;                         ///< may be part of a mix
  enum class Contents { any, some } contents = Contents::any;             ///< some: files must have a size
};

struct OperationEntry {
  Operation operation;
  std::string_view name;
  std::string_view direction;  ///< read, write, both; metadata
  std::string_view doc;
  MetadataOperation metadata = {};
};
/// The operations a suite may name.
std::span<const OperationEntry> all_operations();
const OperationEntry& entry_of(Operation operation);
/// Null where there is none of that name.
const OperationEntry* find_operation(std::string_view name);
std::string_view name_of(Operation operation);
/// "files", "directories", "tree"; empty for data.
std::string_view name_of(OperatesOn operates_on);

constexpr bool is_metadata(Operation operation) { return operation > Operation::prefill; }
constexpr bool reads(Operation operation) {
  return operation == Operation::read || operation == Operation::reread || operation == Operation::read_modify_write ||
         operation == Operation::read_write;
}
constexpr bool writes(Operation operation) { return operation != Operation::read && operation != Operation::reread; }
/// With a growing shift: how many shifts there are from the rank that works on an item to the one that made it.
std::uint32_t steps_of_shift(const OperationEntry& entry);
/// Whose share of the pattern an operation works on: a lone writer's, or every reader's.
constexpr Direction role_of(Operation operation) { return writes(operation) ? Direction::write : Direction::read; }

}  // namespace strider
