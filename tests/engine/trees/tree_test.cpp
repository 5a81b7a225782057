// What is true of every tree, whatever its shape; and the shape of a balanced one.
#include "trees/tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "foundation/error.hpp"
#include "trees/paths.hpp"
#include "trees/trees.hpp"

namespace strider {
namespace {

/// Random values for the parameters of any tree, small enough for all of it to be looked at.
Settings draw(const TreeEntry& entry, std::mt19937_64& random) {
  constexpr std::uint64_t counts[] = {0, 1, 2, 3, 4, 7};
  Settings settings;
  for (const Parameter& parameter : entry.parameters) {
    const auto choices = split_choices(parameter.choices);
    const auto least = static_cast<std::uint64_t>(std::max(0.0, parameter.minimum));
    if (!choices.empty()) settings.set(std::string(parameter.name), std::string(choices[random() % choices.size()]));
    else settings.set(std::string(parameter.name), std::max(least, counts[random() % std::size(counts)]));
  }
  return settings;
}

/// Calls `look` with thousands of random trees of every kind that have at most 3000 directories.
template <typename Look>
void each_tree(const Look& look) {
  std::mt19937_64 random(1);
  for (const TreeEntry* entry : all_trees())
    for (int i = 0; i < 2000; ++i) {
      const auto tree = entry->make(draw(*entry, random));
      if (tree->directories() <= 3000 && tree->items() <= 20'000) look(*tree, random);
    }
}

std::string way_to(const Tree& tree, std::uint64_t directory) {
  PathText path;
  tree.append_way(directory, path);
  return std::string(path.view());
}

TEST(EveryTree, DescribesItself) {
  for (const TreeEntry* entry : all_trees()) {
    EXPECT_EQ(find_tree(entry->name), entry);
    for (const std::string_view text : {entry->doc, entry->formula, entry->source}) EXPECT_NE(text, "") << entry->name;
    std::set<std::string_view> names;
    for (const Parameter& parameter : entry->parameters) {
      EXPECT_TRUE(names.insert(parameter.name).second) << parameter.name;
      EXPECT_NE(parameter.doc, "") << parameter.name;
    }
    for (const char* common : {"name_length", "file_size"}) EXPECT_TRUE(names.contains(common)) << entry->name;
  }
  EXPECT_EQ(find_tree("unbalanced"), nullptr);
}

TEST(EveryTree, NumbersItsDirectoriesLevelByLevel) {
  each_tree([](const Tree& tree, std::mt19937_64&) {
    ASSERT_GE(tree.levels(), 1U);
    ASSERT_EQ(tree.first_of_level(0), 0U);
    ASSERT_EQ(tree.first_of_level(1), 1U) << "the top is alone on its level";
    ASSERT_EQ(tree.first_of_level(tree.levels()), tree.directories());
    for (unsigned level = 0; level < tree.levels(); ++level)
      for (std::uint64_t d = tree.first_of_level(level); d < tree.first_of_level(level + 1); ++d)
        ASSERT_EQ(std::ranges::count(way_to(tree, d), '/'), level) << "a step for each level";
  });
}

TEST(EveryTree, HasEachDirectoryOnceAndInOneThatComesBeforeIt) {
  each_tree([](const Tree& tree, std::mt19937_64&) {
    std::map<std::string, std::uint64_t> numbers{{"", 0}};
    std::vector<std::uint64_t> children(tree.directories());
    ASSERT_EQ(way_to(tree, 0), "");
    for (std::uint64_t d = 1; d < tree.directories(); ++d) {
      const std::string way = way_to(tree, d);
      const auto parent = numbers.find(way.substr(0, way.rfind('/')));
      ASSERT_NE(parent, numbers.end()) << way << " comes before the directory that it is in";
      ++children[parent->second];
      ASSERT_TRUE(numbers.emplace(way, d).second) << way << " is there twice";
    }
    for (std::uint64_t d = 0; d < tree.directories(); ++d) ASSERT_EQ(children[d], tree.subdirectories(d));
  });
}

TEST(EveryTree, HasEachItemInOneOfItsDirectories) {
  each_tree([](const Tree& tree, std::mt19937_64&) {
    std::vector<std::uint64_t> found(tree.directories());
    std::uint64_t before = 0;
    for (std::uint64_t item = 0; item < tree.items(); ++item) {
      const std::uint64_t directory = tree.directory_of(item);
      ASSERT_LT(directory, tree.directories());
      ASSERT_GE(directory, before) << "items are numbered directory by directory";
      ++found[before = directory];
    }
    for (std::uint64_t d = 0; d < tree.directories(); ++d) ASSERT_EQ(found[d], tree.items_in(d));
    ASSERT_EQ(tree.directory_of(tree.items()), tree.directory_of(0)) << "and begin again with the first one's";
  });
}

TEST(EveryTree, GivesEachItemAPathOfItsOwn) {
  each_tree([](const Tree& tree, std::mt19937_64&) {
    if (tree.directories() > 40 || tree.items() > 60) return;
    std::set<std::string> paths;
    std::uint64_t expected = 0;
    Paths maker(tree, "case1.0");
    for (std::uint64_t d = 0; d < tree.directories(); ++d, ++expected) paths.insert(maker.directory(d));
    for (const ItemName name : {ItemName::file, ItemName::renamed_file, ItemName::hard_link, ItemName::symbolic_link,
                                ItemName::directory, ItemName::renamed_directory})
      for (const std::uint32_t owner : {0U, 1U, 11U})
        for (std::uint64_t item = 0; item < 2 * tree.items(); ++item, ++expected)  // a mix numbers on
          paths.insert(maker.item(name, {owner, item}));
    ASSERT_EQ(paths.size(), expected);
  });
}

TEST(EveryTree, MakesTheSamePathsInAnyOrder) {
  each_tree([](const Tree& tree, std::mt19937_64& random) {
    Paths used(tree, "top");
    for (int i = 0; i < 10; ++i) {
      const std::uint64_t item = random() % tree.items(), directory = random() % tree.directories();
      ASSERT_STREQ(used.directory(directory), Paths(tree, "top").directory(directory));
      ASSERT_STREQ(used.item(ItemName::file, {2, item}), Paths(tree, "top").item(ItemName::file, {2, item}));
    }
  });
}

TEST(EveryTree, PutsAnItemIntoItsDirectoryByANameOfTheLengthThatIsAskedFor) {
  each_tree([](const Tree& tree, std::mt19937_64& random) {
    Paths paths(tree, "top");
    const std::uint64_t item = random() % tree.items();
    const auto owner = static_cast<std::uint32_t>(random() % 2000);
    const std::string path = paths.item(ItemName::directory, {owner, item}),
                      plain = [&] { return "d" + std::to_string(owner) + "." + std::to_string(item); }();
    const std::string name = path.substr(path.rfind('/') + 1);
    ASSERT_EQ(path.substr(0, path.rfind('/')), paths.directory(tree.directory_of(item)));
    ASSERT_EQ(name.size(), std::max<std::size_t>(plain.size(), tree.name_length()));
    ASSERT_EQ(name, plain + std::string(name.size() - plain.size(), 'x'));
  });
}

TEST(EveryTree, IsDealtOutToItsRanks) {
  each_tree([](const Tree& tree, std::mt19937_64& random) {
    const auto ranks = static_cast<std::uint32_t>(1 + random() % 9);
    std::vector<std::uint32_t> ranks_of_directory(tree.directories());
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const std::uint64_t mine = dealt_directories({rank, ranks}, tree.directories());
      for (std::uint64_t k = 0; k < mine; ++k) ++ranks_of_directory.at(dealt_directory({rank, ranks}, k));
    }
    for (const std::uint32_t count : ranks_of_directory) ASSERT_EQ(count, 1U);
    // A level at a time gives the same: what make-tree does, and removal.
    const Place place{static_cast<std::uint32_t>(random() % ranks), ranks};
    for (unsigned level = 0; level < tree.levels(); ++level)
      for (std::uint64_t k = dealt_directories(place, tree.first_of_level(level));
           k < dealt_directories(place, tree.first_of_level(level + 1)); ++k) {
        ASSERT_GE(dealt_directory(place, k), tree.first_of_level(level));
        ASSERT_LT(dealt_directory(place, k), tree.first_of_level(level + 1));
      }
  });
}

TEST(Balanced, HasAsManyDirectoriesAsTheFormulaSays) {
  EXPECT_EQ(balanced({.depth = 0, .fanout = 9})->directories(), 1U);
  EXPECT_EQ(balanced({.depth = 5, .fanout = 1})->directories(), 6U);
  EXPECT_EQ(balanced({.depth = 2, .fanout = 4})->directories(), 1U + 4 + 16);
  EXPECT_EQ(balanced({.depth = 3, .fanout = 10})->directories(), 1111U);
}

TEST(Balanced, HasItemsEverywhereOrOnTheDeepestLevelAlone) {
  const auto everywhere = balanced({.items = 5, .depth = 2, .fanout = 3});
  EXPECT_EQ(everywhere->items(), 5U * 13);
  EXPECT_EQ(everywhere->directory_of(4), 0U);
  EXPECT_EQ(everywhere->directory_of(5), 1U);
  const auto leaves = balanced({.items = 5, .depth = 2, .fanout = 3, .place = "leaves"});
  EXPECT_EQ(leaves->items(), 5U * 9);
  EXPECT_EQ(leaves->items_in(3), 0U);
  EXPECT_EQ(leaves->items_in(4), 5U);
  EXPECT_EQ(leaves->directory_of(0), 4U);
}

TEST(Balanced, NamesEachStepAfterTheChild) {
  const auto tree = balanced({.items = 100, .depth = 2, .fanout = 3});
  Paths paths(*tree, "case7.0");
  EXPECT_STREQ(paths.directory(0), "case7.0");
  EXPECT_STREQ(paths.directory(2), "case7.0/b1");
  EXPECT_STREQ(paths.directory(12), "case7.0/b2/b2");
  EXPECT_STREQ(paths.item(ItemName::file, {3, 17}), "case7.0/f3.17");
  EXPECT_STREQ(paths.item(ItemName::directory, {3, 417}), "case7.0/b0/b0/d3.417");
}

TEST(Balanced, CountsTenMillionItemsWithoutStoringThem) {
  const auto tree = balanced({.items = 10'000'000, .depth = 1, .fanout = 2, .name_length = 40});
  EXPECT_EQ(tree->items(), 30'000'000U);
  EXPECT_STREQ(Paths(*tree, "case1.0").item(ItemName::file, {5, 29'999'999}),
               ("case1.0/b1/f5.29999999" + std::string(29, 'x')).c_str());
}

/// The key that a shape is refused for.
std::string refused(const Shape& shape) {
  try {
    balanced(shape);
  } catch (const InputError& error) {
    EXPECT_NE(error.remedy(), "");
    return error.key();
  }
  return "";
}

TEST(Balanced, RefusesTreesTooLargeToCount) {
  EXPECT_EQ(refused({.depth = 64}), "depth");
  EXPECT_EQ(refused({.depth = 63}), "");
  EXPECT_EQ(refused({.depth = 40, .fanout = 2}), "depth");
  EXPECT_EQ(refused({.depth = 39, .fanout = 2}), "") << "2^40 - 1 directories";
  EXPECT_EQ(refused({.depth = 5, .fanout = 1'000'000'000}), "depth");
  EXPECT_EQ(refused({.items = std::uint64_t{1} << 40, .depth = 8, .fanout = 2}), "items");
  EXPECT_EQ(refused({.items = std::uint64_t{1} << 40, .depth = 8, .fanout = 2, .place = "leaves"}), "");
  EXPECT_EQ(refused({.items = std::uint64_t{1} << 40, .depth = 7, .fanout = 2}), "");
}

TEST(Balanced, HasNoPathThatIsTooLong) {
  const auto tree = balanced({.depth = 63, .name_length = 255});
  EXPECT_NO_THROW(Paths(*tree, "case18446744073709551615.18446744073709551615").item(ItemName::file, {~0U, 63}));
  const auto wide = balanced({.depth = 1, .fanout = 1'000'000'000, .name_length = 255});
  EXPECT_NO_THROW(Paths(*wide, "case1.0").item(ItemName::file, {~0U, 999'999'999}));
}

}  // namespace
}  // namespace strider
