#pragma once
#include <mpi.h>

#include "interfaces/mpi_group.hpp"
#include "ranks/communicators.hpp"
#include "reports/phase.hpp"

namespace strider {

/// The ranks that open this rank's file: for interfaces built on MPI, and where all ranks open before one transfers.
/// Collective over the task's communicator. Throws StallError.
class FileGroup {
 public:
  enum class Opening { each, together };
  FileGroup(const PhaseTask& task, Opening opening, const FileAssignment& assignment, double stall_timeout_s) {
    if (opening == Opening::each || task.test->sharing.kind == SharingKind::per_rank) return;
    group_.communicator = task.communicator;
    if (task.test->sharing.kind == SharingKind::shared) return;
    group_.communicator =
        split(task.communicator, static_cast<int>(assignment.file), static_cast<int>(assignment.place.rank),
              "to open files together", {.stall_timeout_s = stall_timeout_s});
    owned_ = true;
  }
  FileGroup(const FileGroup&) = delete;
  FileGroup& operator=(const FileGroup&) = delete;
  ~FileGroup() {
    if (owned_) MPI_Comm_free(&group_.communicator);
  }
  const Group& get() const { return group_; }
  static Opening opening(Cooperation cooperation) {
    return cooperation == Cooperation::independent ? Opening::each : Opening::together;
  }

 private:
  Group group_;
  bool owned_ = false;
};

}  // namespace strider
