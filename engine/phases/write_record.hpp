#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "operations/transfer.hpp"
#include "plan/case.hpp"
#include "plan/draw.hpp"
#include "plan/file_assignments.hpp"
#include "verify/passes.hpp"

namespace strider {

/// What the phases of a repetition have written to its files, alike on all ranks: what a whole file must hold follows
/// from it. Sizes and offsets in bytes.
class WriteRecord {
 public:
  WriteRecord(const Case& test, const Pattern& pattern, const FileAssignments& assignments, const Interface& interface);

  static constexpr std::uint64_t no_limit = ~std::uint64_t{0};
  using Part = WrittenPart;
  /// A phase with the case's pattern, by rank. `pass_limit`: most requests of a pass.
  void written(Operation operation, std::uint64_t generation, const std::vector<Part>& parts,
               std::uint64_t pass_limit = no_limit);
  /// All bytes of all files.
  void prefilled(std::uint64_t generation);
  /// Files that another case has written before: all bytes, and more of them than the case may access.
  void found(std::uint64_t generation, const std::vector<std::uint64_t>& file_bytes);

  /// What the interface may say of a file's size. Files of an own format may be larger than what was written.
  struct Size {
    std::uint64_t least = 0, most = 0;
  };
  Size size_of(std::uint64_t file) const;

  /// Data of a generation and pass.
  struct Layer {
    std::uint64_t generation = 0;
    std::uint64_t pass = 0;
    std::vector<std::uint64_t> requests;  ///< by rank of the case: the first ones of its order have the data
    bool whole = false;                   ///< it is every byte of every file
    bool drawn = false;                   ///< by read-write: only the requests that write have it
  };
  /// The newest first: a byte holds what the first one has that touches it.
  const std::vector<Layer>& layers() const { return layers_; }
  /// The passes of a rank in the phase that wrote last.
  Passes passes_of(std::uint32_t rank) const;
  /// Data of a rank's requests that read-write, if it wrote last, has not written.
  std::optional<OlderData> older_data_of(std::uint32_t rank) const;
  /// What is in bytes that no layer touches: data of this generation, otherwise zeros.
  std::optional<std::uint64_t> prefill() const { return prefill_; }

 private:
  const Case& test_;
  const Pattern& pattern_;
  const FileAssignments& assignments_;
  bool sizes_new_files_;
  std::optional<std::uint64_t> prefill_;
  std::vector<Layer> layers_;
  /// A phase that wrote, and the passes of each rank.
  struct Phase {
    std::uint64_t generation = 0;
    std::vector<Passes> passes;
  };
  Phase last_;                       ///< that wrote
  std::optional<Phase> older_;       ///< the last one that wrote all requests, if read-write came after it
  std::vector<std::uint64_t> ends_;  ///< by file
};

}  // namespace strider
