#pragma once
#include <mpi.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "events/per_rank_layout.hpp"
#include "foundation/descriptor.hpp"
#include "ranks/nodes.hpp"
#include "ranks/waiting.hpp"
#include "reports/error_record.hpp"

namespace strider {

/// Up to so many ranks have their numbers in one write: 32 KiB of each column. Ranks in columns are consecutive however
/// they are placed on nodes, so the writes are too.
constexpr std::uint64_t ranks_per_write = 4096;

/// How many processes of a case send their rows to the first of them, which writes. `processes` stand for `clients`.
std::uint64_t processes_per_writer(std::uint64_t clients, std::uint64_t processes);

/// The file with the rows of all ranks in each phase (docs/formats.md, section 9). Rows are kept in memory until the
/// end of the repetition, then written by some ranks at the same time; the number of records follows when all are
/// written. The file is open only meanwhile, so that its file system can be remounted.
class PerRankFile {
 public:
  /// `ranks`: of the plan.
  PerRankFile(std::string path, const std::string& run, std::uint32_t ranks);

  using Repetitions = std::set<std::pair<std::uint64_t, std::uint64_t>>;  ///< case and number
  /// Rank 0 makes the file, or opens that of a resumed run behind the records of `complete` repetitions, which it alone
  /// has to know; the first rank of each machine checks that it sees this file. Collective over MPI_COMM_WORLD.
  /// Returns, on rank 0, why the run cannot have the file. Throws StallError.
  std::optional<ErrorInfo> begin(const std::optional<Repetitions>& complete, const Nodes& nodes,
                                 const WaitOptions& waiting);

  /// Keeps the rows of the ranks for which this process stands, in their order, until the end of the repetition.
  void keep(const PerRankPhase& phase, std::vector<RankRow> rows);

  /// What this process did in a turn of cases that ran at the same time.
  struct Turn {
    std::size_t cases = 1;
    std::optional<std::size_t> mine = {};   ///< of these, the one in which this process took part
    MPI_Comm communicator = MPI_COMM_NULL;  ///< of that case
    enum class End : std::uint8_t { complete, interrupted } end = End::complete;  ///< interrupted: rows are dropped
  };
  /// Writes what was kept. Collective over MPI_COMM_WORLD. After an error nothing is written any more, which rank 0
  /// returns. Throws StallError.
  std::optional<ErrorInfo> write(const Turn& turn, const WaitOptions& waiting);

 private:
  struct Phase {
    PerRankPhase phase;
    std::vector<RankRow> rows;
  };

  std::optional<ErrorRecord> attempt(const std::function<void()>& action) const;
  std::optional<ErrorInfo> first_error(const std::optional<ErrorRecord>& mine, const WaitOptions& waiting);
  OpenFile open(int flags) const;
  std::vector<std::byte> read(const OpenFile& file, std::uint64_t offset, std::uint64_t bytes) const;
  bool has_own_header(const OpenFile& file) const;
  void create() const;
  void reopen(const Repetitions& complete);
  void require_visible() const;
  void write_number_of_records(std::uint64_t records) const;
  void write_kept(const Turn& turn, std::uint64_t first_record, const WaitOptions& waiting);
  void gather(MPI_Comm communicator, const WaitOptions& waiting);
  void write_rows(std::uint64_t first_record) const;

  std::string path_, host_;
  PerRankLayout layout_;
  int rank_ = 0;  ///< of the run
  std::vector<Phase> kept_;
  std::uint64_t records_ = 0;  ///< complete ones
  bool failed_ = false;        ///< on all ranks
};

}  // namespace strider
