#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "listio/protocol/secret.hpp"
#include "listio/server/folder.hpp"
#include "listio/transfer/transport.hpp"

namespace strider::listio {

/// What happens to written data: kept in files, or forgotten (to measure the way there).
enum class Keeping { files, nothing };

struct ServerOptions {
  std::string directory;               ///< everything is kept in `directory`/server-NUMBER
  std::uint32_t number = 0;            ///< server 0 is the manager: it knows the names as well
  std::uint32_t servers = 1;           ///< of the volume
  std::string listen = "127.0.0.1:0";  ///< host:port
  std::string transport = "cma";       ///< which also serves clients on tcp
  std::string registration = "none";   ///< domain that communication buffers are registered in
  Secret secret{};
  Keeping keeping = Keeping::files;
  Checksums checksums = Checksums::crc32c;  ///< of data that are kept in files
  std::uint32_t copies = 1;                 ///< of each data file; of 2 the second one is on the next server
  std::uint32_t replaced = 0;               ///< how often the folder was replaced by an empty one
  Folder folder = Folder::any;
  VolumeState volume{};
  std::uint64_t bytes_per_s = 0;  ///< most that it moves, read and written together; 0: as much as it can
  unsigned threads = 4;           ///< that read and write files
  std::uint64_t buffer_bytes = std::uint64_t{1} << 20;    ///< of one communication buffer
  std::uint32_t buffers = 2;                              ///< that a client has at most
  std::uint64_t memory_bytes = std::uint64_t{256} << 20;  ///< of all buffers that are in use
  std::uint32_t most_runs = 128;                          ///< of a request
  std::uint32_t most_requests = 64;                       ///< of a client, at a time
  std::uint32_t most_clients = 16384;
  std::chrono::milliseconds most_buffer_idle{10000};  ///< that a client keeps while others wait
  std::chrono::milliseconds most_lock_wait{600000};   ///< with any patience of a client
  std::chrono::milliseconds lock_grace{1000};         ///< exclusive locks stay so long after their client's connection
};

/// An I/O server of a volume.
///
/// Clients cannot hurt each other: each has its own buffers, which take turns in a limited memory, and a limited number
/// of requests; its requests are done in order and in turn with those of others, no client delays another, and what one
/// held is free as soon as its connection ends. A client without the secret gets nothing. A client that breaks the
/// protocol gets the reason and is dropped.
class Server {
 public:
  /// Listens from now on. InputError if the options do not fit each other or this machine.
  explicit Server(const ServerOptions& options);
  /// With a transport of the caller's, which listens; that of the options does not count.
  Server(const ServerOptions& options, std::unique_ptr<Transport> transport);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Where clients connect to.
  std::string address() const;
  /// Serves until `stop`. std::system_error if this process cannot continue.
  void run();
  /// Serves until `is_over`, which is asked whenever something has happened, and at least twice a second.
  void run_until(const std::function<bool()>& is_over);
  /// From any thread, or a signal handler.
  void stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace strider::listio
