#pragma once
#include <cstdint>
#include <memory>
#include <mutex>

#include "listio/mpi/connection.hpp"

namespace strider::listio::mpi {

/// The file pointer that the ranks of an open file share, in etypes of the view: a cell of the manager, which adds at
/// once, independent of the ranks. A file that one rank alone has opened needs none.
class SharedPointer {
 public:
  SharedPointer() = default;
  SharedPointer(std::shared_ptr<Connection> connection, std::uint64_t cell)
      : connection_(std::move(connection)), cell_(cell) {}

  /// Makes a cell on the volume's manager.
  static std::uint64_t make_cell(Connection& connection);

  /// Returns the value before. Failure if the cell is lost: server 0 was restarted, or has lost the connection of the
  /// client that made it.
  std::int64_t fetch_add(std::int64_t etypes);
  void set(std::int64_t etypes);
  std::int64_t get() { return fetch_add(0); }
  /// By one rank, when no other needs it any more. Does nothing if the cell is lost.
  void free();

 private:
  std::shared_ptr<Connection> connection_;  ///< none: the file has one rank
  std::uint64_t cell_ = 0;
  std::shared_ptr<std::mutex> mutex_ = std::make_shared<std::mutex>();
  std::int64_t alone_ = 0;
};

}  // namespace strider::listio::mpi
