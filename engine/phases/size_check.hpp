#pragma once
#include <memory>
#include <string>

#include "phases/file_group.hpp"
#include "phases/tasks.hpp"
#include "phases/write_record.hpp"
#include "reports/phase_report.hpp"

namespace strider {

/// A file of a repetition as a rank looks at it to check it.
struct CheckedFile {
  std::string path;
  FileAssignment assignment;
  bool leads() const { return assignment.place.rank == 0; }
};
CheckedFile checked_file(const RunContext& context, const PhaseTask& task, const FileAssignment& assignment);

/// Opens a file to read it by the plainest means, so that no memory of an earlier opening answers.
std::unique_ptr<File> open_plain(const TransferTask& task, const CheckedFile& file, const FileGroup& group,
                                 std::span<std::byte> memory);

/// Who takes part in opening a file like that.
Cooperation plain_cooperation(const TransferTask& task);

/// Compares the size that a file has through its interface, and for the rank that leads through the mount, with what
/// was written. What differs goes to the findings of `part`. Throws IoError.
class SizeCheck {
 public:
  SizeCheck(const RunContext& context, const TransferTask& task, int rank, RankPart& part)
      : context_(context), task_(task), rank_(rank), part_(part) {}
  void compare(File& file, const CheckedFile& checked);
  void compare_on_mount(const CheckedFile& checked);
  /// Both, by an opening of its own, which all ranks of a file take part in where that is collective. What storage has
  /// against it is a finding.
  void compare_anew(const CheckedFile& checked);

 private:
  enum class Way { interface, mount };
  void judge(const CheckedFile& checked, std::uint64_t bytes, Way way, const std::string& server);
  const RunContext& context_;
  const TransferTask& task_;
  int rank_;
  RankPart& part_;
};

}  // namespace strider
