#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/descriptor.hpp"
#include "listio/protocol/messages.hpp"
#include "listio/server/data_store.hpp"

namespace strider::listio {

/// A random number: so no count has to be kept, nor the last one be found. 0, or the error number.
Errno make_file_id(FileId& file);

/// Opens a folder in another one, which has it on stable storage if it is new. std::system_error if that cannot be.
Descriptor make_folder(int folder, const char* name);

/// Opens the file with this path below an open directory, for reading and with further `flags` of open(2); symbolic
/// links are not followed. 0, or the error number.
Errno open_below(int folder, const std::string& path, int flags, Descriptor& descriptor);

/// The mark `name` in an open folder says that all that its owner left there is on stable storage. Removes it, and
/// returns whether it was there. std::system_error if it cannot be removed for good.
bool take_stable_mark(int folder, const char* name);
void leave_stable_mark(int folder, const char* name);

/// Passes the name of each entry of an open directory but "." and ".." on, in no order. 0, or the error number.
Errno each_name(Descriptor directory, const std::function<void(std::string_view)>& take);

/// All of these names of an open directory, which stays as it is.
Errno list_names(int folder, std::vector<std::string>& names);

/// Makes or replaces a small file, which others do not see yet. 0, or the error number.
Errno write_file(int folder, const std::string& name, const std::string& text, std::uint32_t mode);

}  // namespace strider::listio
