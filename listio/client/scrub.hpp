#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "listio/client/client.hpp"

namespace strider::listio {

struct ScrubOptions {
  std::uint64_t bytes_per_s = 0;  ///< that each server verifies at most; 0: as much as it can
};

struct ScrubProgress {
  std::uint64_t bytes = 0, all_bytes = 0;  ///< of data files, verified and in all
  std::uint64_t files = 0, all_files = 0;
};

/// A data file that is damaged.
struct ScrubFinding {
  std::uint32_t server = 0;
  FileId file = 0;
  DataCopy copy = DataCopy::first;
  std::string path;              ///< of its file; empty if no name leads to it
  std::vector<ByteRun> damaged;  ///< bytes of the file, or of the data file if it has no name
  std::string damage;            ///< of the data file as a whole, where there is such
  bool is_repaired = false;      ///< from the other copy
};

struct ScrubReport {
  ScrubProgress verified;
  std::vector<ScrubFinding> findings;
  std::vector<FilledServer> filled;  ///< before, and for repairs
};

/// Has all servers of a volume compare their data files with the checksums, while others use the volume: each server a
/// slice at a time. `progress` is called after each round of slices. With two copies, fills servers that are out first,
/// and repairs damage from the other copy. InputError for a volume without checksums and a second copy;
/// IoError if a server does not answer.
ScrubReport scrub(Client& client, const ScrubOptions& options,
                  const std::function<void(const ScrubProgress&)>& progress);

}  // namespace strider::listio
