#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "measure/storage_path.hpp"

namespace strider {

/// What all nodes saw moving in a phase.
struct Seen {
  Moved process;  ///< by the ranks' own accounts
  StorageTraffic traffic;
};

/// Which counters say what storage served. None is believed before it has seen the bytes of a phase that wrote: a
/// daemon may be in another network namespace, a client's statistics for root alone, a file system in memory.
class ServedBy {
 public:
  enum class Client { kernel, own };  ///< who speaks to the storage
  struct Answer {
    std::uint64_t bytes = 0;
    std::string_view source;
  };

  /// A phase wrote that many bytes.
  void note_write(Client client, StorageSource source, std::uint64_t bytes, const Seen& seen);
  /// What of the bytes that a phase read came from storage; nothing where no counter is to be believed.
  std::optional<Answer> of_read(Client client, StorageSource source, const Seen& seen) const;

 private:
  struct Believed {
    bool process = false, client = false, network = false, block = false;
  };
  std::array<Believed, 2> believed_{};  ///< by Client
};

}  // namespace strider
