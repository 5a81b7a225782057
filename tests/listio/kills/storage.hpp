#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace strider::listio {

/// Bytes of a block, which lies on one server.
inline constexpr std::uint64_t block = 4096;

/// Consecutive blocks of one client, by its own numbers.
struct Piece {
  std::uint64_t first = 0, count = 0;
};

/// Consecutive bytes of the shared file.
struct Stretch {
  std::uint64_t offset = 0, bytes = 0;
};

/// Where the blocks of a client are in the shared file: clients have groups of blocks in turn.
struct Places {
  std::uint64_t client = 0, clients = 1, blocks_of_group = 1;

  std::uint64_t block_number(std::uint64_t own) const {
    return (own / blocks_of_group * clients + client) * blocks_of_group + own % blocks_of_group;
  }
  /// In the order of the pieces, cut where other clients' blocks come.
  std::vector<Stretch> stretches(std::span<const Piece> pieces) const {
    std::vector<Stretch> all;
    for (const Piece& piece : pieces) {
      const std::size_t begin = all.size();
      for (std::uint64_t own = piece.first; own < piece.first + piece.count; ++own) {
        const std::uint64_t offset = block_number(own) * block;
        if (all.size() > begin && all.back().offset + all.back().bytes == offset) all.back().bytes += block;
        else all.push_back({offset, block});
      }
    }
    return all;
  }
};

/// A call has failed. `is_loss`: because a server that was started again may have lost changes.
class CallFailed : public std::runtime_error {
 public:
  explicit CallFailed(const std::string& text, bool is_loss = false) : std::runtime_error(text), is_loss_(is_loss) {}
  bool is_loss() const { return is_loss_; }

 private:
  bool is_loss_;
};

/// One way to the volume: a file that all clients share, and small files of each client. Calls throw CallFailed.
class Storage {
 public:
  virtual ~Storage() = default;
  virtual void write(std::span<const Piece> pieces, std::span<const std::byte> bytes) = 0;
  /// Bytes beyond the end of the file read as 0.
  virtual void read(std::span<const Piece> pieces, std::span<std::byte> bytes) = 0;
  virtual void sync() = 0;
  /// Closes the shared file and opens it again.
  virtual void reopen() = 0;
  virtual void make_file(const std::string& name, std::span<const std::byte> bytes) = 0;
  /// Does nothing if the file does not exist.
  virtual void remove_file(const std::string& name) = 0;
  virtual bool exists(const std::string& name) = 0;
};

}  // namespace strider::listio
