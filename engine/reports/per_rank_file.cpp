#include "reports/per_rank_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "foundation/error.hpp"
#include "foundation/whole_transfer.hpp"
#include "ranks/exchange.hpp"
#include "reports/errors.hpp"

namespace strider {
namespace {

constexpr int rows_tag = 922;
constexpr std::size_t most_pending_bytes = std::size_t{8} << 20;
constexpr std::uint64_t most_records = std::numeric_limits<std::int32_t>::max();

void write_at(const OpenFile& file, std::uint64_t offset, std::span<const std::byte> bytes) {
  move_whole({"", "pwrite", file.path()}, bytes.data(), bytes.size(), offset,
             [&](const std::byte* from, std::uint64_t length, std::uint64_t at) {
               return moved_or_error(::pwrite(file.get(), from, length, static_cast<off_t>(at)));
             });
}

/// Joins parts that follow each other in the file: the columns of few ranks, and records, are one write.
class JoinedWrites {
 public:
  explicit JoinedWrites(const OpenFile& file) : file_(file) {}
  void put(std::uint64_t offset, std::span<const std::byte> bytes) {
    if (offset != offset_ + pending_.size() || pending_.size() > most_pending_bytes) flush();
    if (pending_.empty()) offset_ = offset;
    pending_.insert(pending_.end(), bytes.begin(), bytes.end());
  }
  void flush() {
    write_at(file_, offset_, pending_);
    pending_.clear();
  }

 private:
  const OpenFile& file_;
  std::uint64_t offset_ = 0;
  std::vector<std::byte> pending_;
};

int rank_of(MPI_Comm communicator) {
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  return rank;
}

}  // namespace

std::uint64_t processes_per_writer(std::uint64_t clients, std::uint64_t processes) {
  return std::max<std::uint64_t>(1, ranks_per_write * processes / clients);
}

PerRankFile::PerRankFile(std::string path, const std::string& run, std::uint32_t ranks)
    : path_(std::move(path)), layout_(run, ranks), rank_(rank_of(MPI_COMM_WORLD)) {}

std::optional<ErrorInfo> PerRankFile::begin(const std::optional<Repetitions>& complete, const Nodes& nodes,
                                            const WaitOptions& waiting) {
  host_ = nodes.host;
  std::optional<ErrorRecord> mine;
  if (rank_ == 0) mine = attempt([&] { complete ? reopen(*complete) : create(); });
  if (auto error = first_error(mine, waiting)) return error;
  if (failed_) return std::nullopt;
  if (rank_ != 0 && nodes.counts) mine = attempt([&] { require_visible(); });
  return first_error(mine, waiting);
}

void PerRankFile::keep(const PerRankPhase& phase, std::vector<RankRow> rows) {
  if (!failed_) kept_.push_back({phase, std::move(rows)});
}

std::optional<ErrorInfo> PerRankFile::write(const Turn& turn, const WaitOptions& waiting) {
  if (failed_) return std::nullopt;
  std::vector<std::uint64_t> phases(turn.cases, 0);
  if (turn.mine) phases[*turn.mine] = kept_.size();
  phases.push_back(turn.end == Turn::End::interrupted ? 1 : 0);
  // Other groups may need longer, or other cases; these have deadlines.
  all_reduce(std::span(phases), MPI_MAX, MPI_COMM_WORLD, turn.mine ? WaitOptions{} : idle);
  const bool is_interrupted = phases.back() != 0;
  phases.pop_back();
  if (is_interrupted) return kept_.clear(), std::nullopt;
  std::uint64_t next = records_, first = 0;
  for (std::size_t index = 0; index < phases.size(); next += phases[index++])
    if (turn.mine == index) first = next;
  std::optional<ErrorRecord> mine;
  if (!kept_.empty()) mine = attempt([&] { write_kept(turn, first, waiting); });
  kept_.clear();
  std::optional<ErrorInfo> error = first_error(mine, waiting);
  if (!failed_) {
    std::optional<ErrorRecord> last;
    if (rank_ == 0) last = attempt([&] { write_number_of_records(next); });
    error = first_error(last, waiting);
    if (!failed_) records_ = next;
  }
  if (error)
    error->message =
        "the file keeps the rows of " + std::to_string(records_) + " phases, and the run goes on without further ones";
  return error;
}

std::optional<ErrorRecord> PerRankFile::attempt(const std::function<void()>& action) const {
  try {
    action();
  } catch (const IoError& error) {
    return describe_error(error, rank_, host_);
  }
  return std::nullopt;
}

/// On rank 0 the error of the lowest rank that has one; all learn whether there is one.
std::optional<ErrorInfo> PerRankFile::first_error(const std::optional<ErrorRecord>& mine, const WaitOptions& waiting) {
  std::vector<ErrorRecord> errors;
  if (mine) errors.push_back(*mine);
  errors = bring_errors_to_first(std::move(errors), MPI_COMM_WORLD, waiting);
  failed_ = !errors.empty();
  broadcast(failed_, MPI_COMM_WORLD, waiting);
  if (errors.empty()) return std::nullopt;
  return info_of(errors.front());
}

OpenFile PerRankFile::open(int flags) const {
  return {Descriptor(::open(path_.c_str(), flags | O_CLOEXEC, 0644)), path_};
}

std::vector<std::byte> PerRankFile::read(const OpenFile& file, std::uint64_t offset, std::uint64_t bytes) const {
  std::vector<std::byte> found(bytes);
  const Transferred moved = transfer_whole(bytes, [&](std::uint64_t done) {
    return moved_or_error(::pread(file.get(), found.data() + done, bytes - done, static_cast<off_t>(offset + done)));
  });
  if (moved.error_number != 0) throw IoError({"pread", path_, offset, bytes, moved.error_number});
  found.resize(moved.bytes);
  return found;
}

/// Whether the file is that of this run, whatever it holds.
bool PerRankFile::has_own_header(const OpenFile& file) const {
  std::vector<std::byte> found = read(file, 0, layout_.header().size());
  if (found.size() < layout_.header().size()) return false;
  const auto records = PerRankLayout::records_field(0);
  std::ranges::copy(records, found.begin() + PerRankLayout::records_offset);
  return found == layout_.header();
}

/// `strider run` makes an empty file, which confined ranks can write to.
void PerRankFile::create() const {
  OpenFile file = open(O_RDWR | O_CREAT);
  if (file.size() > 0)
    throw IoError({"open", path_, 0, 0, EEXIST}, "it has data, which is kept",
                  "name a file that does not exist, or remove this one");
  write_at(file, 0, layout_.header());
  file.sync();
  file.close();
}

/// Repetitions of which the events say nothing are measured again.
void PerRankFile::reopen(const Repetitions& complete) {
  const OpenFile file = open(O_RDWR);
  if (complete.empty() && file.size() == 0) return create();
  if (!has_own_header(file))
    throw IoError({"open", path_, 0, 0, 0}, "it is not the file of this run with these ranks",
                  "put the file of the run there, or start a new run");
  std::uint64_t records = PerRankLayout::records_of(read(file, 0, layout_.header().size()));
  if (file.size() < layout_.record_offset(records))
    throw IoError({"open", path_, 0, 0, 0}, "its end is missing", "put the whole file there, or start a new run");
  for (; records > 0; --records) {
    const auto last = read(file, layout_.record_offset(records - 1), PerRankLayout::phase_bytes);
    const PerRankLayout::Repetition repetition = PerRankLayout::repetition_of(last);
    if (complete.contains({repetition.case_number, repetition.repetition})) break;
  }
  write_number_of_records(records);
  records_ = records;
}

void PerRankFile::require_visible() const {
  const std::string remedy = "name a file in a folder that all nodes share";
  try {
    const OpenFile file = open(O_RDWR);
    if (!has_own_header(file)) throw IoError({"open", path_, 0, 0, 0}, "it is not the file that rank 0 made", remedy);
  } catch (const IoError& error) {
    throw IoError(error.details(), error.what(), remedy);
  }
}

void PerRankFile::write_number_of_records(std::uint64_t records) const {
  if (records > most_records) throw IoError({"pwrite", path_, 0, 0, EFBIG});
  OpenFile file = open(O_RDWR);
  write_at(file, PerRankLayout::records_offset, PerRankLayout::records_field(static_cast<std::uint32_t>(records)));
  file.sync();
  file.close();
}

void PerRankFile::write_kept(const Turn& turn, std::uint64_t first_record, const WaitOptions& waiting) {
  gather(turn.communicator, waiting);
  if (!kept_.front().rows.empty()) write_rows(first_record);
}

/// Brings the rows to the writers. The others have none then.
void PerRankFile::gather(MPI_Comm communicator, const WaitOptions& waiting) {
  const std::uint32_t clients = kept_.front().phase.clients;
  int processes = 1;
  MPI_Comm_size(communicator, &processes);
  const auto all = static_cast<std::uint64_t>(processes), me = static_cast<std::uint64_t>(rank_of(communicator));
  const std::uint64_t group = processes_per_writer(clients, all), writer = me / group * group;
  // As many of each process: those of no rank are left out.
  const std::uint64_t most = (clients + all - 1) / all;
  RankRow of_no_rank{};
  of_no_rank.rank = clients;
  std::vector<RankRow> rows;
  for (Phase& each : kept_) {
    std::vector<RankRow> sent = each.rows;
    sent.resize(most, of_no_rank);
    rows.insert(rows.end(), sent.begin(), sent.end());
  }
  if (me != writer) {
    send(std::span(std::as_const(rows)), static_cast<int>(writer), rows_tag, communicator, waiting);
    for (Phase& each : kept_) each.rows.clear();
    return;
  }
  for (std::uint64_t sender = me + 1; sender < std::min(writer + group, all); ++sender) {
    receive(std::span(rows), static_cast<int>(sender), rows_tag, communicator, waiting);
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (rows[i].rank != clients) kept_[i / most].rows.push_back(rows[i]);
  }
}

void PerRankFile::write_rows(std::uint64_t first_record) const {
  OpenFile file = open(O_RDWR);
  JoinedWrites writes(file);
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    const auto& [phase, rows] = kept_[i];
    const std::uint32_t first = rows.front().rank, behind = rows.back().rank + 1;
    layout_.for_each_part(first_record + i, phase, rows, first, behind == phase.clients ? layout_.ranks() : behind,
                          [&](std::uint64_t offset, std::span<const std::byte> bytes) { writes.put(offset, bytes); });
  }
  writes.flush();
  file.sync();
  file.close();
}

}  // namespace strider
