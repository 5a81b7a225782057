#pragma once
#include <memory>
#include <string>
#include <vector>

#include "interfaces/mpi/handle.hpp"

namespace strider {

/// Several nonblocking transfers in flight.
class MpiQueuedFile final : public QueuedFile {
 public:
  MpiQueuedFile(const OpenRequest& request, std::string name, MpiOptions options, MPI_Info hints);
  ~MpiQueuedFile() override { wait_for_all(); }

  void submit(Direction direction, const Request& request, std::uint32_t slot) override;
  std::size_t complete(std::span<std::uint32_t> slots) override;
  void write(const Request& request) override { move(Direction::write, request); }
  void read(const Request& request) override { move(Direction::read, request); }
  void sync() override;
  void close() override;
  std::uint64_t size() override { return handles_[0]->size(); }
  Facts facts() const override { return handles_[0]->facts(); }

 private:
  /// What an MPI call in flight moves, and for whom.
  struct Flight {
    std::uint32_t slot;
    Direction direction;
    const char* call;
    Piece piece;
  };
  struct Slot {
    std::size_t in_flight = 0;  ///< calls
    std::optional<ExtentType> memory_type;
  };

  void move(Direction direction, const Request& request);
  void start(const Piece& piece, const NonblockingCall& call, std::uint32_t slot);
  Direction direction_of(const NonblockingCall& call) const {
    return &call == &write_ ? Direction::write : Direction::read;
  }
  void check(const Flight& flight, int code, MPI_Status& status);
  std::size_t wait_for_some();
  int finish_null_requests();
  void forget(std::size_t done);
  void wait_for_all();

  void sync_by_the_kernel() const;

  MpiHandle& handle_of(std::uint32_t slot) { return *handles_[slot % handles_.size()]; }

  std::string name_, path_;
  /// ROMIO notes only writes by calls that wait: after independent nonblocking ones MPI_File_sync does nothing.
  bool sync_is_forgotten_ = false;
  /// Of a file with collective transfers, one for each slot: ROMIO mixes up the messages of several on one handle, and
  /// moves the individual pointer late.
  std::vector<std::unique_ptr<MpiHandle>> handles_;
  NonblockingCall write_, read_;
  std::vector<Slot> slots_;
  std::vector<MPI_Request> requests_;
  std::vector<Flight> flights_;          ///< of each request
  std::vector<std::uint32_t> finished_;  ///< slots that complete() has not reported yet
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
};

}  // namespace strider
