#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "listio/protocol/messages.hpp"
#include "listio/server/data_store.hpp"
#include "listio/server/names.hpp"

namespace strider::listio {

/// What a server works on; `names` is the manager's alone.
struct Shelf {
  DataStore* data = nullptr;
  Names* names = nullptr;
  std::function<ServerStatus()> status;
};

/// Of no file: what names are counted as.
constexpr FileId names_number = 0;
/// The data file that a request is for, or `names_number`; nothing if it is for none in particular.
std::optional<FileId> file_of(const Request& request);

/// Whether a request changes what it is for.
bool is_change(const Request& request);

/// Does what a request says and returns the reply, as a message. `buffers` are the client's own, of `buffer_bytes`
/// each.
std::vector<std::byte> serve(const Shelf& shelf, const NumberedRequest& request, std::span<std::byte> buffers,
                             std::uint64_t buffer_bytes);

}  // namespace strider::listio
