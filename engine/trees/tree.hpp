#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "foundation/extent.hpp"
#include "foundation/parameter.hpp"
#include "trees/path_text.hpp"

namespace strider {

/// WHERE, for metadata: the shape of a tree of directories and who has how many items in which of them. Pure functions
/// of numbers: no I/O, no MPI, no state. Definitions: docs/metadata.md.
class Tree {
 public:
  virtual ~Tree() = default;

  /// Directories, the top one included. They are numbered level by level, so a directory comes after its parent.
  std::uint64_t directories() const { return first_of_level(levels()); }
  virtual unsigned levels() const = 0;
  /// The first directory of a level; `directories()` for level `levels()`.
  virtual std::uint64_t first_of_level(unsigned level) const = 0;
  /// Directories that are in a directory.
  virtual std::uint64_t subdirectories(std::uint64_t directory) const = 0;
  /// Adds the way from the top to a directory, each step with a slash before it.
  virtual void append_way(std::uint64_t directory, PathText& path) const = 0;

  /// Items of each rank: that many files, and as many directories.
  virtual std::uint64_t items() const = 0;
  virtual std::uint64_t items_in(std::uint64_t directory) const = 0;
  /// The directory of an item; numbers from `items()` on begin again with the first one's.
  virtual std::uint64_t directory_of(std::uint64_t item) const = 0;

  std::uint64_t name_length() const { return name_length_; }  ///< characters of an item's name at least
  std::uint64_t file_bytes() const { return file_bytes_; }    ///< what is written into each file

 protected:
  explicit Tree(const Settings& settings)
      : name_length_(settings.number("name_length")), file_bytes_(settings.number("file_size")) {}

 private:
  std::uint64_t name_length_, file_bytes_;
};

/// A tree's description of itself.
struct TreeEntry {
  std::string_view name;
  std::string_view doc;
  std::string_view formula;
  std::string_view source;
  std::span<const Parameter> parameters;
  /// Throws InputError.
  std::unique_ptr<Tree> (*make)(const Settings& settings);
};

template <typename T>
std::unique_ptr<Tree> make_tree(const Settings& settings) {
  return std::make_unique<T>(settings);
}

/// All trees, in the order of the build list.
std::span<const TreeEntry* const> all_trees();
/// Null where there is none of that name.
const TreeEntry* find_tree(std::string_view name);

/// Parameters of every tree.
inline constexpr Parameter name_length_parameter{
    "name_length",
    Kind::count,
    "0",
    "Minimum length of an item's name in characters; shorter names are padded.",
    0,
    255};
inline constexpr Parameter file_size_parameter{
    "file_size", Kind::bytes,
    "0",         "Bytes that create and small-write write into each file, and small-read reads from it, in one call.",
    0,           1 << 30};

/// The directories of a tree that a rank deals with where the ranks share it out: number k of them.
constexpr std::uint64_t dealt_directory(Place place, std::uint64_t k) { return place.rank + k * place.ranks; }
constexpr std::uint64_t dealt_directories(Place place, std::uint64_t directories) {
  return directories > place.rank ? (directories - place.rank - 1) / place.ranks + 1 : 0;
}

}  // namespace strider
