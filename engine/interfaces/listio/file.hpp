#pragma once
#include <sys/uio.h>

#include <deque>
#include <string>
#include <vector>

#include "interfaces/interface.hpp"
#include "interfaces/listio/holes.hpp"
#include "interfaces/listio/volume_client.hpp"
#include "interfaces/windows.hpp"

namespace strider {

/// How a request of several extents is handed to the client library: all of it as one list, a call for each extent, or
/// through a buffer that covers the holes (to write, it is read first, under a lock). `sieve_reads` does so for reads
/// alone, and writes by a call for each extent.
enum class ListioCalls { list, each, sieve, sieve_reads };

struct ListioFileOptions {
  ListioCalls calls = ListioCalls::list;
  listio::Method method = listio::Method::hybrid;
  std::uint64_t threshold_bytes = 0;
  std::uint64_t sieve_buffer = 0;
  listio::Spreading spreading;
  HoleKind hole = HoleKind::unmapped;
  std::uint64_t holes = 0;
};

/// A striped file of a volume. Its facts are what the client has done since it was opened.
class ListioFile final : public File {
 public:
  ListioFile(VolumeClient& volume, const std::string& name, const OpenRequest& request,
             const ListioFileOptions& options);
  void write(const Request& request) override;
  void read(const Request& request) override;
  void sync() override { client_.sync(file_); }
  void close() override {}
  std::uint64_t size() override { return client_.size(file_); }
  std::string server_of(std::uint64_t file_offset) const override;
  Facts facts() const override;

  /// A list that is under way.
  struct Transfer {
    listio::Client::Ticket ticket = 0;
    std::uint32_t slot = 0;
    Direction direction = Direction::read;
    std::vector<Extent> extents;
  };
  /// Hands over a request as one list.
  Transfer start(Direction direction, const Request& request, std::uint32_t slot);
  /// Whether `finish` would return at once.
  bool is_done(const Transfer& transfer) { return client_.is_done(transfer.ticket); }
  /// Once for each.
  void finish(const Transfer& transfer);

 private:
  void move_list(Direction direction, const Request& request);
  void move_each(Direction direction, const Request& request);
  void read_sieved(const Request& request);
  void write_sieved(const Request& request);
  void write_window(const Request& request, const Window& window);
  void give_up(listio::LockId lock) noexcept;
  void begin(const Request& request);
  void describe(const Request& request);
  void count(Direction direction, std::span<const Extent> extents);
  /// Runs `call`; an error gets the place of the request.
  template <typename Call>
  auto located(Direction direction, std::span<const Extent> extents, const Call& call) const;
  void require_all(std::uint64_t moved, Direction direction, std::span<const Extent> extents);

  VolumeClient& volume_;
  listio::Client& client_;
  ListioFileOptions options_;
  listio::File file_;
  listio::ClientCounters before_;  ///< when it was opened
  MemoryHoles holes_;
  std::vector<iovec> pieces_;
  std::vector<listio::ByteRun> runs_;
  std::vector<std::byte> sieve_;
  /// Other ranks may write back what is between their pieces: all writes are under a lock, whatever they look like.
  bool sieves_writes_ = false;
  std::uint64_t calls_ = 0, extents_ = 0, bytes_ = 0;
  Direction direction_ = Direction::write;  ///< of the last call; a phase has one
};

/// The same with requests in flight, each handed over as one list.
class ListioQueue final : public QueuedFile {
 public:
  ListioQueue(VolumeClient& volume, const std::string& name, const OpenRequest& request,
              const ListioFileOptions& options)
      : file_(volume, name, request, options) {}
  ListioQueue(const ListioQueue&) = delete;
  ListioQueue& operator=(const ListioQueue&) = delete;
  ~ListioQueue() override;

  void write(const Request& request) override { file_.write(request); }
  void read(const Request& request) override { file_.read(request); }
  void submit(Direction direction, const Request& request, std::uint32_t slot) override {
    in_flight_.push_back(file_.start(direction, request, slot));
  }
  std::size_t complete(std::span<std::uint32_t> slots) override;
  void sync() override { file_.sync(); }
  void close() override;
  std::uint64_t size() override { return file_.size(); }
  std::string server_of(std::uint64_t file_offset) const override { return file_.server_of(file_offset); }
  Facts facts() const override { return file_.facts(); }

 private:
  ListioFile file_;
  std::deque<ListioFile::Transfer> in_flight_;  ///< oldest first
};

}  // namespace strider
