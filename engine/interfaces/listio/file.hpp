#pragma once
#include <sys/uio.h>

#include <string>
#include <vector>

#include "interfaces/interface.hpp"
#include "interfaces/listio/session.hpp"

namespace strider {

/// How a request of several extents is handed to the client library: all of it as one list, a call for each extent, or
/// read through a buffer that covers the holes (and written by a call for each extent, since a volume has no locks).
enum class ListioCalls { list, multiple, sieve };

struct ListioFileOptions {
  ListioCalls calls = ListioCalls::list;
  listio::Method method = listio::Method::hybrid;
  std::uint64_t threshold_bytes = 0;
  std::uint64_t sieve_buffer = 0;
  listio::Spreading spreading;
};

/// A striped file of a volume. Its facts are what the client has done since it was opened.
class ListioFile final : public QueuedFile {
 public:
  ListioFile(Session& session, const std::string& name, const OpenRequest& request, const ListioFileOptions& options);
  ListioFile(const ListioFile&) = delete;
  ListioFile& operator=(const ListioFile&) = delete;
  ~ListioFile() override;

  void write(const Request& request) override;
  void read(const Request& request) override;
  void submit(Direction direction, const Request& request, std::uint32_t slot) override;
  std::size_t complete(std::span<std::uint32_t> slots) override;
  void sync() override { client_.sync(file_); }
  void close() override;
  Facts facts() const override;

 private:
  /// A list that is under way.
  struct Transfer {
    listio::Client::Ticket ticket = 0;
    std::uint32_t slot = 0;
    Direction direction = Direction::read;
    std::vector<Extent> extents;
  };

  void move_list(Direction direction, const Request& request);
  void move_each(Direction direction, const Request& request);
  void read_sieved(const Request& request);
  void describe(const Request& request);
  void count(std::span<const Extent> extents);
  /// Runs `call`; an error gets the place of the request.
  template <typename Call>
  auto located(Direction direction, std::span<const Extent> extents, const Call& call) const;
  void require_all(std::uint64_t moved, Direction direction, std::span<const Extent> extents);
  void wait_for(Transfer& transfer);

  Session& session_;
  listio::Client& client_;
  ListioFileOptions options_;
  listio::File file_;
  listio::ClientCounters before_;  ///< when it was opened
  std::vector<iovec> pieces_;
  std::vector<listio::ByteRun> runs_;
  std::vector<std::byte> sieve_;
  std::vector<Transfer> in_flight_;  ///< oldest first
  std::uint64_t calls_ = 0, extents_ = 0, bytes_ = 0;
};

}  // namespace strider
