#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "trees/tree.hpp"

namespace strider {

/// The first letter of an item's name says what it is.
enum class ItemName : char {
  file = 'f',
  renamed_file = 'r',
  hard_link = 'l',
  symbolic_link = 's',
  directory = 'd',
  renamed_directory = 'e'
};

/// Which item: number `number` of rank `owner` of the tree.
struct Item {
  std::uint32_t owner = 0;
  std::uint64_t number = 0;
};

/// Makes paths of a tree from numbers. Items that follow each other in a directory cost a name each.
class Paths {
 public:
  /// `top`: the tree's own directory.
  Paths(const Tree& tree, std::string_view top) : tree_(tree) {
    path_.append(top);
    top_ = way_ = path_.size();
  }

  const char* directory(std::uint64_t directory) {
    enter(directory);
    return path_.c_str();
  }
  const char* item(ItemName what, Item item) {
    enter(tree_.directory_of(item.number));
    path_.append('/');
    append_name(tree_, what, item, path_);
    return path_.c_str();
  }
  /// Without the way to it.
  static void append_name(const Tree& tree, ItemName what, Item item, PathText& text) {
    const std::size_t begin = text.size();
    text.append(static_cast<char>(what));
    text.append_number(item.owner);
    text.append('.');
    text.append_number(item.number);
    text.fill_up(begin + tree.name_length(), 'x');
  }

 private:
  void enter(std::uint64_t directory) {
    if (directory != current_) {
      path_.cut(top_);
      tree_.append_way(directory, path_);
      current_ = directory;
      way_ = path_.size();
    }
    path_.cut(way_);
  }

  const Tree& tree_;
  PathText path_;
  std::size_t top_ = 0, way_ = 0;
  std::uint64_t current_ = 0;
};

}  // namespace strider
