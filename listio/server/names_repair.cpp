// Finds names by the numbers of files: requests of a check of the volume, and repairs.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

#include "listio/protocol/parse.hpp"
#include "listio/server/names.hpp"
#include "listio/server/small_files.hpp"

namespace strider::listio {
namespace {

constexpr const char *set_aside = "set-aside", *restored = "lost+found";
constexpr std::size_t most_kept_name = 200;  // a number follows it

/// Counts the files of a folder; a folder that is not there has none.
Errno count_files(int parent, const char* name, std::uint64_t& count) {
  Descriptor descriptor(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!descriptor) return errno == ENOENT ? 0 : errno;
  return each_name(std::move(descriptor), [&](std::string_view entry) { count += entry[0] != '.' ? 1 : 0; });
}

Errno open_folder(int parent, const char* name, Descriptor& folder) {
  if (::mkdirat(parent, name, 0700) != 0 && errno != EEXIST) return errno;
  folder = Descriptor(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  return folder ? 0 : errno;
}

/// A name that nothing in `set-aside` has.
Errno new_name(const std::string& name, std::string& fresh) {
  FileId number = 0;
  const Errno error = make_file_id(number);
  // A name must not begin with a dot: `count_files` counts it.
  fresh = "entry-" + name.substr(0, most_kept_name) + "-" + digits_of(number);
  return error;
}

}  // namespace

Errno Names::state(NamesState& state) const {
  state.generation = generation_;
  return count_files(folder_.get(), set_aside, state.set_aside);
}

/// As `look`; also EUCLEAN if the entry is whole, and that of another file.
Errno Names::judge(const std::string& path, Place& place, Look& look) const {
  if (path.empty()) return EISDIR;
  if (const Errno error = find(path, place); error != 0) return error;
  const Errno error = this->look(place.folder.get(), place.name, look);
  if (error != 0 || look.entry.kind != EntryKind::file) return error;
  CopyCheck copy;
  if (const Errno failed = read_copy(look.entry.file, copy); failed != 0) return failed;
  if (!copy.is_named || copy.path == path) return 0;
  look.damage = "it is that of " + copy.path;
  return EUCLEAN;
}

Errno Names::check_entry(const std::string& path, EntryCheck& check) {
  const std::lock_guard lock(mutex_);
  Place place;
  Look found;
  const Errno error = judge(path, place, found);
  if (error == EUCLEAN) {
    check = {EntryState::damaged, CopyState::whole, found.entry, found.text, found.damage};
    return 0;
  }
  check.entry = found.entry;
  check.state = found.has_checksum ? EntryState::whole : EntryState::unchecked;
  if (error != 0 || found.entry.kind != EntryKind::file) return error;
  CopyCheck copy;
  if (const Errno failed = read_copy(found.entry.file, copy); failed != 0) return failed;
  const bool differs = copy.state == CopyState::whole && copy.layout != found.entry.layout;
  check.copy = differs ? CopyState::other : copy.state;
  return 0;
}

Errno Names::list_copies(std::uint64_t cookie, DataPage& page) const { return copies_.list(cookie, page); }

Errno Names::check_copy(FileId file, CopyCheck& check) {
  const std::lock_guard lock(mutex_);
  return read_copy(file, check);
}

/// The lock is held.
Errno Names::read_copy(FileId file, CopyCheck& check) const {
  EntryCopy copy;
  std::uint32_t mode = 0;
  const Errno error = copies_.read(file, copy, mode);
  check = {};
  check.state = error == ENOENT ? CopyState::missing : error == EUCLEAN ? CopyState::damaged : CopyState::whole;
  if (error != 0) return check.state == CopyState::whole ? error : 0;
  check.is_named = leads_to(copy.path, file);
  check.layout = copy.layout;
  check.path = copy.path;
  return 0;
}

bool Names::leads_to(const std::string& path, FileId file) const {
  Place place;
  Entry entry;
  return find(path, place) == 0 && read_entry(place.folder.get(), place.name, entry) == 0 &&
         entry.kind == EntryKind::file && entry.file == file;
}

Errno Names::locate(const LocateRequest& request, std::string& path) {
  CopyCheck copy;
  if (request.kind == EntryKind::file && check_copy(request.file, copy) == 0 && copy.is_named) {
    path = copy.path;
    return 0;
  }
  // A directory that is renamed meanwhile may be missed: it is looked for again.
  for (int attempt = 0; attempt < 3; ++attempt) {
    const std::uint64_t generation = generation_;
    const Errno error = search(names_.get(), "", request, path);
    if (error != ENOENT || generation == generation_) return error;
  }
  return ENOENT;
}

/// Below a directory. ENOENT if it is not there.
Errno Names::search(int folder, const std::string& path, const LocateRequest& request, std::string& found) const {
  std::vector<std::string> names;
  if (const Errno error = list_names(folder, names); error != 0) return error;
  for (const std::string& name : names) {
    const std::string here = path.empty() ? name : path + "/" + name;
    struct stat status{};
    if (here.size() > most_path_bytes || ::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    const bool is_directory = S_ISDIR(status.st_mode);
    Entry entry;
    if ((is_directory || request.kind == EntryKind::file) && read_entry(folder, name, entry) == 0 &&
        entry.kind == request.kind && entry.file == request.file) {
      found = here;
      return 0;
    }
    Descriptor below;
    if (!is_directory || open_below(folder, name, O_DIRECTORY, below) != 0) continue;
    if (const Errno error = search(below.get(), here, request, found); error != ENOENT) return error;
  }
  return ENOENT;
}

Errno Names::repair(const RepairNameRequest& request, LinkText& now) {
  const std::lock_guard lock(mutex_);
  if (request.generation != generation_) return EAGAIN;
  now.text = request.path;
  Errno error = EINVAL;
  switch (request.repair) {
    case NameRepair::rewrite_entry: error = rewrite_entry(request.path, request.file); break;
    case NameRepair::rewrite_copy: error = rewrite_copy(request.path); break;
    case NameRepair::set_aside_entry: error = set_aside_entry(request.path, now.text); break;
    case NameRepair::set_aside_copy: error = set_aside_copy(request.file, now.text); break;
    case NameRepair::restore: error = restore(request.file, now.text); break;
  }
  return error;
}

/// The file with this path, and its name, are to become stable.
void Names::change_entry(const std::string& path) {
  changes_.change(names_path(path));
  changes_.gain(names_directory(path));
}

/// That nothing has this path any more is to become stable.
void Names::forget_entry(const std::string& path) {
  changes_.forget(names_path(path));
  changes_.lose(names_directory(path));
}

void Names::change_set_aside(const std::string& path) {
  changes_.change(path);
  changes_.gain(set_aside);
  changes_.gain("");  // the server's folder has it
}

/// Replaces the entry at a place at once; its mode and time stay those of the earlier one.
Errno Names::replace_entry(const Place& place, FileId file, const LayoutWords& layout, std::uint32_t mode) {
  struct stat found{};
  if (::fstatat(place.folder.get(), place.name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) return errno;
  const std::string fresh = digits_of(file);
  if (const Errno error = write_file(fresh_.get(), fresh, write_entry(file, layout), mode); error != 0) return error;
  const std::array<timespec, 2> times{timespec{0, UTIME_OMIT}, found.st_mtim};
  if (::utimensat(fresh_.get(), fresh.c_str(), times.data(), AT_SYMLINK_NOFOLLOW) == 0 &&
      ::renameat(fresh_.get(), fresh.c_str(), place.folder.get(), place.name.c_str()) == 0)
    return 0;
  const Errno error = errno;
  ::unlinkat(fresh_.get(), fresh.c_str(), 0);
  return error;
}

Errno Names::rewrite_entry(const std::string& path, FileId file) {
  Place place;
  Look damaged;
  EntryCopy copy;
  std::uint32_t mode = 0;
  const Errno error = judge(path, place, damaged);
  if (error != EUCLEAN) return error != 0 ? error : EEXIST;
  if (const Errno failed = copies_.read(file, copy, mode); failed != 0) return failed;
  if (leads_to(copy.path, file)) return EEXIST;
  // Whether it is a regular file of which the bytes alone are damaged.
  const bool had_mode = !damaged.text.empty() && damaged.entry.file == 0;
  if (const Errno failed = replace_entry(place, file, copy.layout, had_mode ? damaged.entry.mode : mode); failed != 0)
    return failed;
  copy.path = path;
  change_entry(path);
  return copies_.keep(copy, mode);
}

Errno Names::rewrite_copy(const std::string& path) {
  Place place;
  Look found;
  if (path.empty()) return EISDIR;
  if (const Errno error = find(path, place); error != 0) return error;
  if (const Errno error = look(place.folder.get(), place.name, found); error != 0) return error;
  if (found.entry.kind != EntryKind::file) return EINVAL;
  const FileId file = found.entry.file;
  if (const Errno error = copies_.keep({file, found.entry.layout, path}, found.entry.mode); error != 0) return error;
  if (found.has_checksum) return 0;
  change_entry(path);
  return replace_entry(place, file, found.entry.layout, found.entry.mode);
}

Errno Names::set_aside_entry(const std::string& path, std::string& now) {
  Place place;
  Look found;
  Descriptor aside;
  std::string name;
  const Errno error = judge(path, place, found);
  if (error != EUCLEAN) return error != 0 ? error : EEXIST;
  if (const Errno failed = open_folder(folder_.get(), set_aside, aside); failed != 0) return failed;
  if (const Errno failed = new_name(place.name, name); failed != 0) return failed;
  if (::renameat(place.folder.get(), place.name.c_str(), aside.get(), name.c_str()) != 0) return errno;
  now = std::string(set_aside) + "/" + name;
  forget_entry(path);
  change_set_aside(now);
  return 0;
}

Errno Names::set_aside_copy(FileId file, std::string& now) {
  EntryCopy copy;
  std::uint32_t mode = 0;
  Descriptor aside;
  std::string name;
  const Errno error = copies_.read(file, copy, mode);
  if (error != EUCLEAN) return error != 0 ? error : EEXIST;
  if (const Errno failed = open_folder(folder_.get(), set_aside, aside); failed != 0) return failed;
  if (const Errno failed = new_name("copy-of-" + digits_of(file), name); failed != 0) return failed;
  now = std::string(set_aside) + "/" + name;
  change_set_aside(now);
  return copies_.move_out(file, aside.get(), name);
}

/// Makes the directories on the way to a path, unless they are there.
Errno Names::make_way(const std::string& path) {
  for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    Place place;
    if (const Errno error = find(path.substr(0, slash), place); error != 0) return error;
    if (::mkdirat(place.folder.get(), place.name.c_str(), 0700) != 0 && errno != EEXIST) return errno;
    changes_.gain(names_directory(path.substr(0, slash)));
  }
  return 0;
}

Errno Names::restore(FileId file, std::string& now) {
  EntryCopy copy;
  std::uint32_t mode = 0;
  if (const Errno error = copies_.read(file, copy, mode); error != 0) return error;
  if (leads_to(copy.path, file)) return EEXIST;
  const std::string below = std::string(restored) + "/", number = digits_of(file);
  const std::string wanted = copy.path.starts_with(below) ? copy.path : below + copy.path;
  // The last known path if that can be, otherwise the number, which no other file has.
  for (const std::string& path : {wanted, below + number}) {
    if (!is_path(path) || make_way(path) != 0) continue;
    copy.path = now = path;
    const Errno error = link(copy, mode);
    if (error == 0) return copies_.keep(copy, mode);
    if (error != EEXIST) return error;
  }
  return EEXIST;
}

}  // namespace strider::listio
