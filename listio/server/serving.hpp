#pragma once
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <utility>
#include <vector>

#include "listio/protocol/messages.hpp"
#include "listio/server/data_store.hpp"
#include "listio/server/folder.hpp"
#include "listio/server/missed_changes.hpp"
#include "listio/server/names.hpp"
#include "listio/server/views.hpp"

namespace strider::listio {

/// Which fills this server and its neighbours are filled by, and up to which view changes of clients are refused.
class FillTurns {
 public:
  /// What earlier fills, and clients of earlier views, have begun to change is changed when this returns.
  void start(const StartFillRequest& request, bool is_own) {
    const std::lock_guard entrance(entrance_);
    const std::unique_lock lock(mutex_);
    fills_[request.server] = request.fill;
    if (is_own) last_view_ = std::max(last_view_, request.view);
  }
  /// Carries out `action`. ESTALE if it is of a fill whose turn is over, or a change of a view in which this server was
  /// out.
  template <typename Action>
  Errno carry_out(const Target& target, bool is_change, const Action& action) {
    const std::shared_lock lock = enter();
    const auto is_its_turn = [&](const auto& each) { return each.second == target.fill; };
    const bool is_late =
        target.fill == 0 ? is_change && target.view <= last_view_ : std::ranges::none_of(fills_, is_its_turn);
    return is_late ? ESTALE : action();
  }

 private:
  /// Behind a fill that waits to start: otherwise changes that overlap each other would keep it waiting.
  std::shared_lock<std::shared_mutex> enter() {
    const std::lock_guard entrance(entrance_);
    return std::shared_lock(mutex_);
  }

  std::mutex entrance_;
  std::shared_mutex mutex_;
  std::map<std::uint32_t, std::uint64_t> fills_;  ///< by the server that they fill
  std::uint64_t last_view_ = 0;
};

/// Additional parts of a server in a volume with two copies.
struct SecondCopies {
  /// In the open folders of its own data files, and of the copies. std::system_error.
  SecondCopies(const Label& label, int folder, int second, std::unique_ptr<DataStore> store)
      : number(label.number), servers(label.servers), missed(folder), data(std::move(store)), missed_by_first(second) {}

  Errno start(const StartFillRequest& request);

  const std::uint32_t number, servers;
  MissedChanges missed;             ///< by the copies of its own data files, on the next server
  std::unique_ptr<DataStore> data;  ///< the copies of those of the server before
  MissedChanges missed_by_first;    ///< by these
  FillTurns turns;
};

/// The stores of a server; only the manager has `names` and `views`.
struct ServerStores {
  DataStore* data = nullptr;
  Names* names = nullptr;
  SecondCopies* copies = nullptr;  ///< null in a volume with one copy
  Views* views = nullptr;
  std::function<ServerStatus()> status;
};

/// Of no file: what names are counted as.
constexpr FileId names_number = 0;
/// The data file that a request is for, or `names_number`; nothing if it is for none in particular.
std::optional<FileId> file_of(const Request& request);

/// Whether a request changes its file.
bool is_change(const Request& request);

/// Executes a request and returns the reply, as a message. `buffers` are the client's own, of `buffer_bytes`
/// each.
std::vector<std::byte> serve(const ServerStores& stores, const NumberedRequest& request, std::span<std::byte> buffers,
                             std::uint64_t buffer_bytes);

}  // namespace strider::listio
