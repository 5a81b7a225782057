#pragma once
#include <mpi.h>

#include <cstdint>
#include <map>
#include <string>

#include "events/events.hpp"
#include "ranks/waiting.hpp"

namespace strider {

/// Brings the progress of cases whose first rank is not rank 0 to rank 0, which writes the events. So a run is seen to
/// be alive while rank 0 waits for other groups.
class ProgressRelay : public Attention {
 public:
  /// `events`: of rank 0.
  explicit ProgressRelay(EventStream& events) : events_(events) {}
  ProgressRelay(const ProgressRelay&) = delete;
  ProgressRelay& operator=(const ProgressRelay&) = delete;

  /// Sends a line of progress; leaves it out while an earlier one is under way.
  void send(std::string line);
  /// Sends lines also if that has to wait a while for rank 0.
  void send_last(const std::string& lines);
  /// After the last line: how many were sent since the last call.
  std::uint64_t finish();

  /// On rank 0: writes what has come.
  void look() override;
  /// On rank 0: writes the lines of a sender up to the last one.
  void take_all(int sender, std::uint64_t sent);

 private:
  void take(const MPI_Status& status);

  EventStream& events_;
  std::string line_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::uint64_t sent_ = 0;
  std::map<int, std::uint64_t> taken_;  ///< by sender
};

}  // namespace strider
