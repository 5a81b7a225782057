#include <fcntl.h>
#include <nfsc/libnfs.h>
#include <poll.h>
#include <sys/time.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <map>

#include "interfaces/connect_limit.hpp"
#include "interfaces/library_file.hpp"
#include "interfaces/mounts.hpp"

namespace strider {
namespace {

constexpr std::uint32_t largest_depth = 256;
constexpr int poll_limit_ms = 1000;

/// What the library says of its last error, which may be nothing.
std::string reason_of(nfs_context* context) {
  const char* text = ::nfs_get_error(context);
  return text == nullptr ? "the library gives no reason" : text;
}

/// The process's own mount of an export.
class Connection {
 public:
  Connection(const std::string& url, std::uint64_t timeout_s) : context_(::nfs_init_context()), url_(url) {
    if (context_ == nullptr) throw IoError({"nfs_init_context", url, 0, 0, ENOMEM});
    const std::unique_ptr<nfs_url, decltype(&::nfs_destroy_url)> parts(::nfs_parse_url_dir(context_, url.c_str()),
                                                                       &::nfs_destroy_url);
    if (parts == nullptr)
      throw IoError({"nfs_parse_url_dir", url, 0, 0, EINVAL}, reason_of(context_),
                    "nfs.url = \"nfs://SERVER/EXPORT?version=3\"");
    ::nfs_set_autoreconnect(context_, 0);
    ::nfs_set_timeout(context_, static_cast<int>(timeout_s * 1000));
    const auto mounted = result_within(
        connect_limit, [context = context_, server = std::string(parts->server), path = std::string(parts->path)] {
          return ::nfs_mount(context, server.c_str(), path.c_str());
        });
    if (mounted.value_or(-ETIMEDOUT) != 0)
      throw IoError(
          {"nfs_mount", url, 0, 0, -mounted.value_or(-ETIMEDOUT)},
          mounted ? "no connection to the export: " + reason_of(context_) : "the server does not answer",
          "set nfs.url to a server that this host can reach and to an export that accepts mounts from any source port");
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  nfs_context* get() const { return context_; }

 private:
  nfs_context* context_;
  std::string url_;
};

nfs_context* connect_to(const std::string& url, std::uint64_t timeout_s) {
  // One for each address until the process ends, and with it the connection: version 3 has nothing to say goodbye to.
  static std::map<std::pair<std::string, std::uint64_t>, std::unique_ptr<Connection>> connections;
  std::unique_ptr<Connection>& known = connections[{url, timeout_s}];
  if (known == nullptr) known = std::make_unique<Connection>(url, timeout_s);
  return known->get();
}

/// A transfer's result. libnfs says EFAULT of all that fails, and puts the server's reason into its text: "… failed
/// with NFS3ERR_NOSPC(-28)"; it has the wrong number for a quota.
std::int64_t named_result(nfs_context* context, std::int64_t result) {
  if (result != -EFAULT) return result;
  const std::string text = reason_of(context);
  if (text.find("NFS3ERR_DQUOT") != std::string::npos) return -EDQUOT;
  const std::size_t begin = text.rfind("(-");
  const int number = begin == std::string::npos ? 0 : std::atoi(text.c_str() + begin + 2);
  return number > 0 ? -number : result;
}

/// A transfer that is waited for. libnfs's own waiting calls lose the reason of an error.
class Transfer {
 public:
  explicit Transfer(nfs_context* context, std::byte* to = nullptr) : context_(context), to_(to) {}

  /// `started`: what the call said that began it.
  std::int64_t wait(int started) {
    if (started < 0) return started;
    while (!done_) {
      pollfd socket{::nfs_get_fd(context_), static_cast<short>(::nfs_which_events(context_)), 0};
      if (::poll(&socket, 1, poll_limit_ms) < 0 && errno != EINTR) return -errno;
      if (::nfs_service(context_, socket.revents) < 0 && !done_) return -EIO;
    }
    return result_;
  }
  static void end(int moved, nfs_context* context, void* data, void* own) {
    auto& self = *static_cast<Transfer*>(own);
    if (moved > 0 && self.to_ != nullptr) std::memcpy(self.to_, data, static_cast<std::size_t>(moved));
    self.result_ = named_result(context, moved);
    self.done_ = true;
  }

 private:
  nfs_context* context_;
  std::byte* to_;
  bool done_ = false;
  std::int64_t result_ = 0;
};

struct NfsCalls : LibraryCalls {
  static constexpr const char* prefix = "nfs_";
  nfs_context* context = nullptr;
  std::string url = {};

  static nfsfh* file(Handle handle) { return reinterpret_cast<nfsfh*>(handle); }
  int mkdir(const char* path) const { return ::nfs_mkdir2(context, path, 0700); }
  int rmdir(const char* path) const { return ::nfs_rmdir(context, path); }
  int chdir(const char* path) const { return ::nfs_chdir(context, path); }
  int list(const char* path, EntryVisitor& visitor) const {
    nfsdir* directory = nullptr;
    const int opened = ::nfs_opendir(context, path, &directory);
    if (opened < 0) return opened;
    while (const nfsdirent* entry = ::nfs_readdir(context, directory))
      if (is_entry(entry->name)) visitor.entry(entry->name);
    ::nfs_closedir(context, directory);
    return 0;
  }
  int open(const char* path, OpenMode mode, Handle& handle) const {
    nfsfh* opened = nullptr;
    const int flags = mode == OpenMode::create  ? O_CREAT | O_EXCL | O_WRONLY
                      : mode == OpenMode::write ? O_WRONLY
                                                : O_RDONLY;
    const int result = ::nfs_open2(context, path, flags, 0600, &opened);
    handle = reinterpret_cast<Handle>(opened);
    return result;
  }
  std::int64_t pwrite(Handle handle, const std::byte* from, std::uint64_t length, std::uint64_t offset) const {
    Transfer transfer(context);
    return transfer.wait(::nfs_pwrite_async(context, file(handle), offset, length, from, Transfer::end, &transfer));
  }
  std::int64_t pread(Handle handle, std::byte* to, std::uint64_t length, std::uint64_t offset) const {
    Transfer transfer(context, to);
    return transfer.wait(::nfs_pread_async(context, file(handle), offset, length, Transfer::end, &transfer));
  }
  /// Not offered as a method: NFS has no such call.
  static std::int64_t pwritev(Handle, const iovec*, int, std::uint64_t) { return -EOPNOTSUPP; }
  static std::int64_t preadv(Handle, const iovec*, int, std::uint64_t) { return -EOPNOTSUPP; }
  int fsync(Handle handle) const { return ::nfs_fsync(context, file(handle)); }
  std::int64_t seek_end(Handle handle) const {
    std::uint64_t offset = 0;
    const int result = ::nfs_lseek(context, file(handle), 0, SEEK_END, &offset);
    return result < 0 ? result : static_cast<std::int64_t>(offset);
  }
  int close(Handle handle) const { return ::nfs_close(context, file(handle)); }
  int lstat(const char* path, ItemState& state) const {
    nfs_stat_64 found{};
    const int result = ::nfs_lstat64(context, path, &found);
    state = {type_of(static_cast<unsigned>(found.nfs_mode)), found.nfs_size, found.nfs_nlink};
    return result;
  }
  int access(const char* path) const { return ::nfs_access(context, path, R_OK); }
  int chmod(const char* path, unsigned mode) const { return ::nfs_chmod(context, path, static_cast<int>(mode)); }
  int set_times(const char* path) const {
    std::array<timeval, 2> now{};
    ::gettimeofday(now.data(), nullptr);
    now[1] = now[0];
    return ::nfs_lutimes(context, path, now.data());
  }
  int truncate(const char* path, std::uint64_t bytes) const { return ::nfs_truncate(context, path, bytes); }
  int rename(const char* from, const char* to) const { return ::nfs_rename(context, from, to); }
  int link(const char* from, const char* to) const { return ::nfs_link(context, from, to); }
  int symlink(const char* target, const char* path) const { return ::nfs_symlink(context, target, path); }
  std::int64_t readlink(const char* path, std::span<char> out) const {
    char* target = nullptr;
    const int result = ::nfs_readlink2(context, path, &target);
    if (result < 0) return result;
    const std::unique_ptr<char, decltype(&::free)> owned(target, &::free);
    const std::size_t length = std::min(std::strlen(target), out.size());
    std::memcpy(out.data(), target, length);
    return static_cast<std::int64_t>(length);
  }
  int unlink(const char* path) const { return ::nfs_unlink(context, path); }
  Facts facts(Handle, const std::string& path) const {
    return {{"url", url},
            {"path in the export", path},
            {"largest read", std::to_string(::nfs_get_readmax(context))},
            {"largest write", std::to_string(::nfs_get_writemax(context))}};
  }
};

/// Several requests in flight: each extent is an asynchronous call. The library works in this thread alone.
class NfsQueue final : public QueuedFile {
 public:
  NfsQueue(const NfsCalls& calls, nfsfh* file, std::string path, std::uint32_t depth)
      : file_(calls, reinterpret_cast<Directory::Handle>(file), path, LibraryMethod::multiple),
        context_(calls.context),
        handle_(file),
        path_(std::move(path)),
        slots_(depth) {
    done_.reserve(depth);
  }
  NfsQueue(const NfsQueue&) = delete;
  NfsQueue& operator=(const NfsQueue&) = delete;
  ~NfsQueue() override { wait_for_all(); }

  void write(const Request& request) override { file_.write(request); }
  void read(const Request& request) override { file_.read(request); }
  void submit(Direction direction, const Request& request, std::uint32_t slot) override {
    Slot& own = slots_[slot];
    if (own.parts.size() < request.extents.size()) own.parts.resize(request.extents.size());
    own.missing = request.extents.size();
    for (std::size_t i = 0; i < request.extents.size(); ++i) {
      const Extent& extent = request.extents[i];
      Part& part = own.parts[i];
      part = {this, slot, direction, extent, request.memory + extent.memory_offset};
      ++in_flight_;
      const int refused =
          direction == Direction::read
              ? ::nfs_pread_async(context_, handle_, extent.file_offset, extent.length, &done, &part)
              : ::nfs_pwrite_async(context_, handle_, extent.file_offset, extent.length, part.memory, &done, &part);
      if (refused != 0) end(part, -ENOMEM);
    }
  }
  std::size_t complete(std::span<std::uint32_t> slots) override {
    while (done_.empty() && !problem_) serve();
    if (problem_) throw IoError(*problem_);
    std::copy(done_.begin(), done_.end(), slots.begin());
    const std::size_t count = done_.size();
    done_.clear();
    return count;
  }
  void sync() override { file_.sync(); }
  void close() override {
    wait_for_all();
    file_.close();
  }
  std::uint64_t size() override { return file_.size(); }
  Facts facts() const override { return file_.facts(); }

 private:
  /// An extent of a request in flight.
  struct Part {
    NfsQueue* queue = nullptr;
    std::uint32_t slot = 0;
    Direction direction = Direction::read;
    Extent extent;
    std::byte* memory = nullptr;
  };
  struct Slot {
    std::vector<Part> parts;
    std::size_t missing = 0;
  };

  static void done(int moved, nfs_context*, void* data, void* own) {
    const Part& part = *static_cast<const Part*>(own);
    if (moved > 0 && part.direction == Direction::read)
      std::memcpy(part.memory, data, std::min(static_cast<std::size_t>(moved), part.extent.length));
    part.queue->end(part, named_result(part.queue->context_, moved));
  }
  void end(const Part& part, std::int64_t moved) {
    --in_flight_;
    if (moved != static_cast<std::int64_t>(part.extent.length) && !problem_) problem_ = problem_of(part, moved);
    if (--slots_[part.slot].missing == 0) done_.push_back(part.slot);
  }
  IoError problem_of(const Part& part, std::int64_t moved) const {
    const char* call = part.direction == Direction::read ? "nfs_pread_async" : "nfs_pwrite_async";
    const IoError::What what{call, path_, part.extent.file_offset, part.extent.length,
                             moved < 0 ? static_cast<int>(-moved) : 0};
    if (moved < 0) return IoError(what);
    return {what, "the call moved " + std::to_string(moved) + " bytes: the file ends here"};
  }
  /// Lets the library send and receive. False where the connection is gone, and with it all that is in flight.
  bool serve() {
    pollfd socket{::nfs_get_fd(context_), static_cast<short>(::nfs_which_events(context_)), 0};
    if (::poll(&socket, 1, poll_limit_ms) < 0 && errno != EINTR) return false;
    if (::nfs_service(context_, socket.revents) == 0) return true;
    if (!problem_) problem_ = IoError({"nfs_service", path_, 0, 0, EIO}, reason_of(context_));
    return false;
  }
  void wait_for_all() {
    while (in_flight_ > 0 && serve()) continue;
  }

  LibraryFile<NfsCalls> file_;
  nfs_context* context_;
  nfsfh* handle_;
  std::string path_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> done_;
  std::size_t in_flight_ = 0;
  std::optional<IoError> problem_;
};

class Nfs final : public Interface {
 public:
  explicit Nfs(const Settings& settings)
      : url_(settings.text("url")),
        mount_(settings.text("mount")),
        root_(settings.text("root")),
        timeout_s_(static_cast<std::uint64_t>(settings.seconds("timeout"))) {
    if (!url_.empty() && !url_.starts_with("nfs://"))
      throw InputError("nfs.url", "\"" + url_ + "\" names no export", "nfs.url = \"nfs://SERVER/EXPORT?version=3\"");
  }

  void connect(const std::string& directory) override {
    const Mount found = mount_of(directory);
    const std::size_t colon = found.source.find(":/");
    if (url_.empty() && found.type.starts_with("nfs") && colon != std::string::npos)
      url_ = "nfs://" + found.source.substr(0, colon) + found.source.substr(colon + 1) + "?version=3";
    if (url_.empty())
      throw IoError({"connect", directory, 0, 0, 0}, "the NFS export of the target is unknown",
                    "choose a target on an NFS mount, or set nfs.url, nfs.mount and nfs.root");
    inside_ = InsidePaths(directory, mount_.empty() ? found.point : mount_,
                          root_.empty() && mount_.empty() ? found.root : root_);
    calls_.url = url_;
    calls_.context = connect_to(url_, timeout_s_);
  }
  std::unique_ptr<File> open(const OpenRequest& request) override {
    const std::string inside = inside_(request.path);
    const int creation = request.creation == Creation::create ? O_CREAT : 0;
    nfsfh* file = nullptr;
    const int result = ::nfs_open2(calls_.context, inside.c_str(), open_flags(request.access) | creation, 0600, &file);
    if (result < 0) throw IoError({"nfs_open", inside, 0, 0, -result});
    if (request.depth > 1) return std::make_unique<NfsQueue>(calls_, file, inside, request.depth);
    return std::make_unique<LibraryFile<NfsCalls>>(calls_, reinterpret_cast<Directory::Handle>(file), inside,
                                                   LibraryMethod::multiple);
  }
  void remove(const std::string& path) override { remove_file(calls_, inside_(path)); }
  std::unique_ptr<Directory> open_directory(const std::string& path) override {
    return std::make_unique<LibraryDirectory<NfsCalls>>(calls_, inside_(path));
  }
  std::uint32_t largest_depth() const override { return strider::largest_depth; }
  std::uint64_t largest_transfer() const override { return std::uint64_t{1} << 30; }

 private:
  std::string url_, mount_, root_;
  std::uint64_t timeout_s_;
  InsidePaths inside_;
  NfsCalls calls_;
};

constexpr Parameter nfs_parameters[] = {
    {"url", Kind::url, "\"\"",
     "The export as a URL of libnfs: \"nfs://SERVER/EXPORT?version=3\"; empty: that of the target's mount.", no_limit,
     no_limit, "nfs"},
    {"timeout", Kind::seconds, "60", "Time limit of a request to the server; a request that takes longer fails.", 1,
     86400},
    mount_parameter,
    root_parameter,
};

constexpr MetadataCalls calls{MetadataCall::make_directory,
                              MetadataCall::remove_directory,
                              MetadataCall::change_directory,
                              MetadataCall::list,
                              MetadataCall::open,
                              MetadataCall::seek,
                              MetadataCall::state,
                              MetadataCall::access,
                              MetadataCall::set_mode,
                              MetadataCall::set_times,
                              MetadataCall::truncate,
                              MetadataCall::rename,
                              MetadataCall::link,
                              MetadataCall::symbolic_link,
                              MetadataCall::unlink};

}  // namespace

extern const InterfaceEntry nfs_entry{
    "nfs",
    "NFS from user space, by libnfs: nfs_pread, nfs_pwrite, without the kernel client or a mount.",
    {.storage = Storage::kept, .metadata = calls, .client = StorageClient::library},
    nfs_parameters,
    make_interface<Nfs>};

}  // namespace strider
