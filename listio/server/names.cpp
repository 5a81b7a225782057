#include "listio/server/names.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

#include "listio/layout/striping.hpp"
#include "listio/protocol/parse.hpp"
#include "listio/server/name_entry.hpp"
#include "listio/server/small_files.hpp"

namespace strider::listio {
namespace {

constexpr int directory_flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
constexpr std::size_t most_page_bytes = 60000;  // less than a message
constexpr std::size_t most_changes = 100000;
// File systems make the changes of calls that wait at the same time stable by one write of their journal.
constexpr std::size_t most_sync_threads = 16, fewest_of_a_thread = 4;
constexpr const char* names_stable_mark = "names-stable";  // of a server that ended in order

/// Another one for each directory that is there or was: that of an inode is used again.
FileId number_of_directory(int folder, const std::string& name, std::uint64_t inode) {
  constexpr std::uint64_t odd = 0x9e37'79b9'7f4a'7c15;
  struct statx found{};
  const int flags = AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC;
  if (::statx(folder, name.c_str(), flags, STATX_BTIME, &found) != 0 || (found.stx_mask & STATX_BTIME) == 0)
    found.stx_btime = {};
  const auto made_ns = static_cast<std::uint64_t>(found.stx_btime.tv_sec) * 1'000'000'000 + found.stx_btime.tv_nsec;
  return std::max<FileId>((inode ^ made_ns * odd) * odd, 1);
}

std::int64_t modified_ns(const struct stat& found) { return ns_of(found.st_mtim); }

/// Whether a call may work when it is repeated: nothing was written that could have been lost.
bool is_shortage(Errno error) { return error == EMFILE || error == ENFILE || error == ENOMEM; }

/// The content of an entry, up to a byte more than an entry may have.
Errno read_text(int folder, const std::string& name, std::string& text) {
  // Only root could not read a file that its mode forbids to its owner; the server owns them all.
  const Descriptor file(::openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) return errno;
  std::array<char, most_entry_bytes + 1> bytes{};
  const ssize_t count = ::read(file.get(), bytes.data(), bytes.size());
  if (count < 0) return errno;
  text.assign(bytes.data(), static_cast<std::size_t>(count));
  return 0;
}

}  // namespace

Names::Names(int folder, std::uint32_t servers)
    : servers_(servers),
      all_changed_(::faccessat(folder, "names", F_OK, AT_SYMLINK_NOFOLLOW) == 0),
      folder_(::openat(folder, ".", directory_flags)),
      names_(make_folder(folder, "names")),
      fresh_(make_folder(folder, "fresh")),
      copies_(folder, fresh_.get(), servers, changes_) {
  FileId random = 0;
  if (const Errno error = make_file_id(random); error != 0)
    throw std::system_error(error, std::generic_category(), "getrandom");
  generation_ = random;
  // Files that an ended server has left there are of no use, or have a name as well.
  std::vector<std::string> left;
  if (list_names(fresh_.get(), left) == 0)
    for (const std::string& name : left) ::unlinkat(fresh_.get(), name.c_str(), 0);
  if (take_stable_mark(folder, names_stable_mark)) all_changed_ = false;
}

Names::~Names() {
  if (sync() == 0) leave_stable_mark(folder_.get(), names_stable_mark);
}

Errno Names::open_directory(const std::string& path, Descriptor& directory) const {
  const Errno error = open_below(names_.get(), path, O_DIRECTORY, directory);
  return error == ELOOP ? ENOTDIR : error;
}

Errno Names::find(const std::string& path, Place& place) const {
  const std::size_t slash = path.rfind('/');
  place.name = slash == std::string::npos ? path : path.substr(slash + 1);
  return open_directory(slash == std::string::npos ? "" : path.substr(0, slash), place.folder);
}

Errno Names::look(int folder, const std::string& name, Look& look) const {
  struct stat found{};
  if (::fstatat(folder, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) return errno;
  look = {};
  look.entry.mode = found.st_mode & kept_mode_bits;
  look.entry.modified_ns = modified_ns(found);
  look.entry.inode = found.st_ino;
  if (S_ISDIR(found.st_mode)) look.entry.file = number_of_directory(folder, name, found.st_ino);
  if (S_ISDIR(found.st_mode) || S_ISLNK(found.st_mode)) {
    look.entry.kind = S_ISDIR(found.st_mode) ? EntryKind::directory : EntryKind::link;
    return 0;
  }
  look.damage = "it is no regular file";
  if (!S_ISREG(found.st_mode)) return EUCLEAN;
  if (const Errno error = read_text(folder, name, look.text); error != 0) return error;
  const auto parsed = parse_entry(look.text, servers_);
  if (const auto* const malformed = std::get_if<Malformed>(&parsed)) {
    look.damage = malformed->reason;
    return EUCLEAN;
  }
  const auto& read = std::get<NameEntry>(parsed);
  look.entry.file = read.file;
  look.entry.layout = read.layout;
  look.has_checksum = read.has_checksum;
  return 0;
}

Errno Names::read_entry(int folder, const std::string& name, Entry& entry) const {
  Look found;
  const Errno error = look(folder, name, found);
  entry = found.entry;
  return error;
}

std::string Names::damage_of(const std::string& path) const {
  Place place;
  Look found;
  if (path.empty() || find(path, place) != 0 || look(place.folder.get(), place.name, found) != EUCLEAN) return "";
  return "name entry of " + path + " is damaged: " + found.damage;
}

Errno Names::open(const OpenRequest& request, Entry& entry) {
  if (request.path.empty()) return EISDIR;
  Place place;
  if (const Errno error = find(request.path, place); error != 0) return error;
  for (;;) {
    const Errno error = read_entry(place.folder.get(), place.name, entry);
    if (error == 0 && request.creation == Creation::exclusive) return EEXIST;
    if (error == 0) return entry.kind == EntryKind::directory ? EISDIR : entry.kind == EntryKind::link ? ELOOP : 0;
    if (error != ENOENT || request.creation == Creation::never) return error;
    const Errno failed = create(request, entry);
    if (failed != EEXIST || request.creation == Creation::exclusive) return failed;
  }
}

Errno Names::create(const OpenRequest& request, Entry& entry) {
  const LayoutWords& layout = request.layout;
  if (layout.servers == 0 || layout.servers > servers_ || layout.first >= layout.servers || layout.strip_bytes == 0)
    return EINVAL;
  entry = {};
  entry.layout = layout;
  entry.mode = request.mode | 0600;  // the server itself has to read it
  if (const Errno error = make_file_id(entry.file); error != 0) return error;
  if (const Errno error = limit_changes(); error != 0) return error;
  const std::lock_guard lock(mutex_);
  const EntryCopy copy{entry.file, layout, request.path};
  if (const Errno error = copies_.keep(copy, entry.mode); error != 0) return error;
  if (const Errno error = link(copy, entry.mode); error != 0) {
    copies_.remove(entry.file);
    return error;
  }
  struct stat found{};
  Place place;
  if (find(request.path, place) == 0 &&
      ::fstatat(place.folder.get(), place.name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0) {
    entry.modified_ns = modified_ns(found);
    entry.inode = found.st_ino;
  }
  return 0;
}

/// Gives a file the path of its copy. EEXIST if another one has it.
Errno Names::link(const EntryCopy& copy, std::uint32_t mode) {
  Place place;
  if (const Errno error = find(copy.path, place); error != 0) return error;
  // Complete before it gets its name, so that it is never seen incomplete.
  const std::string fresh = digits_of(copy.file);
  Errno error = write_file(fresh_.get(), fresh, write_entry(copy.file, copy.layout), mode);
  if (error == 0 && ::linkat(fresh_.get(), fresh.c_str(), place.folder.get(), place.name.c_str(), 0) != 0)
    error = errno;
  ::unlinkat(fresh_.get(), fresh.c_str(), 0);
  if (error == 0) change_entry(copy.path);
  return error;
}

Errno Names::stat(const std::string& path, Entry& entry) {
  Place place;
  if (const Errno error = find(path, place); error != 0) return error;
  return read_entry(place.folder.get(), place.name.empty() ? "." : place.name, entry);
}

Errno Names::unlink(const std::string& path, Orphan& orphan) {
  if (path.empty()) return EISDIR;
  if (const Errno error = limit_changes(); error != 0) return error;
  const std::lock_guard lock(mutex_);
  Place place;
  if (const Errno error = find(path, place); error != 0) return error;
  Entry entry;
  // One that is damaged stays: nothing says whose data its removal would orphan.
  if (const Errno error = read_entry(place.folder.get(), place.name, entry); error != 0) return error;
  if (entry.kind == EntryKind::directory) return EISDIR;
  if (::unlinkat(place.folder.get(), place.name.c_str(), 0) != 0) return errno;
  forget_entry(path);
  orphan = {entry.file, entry.layout};
  return entry.kind == EntryKind::file ? copies_.remove(entry.file) : 0;
}

Errno Names::rename(const std::string& from, const std::string& to, Orphan& orphan) {
  if (from.empty() || to.empty()) return EBUSY;
  if (const Errno error = limit_changes(); error != 0) return error;
  // A sync would make only one of two directories stable, or miss a file that was moved to a place already searched.
  const std::lock_guard no_sync(sync_mutex_);
  const std::lock_guard lock(mutex_);
  Place source, target;
  if (const Errno error = find(from, source); error != 0) return error;
  if (const Errno error = find(to, target); error != 0) return error;
  Entry moved, replaced;
  if (const Errno error = read_entry(source.folder.get(), source.name, moved); error != 0) return error;
  const Errno found = read_entry(target.folder.get(), target.name, replaced);
  if (found == EUCLEAN) return found;
  const bool replaces = found == 0 && replaced.kind == EntryKind::file && replaced.file != moved.file;
  // The copy follows, so that a file that is renamed during a check has one.
  if (moved.kind == EntryKind::file)
    if (const Errno error = copies_.keep({moved.file, moved.layout, to}, moved.mode); error != 0) return error;
  if (::renameat(source.folder.get(), source.name.c_str(), target.folder.get(), target.name.c_str()) != 0) {
    const Errno error = errno;
    if (moved.kind == EntryKind::file) copies_.keep({moved.file, moved.layout, from}, moved.mode);
    return error;
  }
  if (moved.kind == EntryKind::directory) ++generation_;
  if (from != to) changes_.forget(names_path(to));
  changes_.rename(names_path(from), names_path(to));
  changes_.gain(names_directory(to));
  changes_.lose(names_directory(from));
  if (!replaces) return 0;
  changes_.hurry(names_path(to));
  orphan = {replaced.file, replaced.layout};
  return copies_.remove(replaced.file);
}

Errno Names::make_directory(const std::string& path, std::uint32_t mode) {
  if (path.empty()) return EEXIST;
  if (const Errno error = limit_changes(); error != 0) return error;
  const std::lock_guard lock(mutex_);
  Place place;
  if (const Errno error = find(path, place); error != 0) return error;
  if (::mkdirat(place.folder.get(), place.name.c_str(), 0700) != 0) return errno;
  // The mask of the client's process is in `mode`; that of this process is not to count.
  if (::fchmodat(place.folder.get(), place.name.c_str(), mode | 0700, 0) != 0) return errno;
  change_entry(path);
  return 0;
}

Errno Names::remove_directory(const std::string& path) {
  if (path.empty()) return EBUSY;
  if (const Errno error = limit_changes(); error != 0) return error;
  const std::lock_guard lock(mutex_);
  Place place;
  if (const Errno error = find(path, place); error != 0) return error;
  if (::unlinkat(place.folder.get(), place.name.c_str(), AT_REMOVEDIR) != 0) return errno;
  forget_entry(path);
  return 0;
}

Errno Names::set(const SetEntryRequest& request) {
  if (const Errno error = limit_changes(); error != 0) return error;
  const std::lock_guard lock(mutex_);
  Place place;
  if (const Errno error = find(request.path, place); error != 0) return error;
  const std::string name = place.name.empty() ? "." : place.name;
  Entry entry;
  if (const Errno error = read_entry(place.folder.get(), name, entry); error != 0) return error;
  if (request.file != 0 && entry.file != request.file) return ESTALE;
  if (request.mode != SetEntryRequest::keep_mode) {
    if (entry.kind == EntryKind::link) return EOPNOTSUPP;
    // The server itself has to read and search it. Names are only replaced under the lock, so it is no link now.
    const mode_t mode = request.mode | (entry.kind == EntryKind::directory ? 0700 : 0600);
    if (::fchmodat(place.folder.get(), name.c_str(), mode, 0) != 0) return errno;
  }
  if (request.modified_ns != SetEntryRequest::keep_time) {
    const std::array<timespec, 2> times{timespec{0, UTIME_OMIT}, time_of(request.modified_ns)};
    if (::utimensat(place.folder.get(), name.c_str(), times.data(), AT_SYMLINK_NOFOLLOW) != 0) return errno;
  }
  changes_.change(names_path(request.path));
  return 0;
}

Errno Names::make_link(const std::string& path, const std::string& text) {
  if (path.empty()) return EEXIST;
  if (const Errno error = limit_changes(); error != 0) return error;
  const std::lock_guard lock(mutex_);
  Place place;
  if (const Errno error = find(path, place); error != 0) return error;
  if (::symlinkat(text.c_str(), place.folder.get(), place.name.c_str()) != 0) return errno;
  changes_.gain(names_directory(path));
  return 0;
}

Errno Names::read_link(const std::string& path, std::string& text) const {
  if (path.empty()) return EINVAL;
  Place place;
  if (const Errno error = find(path, place); error != 0) return error;
  std::array<char, most_path_bytes + 1> found{};
  const ssize_t bytes = ::readlinkat(place.folder.get(), place.name.c_str(), found.data(), found.size());
  if (bytes < 0) return errno;
  text.assign(found.data(), static_cast<std::size_t>(bytes));
  return 0;
}

Errno Names::list(const std::string& path, std::uint64_t cookie, DirectoryPage& page) {
  Descriptor directory;
  if (const Errno error = open_directory(path, directory); error != 0) return error;
  const int copy = ::fcntl(directory.get(), F_DUPFD_CLOEXEC, 0);
  const std::unique_ptr<DIR, int (*)(DIR*)> open(copy < 0 ? nullptr : ::fdopendir(copy), ::closedir);
  if (!open) return errno;
  // Places in a directory are numbers of the file system, as NFS servers use them too.
  if (cookie != 0) ::seekdir(open.get(), static_cast<long>(cookie));
  page.cookie = 0;
  std::size_t bytes = 0;
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(open.get());
    if (entry == nullptr) {
      page.cookie = 0;
      return errno;
    }
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    unsigned char type = entry->d_type;
    struct stat found{};
    if (type == DT_UNKNOWN && ::fstatat(directory.get(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0)
      type = IFTODT(found.st_mode);
    page.names.push_back({name,
                          type == DT_DIR   ? EntryKind::directory
                          : type == DT_LNK ? EntryKind::link
                                           : EntryKind::file,
                          entry->d_ino});
    page.cookie = static_cast<std::uint64_t>(entry->d_off);
    bytes += name.size() + 16;
    if (bytes > most_page_bytes) return 0;
  }
}

Errno Names::limit_changes() {
  {
    const std::lock_guard lock(mutex_);
    if (changes_.size() < most_changes) return 0;
  }
  return sync();
}

Errno Names::sync(Part part) {
  const std::lock_guard one(sync_mutex_);
  if (failure_ != 0) return failure_;
  // Files that an ended server has left do not matter before data are removed.
  const Errno error = part == Part::all ? sync_all() : 0;
  if (!is_shortage(error)) failure_ = error;
  return error != 0 ? error : sync_changes(part);
}

Errno Names::sync_changes(Part part) {
  {
    const std::lock_guard lock(mutex_);
    changes_.begin_sync(part);
  }
  Errno error = 0;
  for (unsigned turn = 0; turn < NameChanges::turns && error == 0; ++turn) error = sync_turn(turn);
  return error;
}

Errno Names::sync_turn(unsigned turn) {
  std::size_t left = 0;
  {
    const std::lock_guard lock(mutex_);
    left = changes_.left(turn);
  }
  std::atomic<Errno> not_opened = 0, not_flushed = 0;
  const auto work = [&] {
    while (not_opened == 0 && not_flushed == 0) {
      const std::optional<Changed> next = next_change(turn);
      if (!next) return;
      if (next->error != 0) not_opened = next->error;
      else if (next->file && ::fsync(next->file.get()) != 0) not_flushed = errno;
    }
  };
  {
    std::vector<std::jthread> others;
    const std::size_t wanted = std::min(most_sync_threads, left / fewest_of_a_thread);
    try {
      while (others.size() + 1 < wanted) others.emplace_back(work);
    } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): fewer do as well
    }
    work();
  }
  if (not_flushed != 0) failure_ = not_flushed;
  return not_flushed != 0 ? not_flushed : not_opened;
}

/// Everything, if no changes are known. No name changes meanwhile.
Errno Names::sync_all() {
  const std::lock_guard lock(mutex_);
  if (!all_changed_) return 0;
  for (const char* const name : {"entries", "names", "set-aside"})
    if (const Errno error = sync_tree(folder_.get(), name); error != 0) return error;
  if (::fsync(folder_.get()) != 0) return errno;
  changes_.forget_all();
  all_changed_ = false;
  return 0;
}

std::optional<Names::Changed> Names::next_change(unsigned turn) {
  // No name changes in between, so that the path is that of the changed file.
  const std::lock_guard lock(mutex_);
  std::optional<std::string> path = changes_.next(turn);
  if (!path) return {};
  Changed changed;
  const Errno error = open_below(folder_.get(), *path, 0, changed.file);
  // A removed file has no content; nor has a symbolic link.
  if (error == 0 || error == ENOENT || error == ENOTDIR || error == ELOOP) return changed;
  changes_.keep(*path);
  changed.error = error;
  return changed;
}

}  // namespace strider::listio
