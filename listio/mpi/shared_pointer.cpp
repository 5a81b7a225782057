#include "listio/mpi/shared_pointer.hpp"

#include <cerrno>

#include "listio/client/lost.hpp"
#include "listio/mpi/errors.hpp"

namespace strider::listio::mpi {
namespace {

[[noreturn]] void refuse_largest() {
  throw Failure(MPI_ERR_ARG, "the shared file pointer would lie beyond the largest file");
}

/// A cell ends with the connection of the client that made it, and with its server.
template <typename Call>
auto use_cell(Connection& connection, const Call& call) {
  try {
    return connection.use(call);
  } catch (const IoError& error) {
    if (error.details().error_number == EOVERFLOW) refuse_largest();
    if (error.details().error_number != ENOENT) throw;
    throw Failure(MPI_ERR_IO,
                  "the shared file pointer is lost: server 0 was started again, or has lost the connection of the rank "
                  "that opened the file first; close the file and open it again");
  }
}

}  // namespace

std::uint64_t SharedPointer::make_cell(Connection& connection) {
  return connection.use([](Client& client) { return client.make_cell(); });
}

std::int64_t SharedPointer::fetch_add(std::int64_t etypes) {
  if (connection_) return use_cell(*connection_, [&](Client& client) { return client.fetch_add(cell_, etypes); });
  const std::scoped_lock lock(*mutex_);
  const std::int64_t before = alone_;
  std::int64_t after = 0;
  if (__builtin_add_overflow(before, etypes, &after)) refuse_largest();
  alone_ = after;
  return before;
}

void SharedPointer::set(std::int64_t etypes) {
  if (connection_) {
    use_cell(*connection_, [&](Client& client) { client.set_cell(cell_, etypes); });
    return;
  }
  const std::scoped_lock lock(*mutex_);
  alone_ = etypes;
}

void SharedPointer::free() {
  if (!connection_) return;
  try {
    connection_->use([&](Client& client) { client.free_cell(cell_); });
  } catch (const IoError& error) {
    const int number = error.details().error_number;
    if (number != ENOENT && !is_lost_connection(number)) throw;  // otherwise it has ended
  }
}

}  // namespace strider::listio::mpi
