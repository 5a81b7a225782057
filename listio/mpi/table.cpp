#include "listio/mpi/table.hpp"

#include <atomic>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace strider::listio::mpi {
namespace {

/// Handles are integers or addresses; nothing behind them is read.
std::uintptr_t key_of(MPI_File handle) {
  std::uintptr_t key = 0;
  static_assert(sizeof(MPI_File) <= sizeof(key));
  std::memcpy(&key, static_cast<const void*>(&handle), sizeof(MPI_File));
  return key;
}

struct Table {
  std::atomic<std::size_t> count{0};
  std::shared_mutex mutex;
  std::unordered_map<std::uintptr_t, std::shared_ptr<OpenFile>> files;
};
/// Never destroyed, since files may be looked up while the process ends.
Table& table() {
  static auto* const made = new Table;
  return *made;
}

}  // namespace

std::shared_ptr<OpenFile> find(MPI_File handle) {
  Table& all = table();
  if (all.count.load(std::memory_order_acquire) == 0) return nullptr;
  const std::shared_lock lock(all.mutex);
  const auto found = all.files.find(key_of(handle));
  return found == all.files.end() ? nullptr : found->second;
}

void add(std::shared_ptr<OpenFile> file) {
  Table& all = table();
  const std::scoped_lock lock(all.mutex);
  const std::uintptr_t key = key_of(file->carrier);
  all.files[key] = std::move(file);
  all.count.store(all.files.size(), std::memory_order_release);
}

void remove(MPI_File handle) {
  Table& all = table();
  const std::scoped_lock lock(all.mutex);
  all.files.erase(key_of(handle));
  all.count.store(all.files.size(), std::memory_order_release);
}

std::vector<std::shared_ptr<OpenFile>> remove_all() {
  Table& all = table();
  const std::scoped_lock lock(all.mutex);
  std::vector<std::shared_ptr<OpenFile>> removed;
  for (auto& [key, file] : all.files) removed.push_back(std::move(file));
  all.files.clear();
  all.count.store(0, std::memory_order_release);
  return removed;
}

}  // namespace strider::listio::mpi
