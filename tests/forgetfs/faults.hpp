#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tree.hpp"

namespace forgetfs {

/// A call of the kernel, as the log has it and as faults are chosen by it.
struct Call {
  std::string op;
  Ref node;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  int flags = 0;        ///< of open
  bool stable = false;  ///< its own flags ask for stable data
  std::string path;
  const Bytes* data = nullptr;  ///< of a write
};

struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
  bool holds(std::uint64_t place) const { return begin <= place && place < end; }
};

/// What goes wrong in a call.
struct Fault {
  std::string op, kind;
  std::string name;            ///< of files whose path has this in it
  std::uint64_t file = 0;      ///< the k-th of those files that is created, from 1; 0: each
  bool read_only = false;      ///< of files that were opened for reading
  std::uint64_t call = 0;      ///< the k-th of those that fit, from 1; 0: each
  std::optional<Range> range;  ///< calls that touch it, and the bytes that are meant
  std::optional<std::uint64_t> amount;
  std::uint64_t seen = 0, hits = 0;

  /// The bytes of a request that are meant.
  Range within(const Call& call) const;
};

/// Planned faults, in the order of their commands.
class Faults {
 public:
  void add(Fault fault) { faults_.push_back(std::move(fault)); }
  void clear() {
    faults_.clear();
    files_.clear();
  }
  /// A new file: its place among those of its kind.
  void created(const Node& node);
  /// The first that fits a call, and counts it. A write that does not change the bytes of the fault,
  /// as a read-modify-write of others' bytes does, fits none: damaged bytes are not damaged again.
  std::optional<Fault> choose(const Call& call);
  const std::vector<Fault>& all() const { return faults_; }

 private:
  bool fits(const Fault& fault, const Call& call) const;
  std::vector<Fault> faults_;
  std::map<std::string, std::vector<std::uint64_t>> files_;  ///< numbers of created files, by the name of a fault
};

/// Whether a word is a kind of fault; those of the operating system are named EIO, ENOSPC, …
bool is_kind(const std::string& word);
/// The error number of a kind; 0 for those that are no error.
int error_of(const std::string& kind);

/// The result of a read, damaged; `length` has been cut at the end of the file.
void damage_read(const Fault& fault, const Call& call, Bytes& data);
/// What lands of a write; a piece that is whole if the fault does not concern the bytes.
std::vector<Piece> damage_write(const Fault& fault, const Call& call, const Bytes& data);
/// What happens to the file itself beside a call: its end is lost, bytes are appended, a gap is overwritten.
void damage_file(const Fault& fault, Node& node);

}  // namespace forgetfs
