#include "listio/mpi/shared_pointer.hpp"

namespace strider::listio::mpi {

std::uint64_t SharedPointer::make_cell(Connection& connection) {
  return connection.use([](Client& client) { return client.make_cell(); });
}

std::int64_t SharedPointer::fetch_add(std::int64_t etypes) {
  if (connection_) return connection_->use([&](Client& client) { return client.fetch_add(cell_, etypes); });
  const std::scoped_lock lock(*mutex_);
  const std::int64_t before = alone_;
  alone_ += etypes;
  return before;
}

void SharedPointer::set(std::int64_t etypes) {
  if (connection_) {
    connection_->use([&](Client& client) { client.set_cell(cell_, etypes); });
    return;
  }
  const std::scoped_lock lock(*mutex_);
  alone_ = etypes;
}

void SharedPointer::free() {
  if (connection_) connection_->use([&](Client& client) { client.free_cell(cell_); });
}

}  // namespace strider::listio::mpi
