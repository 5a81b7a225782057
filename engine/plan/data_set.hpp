#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/operation.hpp"
#include "verify/packet.hpp"

namespace strider {

struct Case;
class FileAssignments;
class Interface;
class Pattern;
class Tree;

/// Consecutive files of one size.
struct EqualFiles {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;  ///< of each
};

/// What one rank has written in a phase.
struct WrittenPart {
  std::uint64_t requests = 0;  ///< completed, in its order, in all passes
  std::uint64_t end = 0;       ///< behind the last byte that it wrote to its file
};

/// Items of a rank in its tree, and their names and contents.
struct TreeItems {
  Things present;
  std::uint64_t files = 0, directories = 0;
  std::uint64_t file_bytes = 0;     ///< size of each file
  std::uint64_t written_bytes = 0;  ///< as much of each holds what was written last
  std::uint64_t generation = 0;     ///< of what was written last
  bool renamed_files = false, renamed_directories = false;
  bool renamed_when_linked = false;  ///< symbolic links were made when files had their other name
};

/// What each rank has in the trees of a data set. Files are the first ones in the order of the rank, and so are
/// directories.
struct TreeState : TreeItems {
  std::uint64_t hard_links = 0, symbolic_links = 0;
  std::uint64_t order_hash = 0;  ///< Case::order_hash of the case that made the items
};

/// What the files of a data set hold.
struct DataSetState {
  std::uint64_t generation = 0;       ///< of their data; 0: there are no files yet
  std::uint64_t last_generation = 0;  ///< the highest one of which writing was ever begun
  std::uint64_t geometry = 0;         ///< Case::geometry of the writer
  bool incomplete = false;            ///< the phase that wrote last did not end, or failed
  std::vector<EqualFiles> files;
  std::vector<WrittenPart> parts;  ///< by rank of the writer; empty: every byte of every file was written (dense)
  TreeState tree;                  ///< of a set of cases of metadata

  bool exists() const { return generation > 0; }
  bool dense() const { return parts.empty(); }
  std::uint64_t file_count() const;
  /// 0 where there is no such file.
  std::uint64_t bytes_of(std::uint64_t file) const;
  std::uint64_t largest_file() const;
};

/// Data in IOR's form, as a plan asks for it; what it leaves open (0) is that of the case, whose pattern is segmented.
struct PacketForm {
  Packet::Type type = Packet::Type::timestamp;
  std::uint32_t signature = 0;
  std::uint64_t transfer_bytes = 0, block_bytes = 0;
  std::uint32_t tasks = 0;  ///< whose blocks share a file; 1: file n is that of rank n

  bool complete() const { return transfer_bytes > 0 && block_bytes > 0 && tasks > 0; }
};

/// Files that outlive the run: their data depends on the set, not on run and case, so that any case can check it.
struct DataSet {
  std::string name;    ///< empty: the files belong to the run
  bool known = false;  ///< the plan says what follows
  std::string id;      ///< in the marker of its directory; empty: the directory has none
  std::uint64_t seed = 0;
  std::uint64_t workload = 0;
  std::string prefix = "data.";  ///< of the files' names
  unsigned digits = 1;           ///< least digits of the file's number in its name; 0: the prefix is the name
  std::string suffix;            ///< of the files' names
  bool directories = false;      ///< each file is in a directory of its own, which has the file's number as name
  std::uint64_t first_file = 0;  ///< number of the case's first file
  std::string format;            ///< the interface whose own format the files have; empty: bytes at their offsets
  bool whole = false;            ///< its files are read from end to end, whatever the pattern, which gives their size
  bool made_before = false;      ///< by an earlier case of the plan
  bool loose = false;            ///< phases may write any part of its files: what they hold then is not for the engine
  std::uint64_t requests = 0;    ///< that each rank reads at most, in its order; 0: all
  DataSetState state;            ///< before the run
  std::optional<PacketForm> packet;  ///< the data of its files; otherwise Strider's own

  bool used() const { return !name.empty(); }
  std::string file_name(std::uint64_t file) const;
};

/// The data of a file of a case, if it is in IOR's form.
std::optional<Packet> packet_of(const Case& test, std::uint64_t file);

/// Whether some operation of a case writes.
bool writes_any(const Case& test);

/// Whether the writers of a case write each byte of each of its files, as far as the pattern shows.
bool writes_every_byte(const Case& test, const Pattern& pattern, const FileAssignments& assignments);

/// Throws InputError where a case asks of its data set what no data set can do, or not this one as the plan knows it.
void check_data_set(const Case& test, const Pattern& pattern, const Interface& interface,
                    const FileAssignments& assignments);
/// Throws an InputError about the data set of a case.
[[noreturn]] void refuse(const Case& test, const std::string& reason, const std::string& remedy);
/// Files of a set are below its directory, for this case and for those that come after it. Throws InputError.
void check_place(const Case& test, const Interface& interface);
/// The same as check_data_set for a case of metadata.
void check_tree_set(const Case& test, const Tree& tree, const Interface& interface);
/// What such a case leaves of what it found, if no deadline ends its phases.
void follow(const Case& test, const Tree& tree, DataSetState& state);
/// Throws InputError where a case cannot use its data set as it is.
void check_use(const Case& test, const Pattern& pattern, const FileAssignments& assignments, const DataSetState& state);

}  // namespace strider
