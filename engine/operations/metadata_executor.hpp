#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "foundation/clock.hpp"
#include "foundation/pace.hpp"
#include "interfaces/directory.hpp"
#include "operations/findings.hpp"
#include "operations/link_counts.hpp"
#include "operations/operation_loop.hpp"
#include "operations/population.hpp"
#include "operations/transfer.hpp"
#include "patterns/order.hpp"
#include "verify/data.hpp"

namespace strider {

/// The work of a rank in a phase of metadata: one operation on each of its items.
struct MetadataWork {
  Operation operation = Operation::stat;
  const Tree* tree = nullptr;
  Directory* directory = nullptr;
  std::string top;  ///< the tree's own directory
  Place place;      ///< of the rank whose items these are, among those who share its tree
  std::uint64_t tree_number = 0;
  const Order* order = nullptr;
  const Population* population = nullptr;
  SyncPolicy sync = SyncPolicy::none;
  std::span<std::byte> memory;                           ///< at least the size of a file
  std::optional<FileData::Identity> contents;            ///< of what is written or read; `file` is set for each
  std::vector<Directory::Handle>* open_files = nullptr;  ///< what open keeps open
  enum class Checks { yes, no } checks = Checks::yes;    ///< no: the interface stores nothing
};

/// Executes operations of metadata on items, one after the other. No allocation, no lock, no formatting in its loop.
class MetadataExecutor {
 public:
  MetadataExecutor(const MetadataWork& work, const Timer& timer, Tally& tally, Watch& watch, Findings& findings);

  /// Executes operations 0 … `last` - 1, from where the last call left off. `deadline_ticks`: 0 for none. Throws
  /// IoError.
  Stop run(std::uint64_t last, std::uint64_t deadline_ticks, Pace& pace);

  /// One operation on one item; returns its ticks. For mixes.
  std::uint64_t execute(Operation operation, Item item);
  /// One directory of the tree.
  std::uint64_t execute_on_directory(Operation operation, std::uint64_t directory);

 private:
  void name(Operation operation, Item item);
  void name_target(ItemName name);
  void call(Operation operation);
  void check(Operation operation);
  template <typename Action>
  void with_file(OpenMode mode, const Action& action);
  void write_into(OpenMode mode);
  void read_back();
  FileData contents_of_item() const;
  void generate();
  void prepare_to_read();
  void check_contents();
  void check_state(ItemType type);
  void check_link();
  void check_entries(std::uint64_t directory);
  void expect(bool right, const char* what, std::uint64_t found, std::uint64_t expected);
  Item item_of(std::uint64_t number_in_order) const;
  std::uint64_t execute_number(std::uint64_t number);

  const MetadataWork& work_;
  OperatesOn operates_on_;
  const Timer& timer_;
  Tally& tally_;
  OperationLoop loop_;
  Findings& findings_;
  LinkCounts links_;
  Directory& directory_;
  const Population& population_;
  Paths paths_, others_;
  bool memory_is_spoilt_ = false;
  Item item_;
  const char* path_ = "";
  const char* other_ = "";
  ItemState state_;
  std::uint64_t moved_bytes_ = 0;  ///< by the current operation
  std::uint64_t offset_ = 0;
  std::uint64_t entries_ = 0;
  std::string_view text_;
  std::array<char, PathText::capacity> text_buffer_{};
  PathText target_;
};

}  // namespace strider
