#pragma once
#include <memory>

#include "listio/server/data_store.hpp"
#include "listio/server/folder.hpp"
#include "listio/server/server.hpp"
#include "listio/server/serving.hpp"

namespace strider::listio {

/// Of the server that has these options.
Label label_of(const ServerOptions& options);

// In its open folder. std::system_error.

/// Its own data files, as the options say.
std::unique_ptr<DataStore> make_store(const ServerOptions& options, int folder);
/// The copies of those of the server before it; nothing in a volume with one copy.
std::unique_ptr<SecondCopies> make_copies(const ServerOptions& options, int folder);

}  // namespace strider::listio
