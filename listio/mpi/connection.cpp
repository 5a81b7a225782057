#include "listio/mpi/connection.hpp"

#include <pthread.h>
#include <sys/stat.h>

#include <cstdio>
#include <map>
#include <tuple>

#include "listio/mpi/below.hpp"
#include "listio/mpi/errors.hpp"

namespace strider::listio::mpi {
namespace {

constexpr const char* volume_file = "/listio-volume.json";

std::atomic<bool> forked{false};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

/// Volume, transport, registration, strategy, time-out.
using Key = std::tuple<std::string, std::string, std::string, std::string, std::int64_t>;

/// Never destroyed: in a forked process the connections have to stay as they are.
struct Connections {
  std::mutex mutex;
  std::map<Key, std::shared_ptr<Connection>> by_key;
};
Connections& connections() {
  static auto* const all = new Connections;
  return *all;
}

/// A volume's folder stands for the file in it.
std::string file_of(const std::string& volume) {
  struct stat found{};
  return ::stat(volume.c_str(), &found) == 0 && S_ISDIR(found.st_mode) ? volume + volume_file : volume;
}

ClientOptions options_of(const Hints& hints) {
  ClientOptions options;
  options.transport = hints.transport;
  options.method = hints.method;
  options.threshold_bytes = hints.threshold_bytes;
  options.registration = hints.registration;
  if (hints.registration != "none") options.registrar.strategy = strategy_of(hints.strategy);
  options.patience = hints.timeout;
  options.repeats = true;
  return options;
}

std::shared_ptr<Connection> connect(const std::string& file, const Hints& hints) {
  const Volume volume = read_volume(file);
  auto connection = std::make_shared<Connection>(volume, options_of(hints));
  connection->use([&](Client& client) {
    client.connect();
    // Found out now: it takes longer than many a transfer.
    if (hints.method == Method::hybrid && hints.threshold_bytes == 0) client.method_costs();
  });
  return connection;
}

int run_at_finalize(MPI_Comm, int, void* step, void*) {
  reinterpret_cast<void (*)()>(step)();
  return MPI_SUCCESS;
}

}  // namespace

void Connection::require_own_process() {
  if (forked)
    throw Failure(MPI_ERR_OTHER,
                  "this process was forked from one that had connected to the volume: start it by exec, or let the "
                  "parent access the volume");
}

std::shared_ptr<Connection> connection_of(const Hints& hints) {
  static const int watching = pthread_atfork(nullptr, nullptr, [] { forked = true; });
  static_cast<void>(watching);
  if (hints.volume.empty()) {
    constexpr const char* text =
        "no list-I/O volume is named: set the variable STRIDER_LISTIO_VOLUME, or the hint listio_volume, to the "
        "volume's folder (strider listio env VOLUME prints the variables that a program needs)";
    std::fprintf(stderr, "strider-mpiio: %s\n", text);
    throw Failure(MPI_ERR_NO_SUCH_FILE, text);
  }
  const std::string file = file_of(hints.volume);
  Connections& all = connections();
  const std::scoped_lock lock(all.mutex);
  std::shared_ptr<Connection>& known =
      all.by_key[{file, hints.transport, hints.registration, hints.strategy, hints.timeout.count()}];
  if (known == nullptr) {
    try {
      known = connect(file, hints);
    } catch (const InputError& error) {
      throw Failure(MPI_ERR_NO_SUCH_FILE, std::string(error.what()) + "; " + error.remedy());
    }
  }
  return known;
}

void at_finalize(void (*step)()) {
  static std::atomic<bool> done{false};
  if (done.exchange(true)) return;
  const Below& mpi = below();
  int key = MPI_KEYVAL_INVALID;
  mpi.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, run_at_finalize, &key, nullptr);
  mpi.Comm_set_attr(MPI_COMM_SELF, key, reinterpret_cast<void*>(step));
  mpi.Comm_free_keyval(&key);
}

void disconnect_all() {
  if (forked) return;
  Connections& all = connections();
  const std::scoped_lock lock(all.mutex);
  all.by_key.clear();
}

}  // namespace strider::listio::mpi
