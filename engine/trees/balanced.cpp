#include <array>
#include <string>
#include <vector>

#include "foundation/error.hpp"
#include "trees/tree.hpp"

namespace strider {
namespace {

constexpr std::uint64_t most_levels = 64;
constexpr std::uint64_t most_directories = std::uint64_t{1} << 40;
constexpr std::uint64_t longest_step = 22, top_and_item = 304;  // "/b" and a number; "case", a file, a name of 255
static_assert(most_levels * longest_step + top_and_item < PathText::capacity, "no path of a tree is too long");

/// First directories of levels 0, 1, …, and the number of all behind them.
std::vector<std::uint64_t> level_starts(std::uint64_t depth, std::uint64_t fanout) {
  if (depth >= most_levels)
    throw InputError("depth", "depth is too large: a tree has fewer than " + std::to_string(most_levels) + " levels",
                     "a smaller depth");
  std::vector<std::uint64_t> starts{0, 1};
  std::uint64_t width = 1;
  for (std::uint64_t level = 1; level <= depth; ++level) {
    if (width > (most_directories - starts.back()) / fanout)
      throw InputError("depth", "the tree would have more than 2^40 directories", "a smaller depth or fanout");
    width *= fanout;
    starts.push_back(starts.back() + width);
  }
  return starts;
}

class Balanced final : public Tree {
 public:
  explicit Balanced(const Settings& settings)
      : Tree(settings),
        fanout_(settings.number("fanout")),
        per_directory_(settings.number("items")),
        starts_(level_starts(settings.number("depth"), fanout_)),
        first_with_items_(settings.text("place") == "leaves" ? starts_[starts_.size() - 2] : 0) {
    constexpr std::uint64_t most_items = std::uint64_t{1} << 48;
    if (per_directory_ > most_items / (directories() - first_with_items_))
      throw InputError("items", "a rank would have more than 2^48 items", "fewer items, or a smaller tree");
  }

  unsigned levels() const override { return static_cast<unsigned>(starts_.size() - 1); }
  std::uint64_t first_of_level(unsigned level) const override { return starts_[level]; }
  std::uint64_t subdirectories(std::uint64_t directory) const override {
    return directory < starts_[starts_.size() - 2] ? fanout_ : 0;
  }
  std::uint64_t items() const override { return per_directory_ * (directories() - first_with_items_); }
  std::uint64_t items_in(std::uint64_t directory) const override {
    return directory >= first_with_items_ ? per_directory_ : 0;
  }
  std::uint64_t directory_of(std::uint64_t item) const override {
    return first_with_items_ + item % items() / per_directory_;
  }

  /// Child c of directory d is directory d * fanout + 1 + c, and is called b<c> in it.
  void append_way(std::uint64_t directory, PathText& path) const override {
    std::array<std::uint64_t, most_levels> children{};
    unsigned steps = 0;
    for (; directory != 0; directory = (directory - 1) / fanout_) children[steps++] = (directory - 1) % fanout_;
    while (steps > 0) {
      path.append("/b");
      path.append_number(children[--steps]);
    }
  }

 private:
  std::uint64_t fanout_, per_directory_;
  std::vector<std::uint64_t> starts_;
  std::uint64_t first_with_items_;
};

constexpr Parameter balanced_parameters[] = {
    {"items", Kind::count, "null",
     "Files of each rank in each directory, and as many directories for operations that create directories.", 1, 1e12,
     std::string_view{}, true},
    {"depth", Kind::count, "0", "Levels of directories below the top one.", 0, most_levels - 1},
    {"fanout", Kind::count, "1", "Directories in each directory above the deepest level.", 1, 1e9},
    {"place", Kind::choice, "\"all\"", "Directories that hold items: all, or only those of the deepest level (leaves).",
     no_limit, no_limit, "all|leaves"},
    name_length_parameter,
    file_size_parameter,
};

}  // namespace

extern const TreeEntry balanced_entry{
    "balanced",
    "A tree in which every directory above the deepest level has the same number of subdirectories, and every "
    "directory (or every leaf) holds the same number of items of each rank.",
    "directories = 1 + fanout + ... + fanout^depth; child c of directory d is directory d * fanout + 1 + c; item i of "
    "a rank is in directory first + i div items, first = 0 or that of the deepest level",
    "mdtest -z depth -b fanout -I items (-L: place = \"leaves\")",
    balanced_parameters,
    make_tree<Balanced>};

}  // namespace strider
