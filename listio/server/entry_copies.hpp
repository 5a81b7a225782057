#pragma once
#include <string>

#include "foundation/descriptor.hpp"
#include "listio/protocol/messages.hpp"
#include "listio/server/data_store.hpp"
#include "listio/server/name_changes.hpp"
#include "listio/server/name_entry.hpp"

namespace strider::listio {

/// The second copy of each name entry, by the number of its file: `entries`/XX/XXXXXXXXXXXXXXXX, where XX are the last
/// two of the 16 hexadecimal digits. A file has a copy before it has a name, and until it has none. All calls end with
/// 0 or an error number. The caller serializes changes.
class EntryCopies {
 public:
  /// In `folder`; `fresh` is a folder for files that are not complete; `servers` are those of the volume. Its
  /// changes are added to `changes`. std::system_error if that cannot be.
  EntryCopies(int folder, int fresh, std::uint32_t servers, NameChanges& changes);

  /// Replaces a copy at once. `mode` is the file's.
  Errno keep(const EntryCopy& copy, std::uint32_t mode);
  Errno remove(FileId file);
  /// ENOENT if there is none, EUCLEAN if it is damaged.
  Errno read(FileId file, EntryCopy& copy, std::uint32_t& mode) const;
  /// Adds the next files that have a copy, damaged or not.
  Errno list(std::uint64_t cookie, DataPage& page) const;
  /// Moves a copy to a name in another folder.
  Errno move_out(FileId file, int folder, const std::string& name);

 private:
  Descriptor entries_;
  int fresh_;
  std::uint32_t servers_;
  NameChanges& changes_;
};

}  // namespace strider::listio
