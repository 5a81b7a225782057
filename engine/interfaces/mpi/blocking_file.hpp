#pragma once
#include "interfaces/mpi/handle.hpp"

namespace strider {

/// Transfers that wait for their bytes.
class MpiBlockingFile final : public File {
 public:
  MpiBlockingFile(const OpenRequest& request, std::string name, MpiOptions options, MPI_Info hints)
      : handle_(request, std::move(name), options, hints),
        write_(blocking_call(Direction::write, options.pointer, options.participation)),
        read_(blocking_call(Direction::read, options.pointer, options.participation)) {}

  void write(const Request& request) override { move(request, write_); }
  void read(const Request& request) override { move(request, read_); }
  void sync() override { handle_.sync(); }
  void close() override { handle_.close(); }
  std::uint64_t size() override { return handle_.size(); }
  Facts facts() const override { return handle_.facts(); }

 private:
  void move(const Request& request, const BlockingCall& call);
  void move_piece(Piece piece, const BlockingCall& call);
  bool can_go_on() const;

  MpiHandle handle_;
  BlockingCall write_, read_;
};

}  // namespace strider
