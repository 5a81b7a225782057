#pragma once
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "foundation/folder.hpp"
#include "interfaces/posix_directory.hpp"
#include "operations/metadata_executor.hpp"
#include "operations/work.hpp"
#include "plan/steps.hpp"
#include "trees/trees.hpp"

namespace strider {

/// A rank in a real folder that executes operations on the items of a tree, one operation after the other.
class Tour {
 public:
  explicit Tour(const Shape& shape, Place place = {}, OrderKind kind = OrderKind::forward)
      : tree(balanced(shape)), order(kind, tree->items(), 1), memory(shape.file_size) {
    test.open_files = 5;
    work = {.tree = tree.get(),
            .directory = &directory,
            .top = "top",
            .place = place,
            .order = &order,
            .population = &population,
            .memory = memory,
            .open_files = &open_files};
  }

  /// Executes an operation on all its items, and has it in the books; what it found wrong, in words.
  std::vector<std::string> run(Operation operation) {
    execute(operation);
    population.complete(operation, *tree, tree->items(), false);
    return wrong();
  }
  /// Without the books.
  void execute(Operation operation) {
    work.operation = operation;
    tally = {};
    findings = {};
    Pace pace(timer);
    MetadataExecutor(work, timer, tally, watch, findings).run(operations(operation), 0, pace);
  }
  std::uint64_t operations(Operation operation) const {
    if (operation == Operation::lseek || operation == Operation::close) return open_files.size();
    return operations_of(test, *tree, operation, work.place);
  }
  std::vector<std::string> wrong() const {
    std::vector<std::string> words;
    for (const Findings::Finding& finding : findings.first()) words.push_back(finding.file + ": " + finding.message);
    return words;
  }
  std::string path(const std::string& below) const { return folder.file("top" + below); }
  bool exists(const std::string& below) const {
    return std::filesystem::exists(std::filesystem::symlink_status(path(below)));
  }
  struct stat state(const std::string& below) const {
    struct stat found{};
    if (::lstat(path(below).c_str(), &found) != 0) ADD_FAILURE() << below << " is not there";
    return found;
  }
  std::string contents(const std::string& below) const {
    std::ifstream file(path(below), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& below, const std::string& text) const {
    std::ofstream(path(below), std::ios::binary) << text;
  }

  const Folder folder;
  PosixDirectory directory{folder.file("")};
  std::unique_ptr<Tree> tree;
  Order order;
  std::vector<std::byte> memory;
  std::vector<Directory::Handle> open_files;
  Population population;
  Case test;
  MetadataWork work;
  Timer timer;
  Tally tally;
  PatientWatch watch;
  Findings findings;
};

using Names = std::set<std::string>;
using Words = std::vector<std::string>;
inline const Words nothing;

/// Two directories, each with two files and two directories as items; files of 6 bytes.
class MetadataExecutorTest : public testing::Test {
 protected:
  MetadataExecutorTest() {
    for (std::size_t i = 0; i < tour.memory.size(); ++i) tour.memory[i] = static_cast<std::byte>("strider"[i]);
    tour.run(Operation::make_tree);
  }
  /// Everything in the tree, by its path below the top.
  Names names() const {
    Names all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(tour.path("")))
      all.insert(entry.path().string().substr(tour.path("").size()));
    return all;
  }
  void expect_unchanged(Operation operation) {
    const Names before = names();
    EXPECT_EQ(tour.run(operation), nothing);
    EXPECT_EQ(names(), before);
  }

  Tour tour{{.items = 2, .depth = 1, .fanout = 1, .file_size = 6}};
  const Names files{"/f0.0", "/f0.1", "/b0/f0.2", "/b0/f0.3"}, tree{"/b0"};
};
inline Names operator+(Names one, const Names& other) {
  one.insert(other.begin(), other.end());
  return one;
}

/// Descriptors that this process has open.
inline auto open_descriptors() {
  const std::filesystem::directory_iterator descriptors("/proc/self/fd");
  return std::distance(begin(descriptors), end(descriptors));
}

}  // namespace strider
