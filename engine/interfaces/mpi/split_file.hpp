#pragma once
#include "interfaces/mpi/error.hpp"
#include "interfaces/mpi/handle.hpp"

namespace strider {

/// Split collective transfers: begun when they are handed over, ended when they are completed. MPI allows a file one of
/// them at a time.
class MpiSplitFile final : public QueuedFile {
 public:
  MpiSplitFile(const OpenRequest& request, std::string name, MpiOptions options, MPI_Info hints)
      : handle_(request, std::move(name), options, hints),
        write_(split_call(Direction::write, options.pointer)),
        read_(split_call(Direction::read, options.pointer)) {}
  ~MpiSplitFile() override {
    if (call_ != nullptr) call_->end(handle_.get(), piece_.memory, MPI_STATUS_IGNORE);
  }

  void submit(Direction direction, const Request& request, std::uint32_t) override {
    const SplitCall& call = direction == Direction::write ? write_ : read_;
    piece_ = {};
    if (!handle_.by_extents()) piece_ = handle_.piece_of(request, memory_type_);
    else if (!request.extents.empty()) piece_ = MpiHandle::piece_of(request.extents[0], request.memory);
    handle_.go_to(piece_);
    check(call, call.begin(handle_.get(), piece_.offset, piece_.memory, piece_.count, piece_.type));
    call_ = &call;
  }
  std::size_t complete(std::span<std::uint32_t> slots) override {
    if (call_ == nullptr) return 0;
    const SplitCall& call = *call_;
    call_ = nullptr;
    MPI_Status status;
    check(call, call.end(handle_.get(), piece_.memory, &status));
    memory_type_.reset();
    if (const std::uint64_t bytes = bytes_moved(status); bytes < piece_.bytes)
      throw IoError(what(call), moved_too_little(bytes, piece_.bytes));
    if (&call == &read_) handle_.check_end(call.name, piece_);
    slots[0] = 0;
    return 1;
  }
  void write(const Request& request) override { move(Direction::write, request); }
  void read(const Request& request) override { move(Direction::read, request); }
  void sync() override { handle_.sync(); }
  void close() override { handle_.close(); }
  std::uint64_t size() override { return handle_.size(); }
  Facts facts() const override { return handle_.facts(); }

 private:
  void move(Direction direction, const Request& request) {
    submit(direction, request, 0);
    std::uint32_t slot = 0;
    complete({&slot, 1});
  }
  IoError::What what(const SplitCall& call) const {
    return {call.name, handle_.name(), piece_.file_offset, piece_.bytes, 0};
  }
  void check(const SplitCall& call, int code) const {
    if (code != MPI_SUCCESS) throw_mpi(code, what(call));
  }

  MpiHandle handle_;
  SplitCall write_, read_;
  Piece piece_;
  std::optional<ExtentType> memory_type_;
  const SplitCall* call_ = nullptr;  ///< under way
};

}  // namespace strider
