#pragma once
#include <functional>
#include <string>
#include <vector>

#include "listio/protocol/messages.hpp"
#include "listio/server/data_store.hpp"

namespace strider::listio {

// Files with numbers for names are spread over folders by the last two of the 16 hexadecimal digits:
// XX/XXXXXXXXXXXXXXXX.

inline constexpr unsigned shards = 256;
inline unsigned shard_number(FileId file) { return static_cast<unsigned>(file % shards); }
/// The name of the folder of a shard.
std::string shard_name(unsigned shard);
/// The path of a file below the folder of all shards.
std::string shard_path(FileId file);

/// Collects the next files of all shards, by shard, and by number in each: `files(shard, list)` lists one,
/// `add(file)` adds one to the page. The cookie is the last file.
Errno list_shards(std::uint64_t cookie, DataPage& page,
                  const std::function<Errno(unsigned, std::vector<FileId>&)>& files,
                  const std::function<Errno(FileId)>& add);

}  // namespace strider::listio
