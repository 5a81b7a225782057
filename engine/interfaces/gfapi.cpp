#include <fcntl.h>
#include <glusterfs/api/glfs.h>

#include <array>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "interfaces/completions.hpp"
#include "interfaces/connect_limit.hpp"
#include "interfaces/library_file.hpp"
#include "interfaces/mounts.hpp"

namespace strider {
namespace {

constexpr std::uint32_t largest_depth = 1024;
constexpr int log_nothing = 0;

/// Where a volume is.
struct Address {
  std::string server, volume;
  int port = 0;

  std::string text() const { return server + ":" + std::to_string(port) + "/" + volume; }
};

std::int64_t negative_errno(std::int64_t result) { return result < 0 ? -errno : result; }
int negative_errno(int result) { return result < 0 ? -errno : result; }

/// The process's connection to a volume.
glfs_t* connect_to(const Address& address) {
  // Kept until the process ends: glfs_fini() takes ten seconds, and all there is to free ends with the process.
  static std::map<std::string, glfs_t*> connections;
  glfs_t*& known = connections[address.text()];
  if (known != nullptr) return known;
  glfs_t* volume = ::glfs_new(address.volume.c_str());
  if (volume == nullptr) throw IoError({"glfs_new", address.text(), 0, 0, errno});
  ::glfs_set_logging(volume, "/dev/null", log_nothing);
  ::glfs_set_volfile_server(volume, "tcp", address.server.c_str(), address.port);
  const auto result = result_within(connect_limit, [volume] { return negative_errno(::glfs_init(volume)); });
  const int error = result ? -*result : ETIMEDOUT;
  if (error == ENOENT)
    throw IoError({"glfs_init", address.text(), 0, 0, error},
                  "the volume does not exist on the server or is not started",
                  "set gfapi.volume to a volume that `gluster volume info` lists");
  if (error != 0)
    throw IoError({"glfs_init", address.text(), 0, 0, error},
                  "no connection to the volume: " + std::string(std::strerror(error)),
                  "set gfapi.server and gfapi.port to a server of the volume that this host can reach");
  return known = volume;
}

struct GfapiCalls : LibraryCalls {
  static constexpr const char* prefix = "glfs_";
  glfs_t* volume = nullptr;
  Address address = {};

  static glfs_fd_t* file(Handle handle) { return reinterpret_cast<glfs_fd_t*>(handle); }
  int mkdir(const char* path) const { return negative_errno(::glfs_mkdir(volume, path, 0700)); }
  int rmdir(const char* path) const { return negative_errno(::glfs_rmdir(volume, path)); }
  int chdir(const char* path) const { return negative_errno(::glfs_chdir(volume, path)); }
  int list(const char* path, EntryVisitor& visitor) const {
    glfs_fd_t* directory = ::glfs_opendir(volume, path);
    if (directory == nullptr) return -errno;
    errno = 0;
    while (const dirent* entry = ::glfs_readdir(directory))
      if (is_entry(entry->d_name)) visitor.entry(entry->d_name);
    const int error = errno;
    ::glfs_closedir(directory);
    return -error;
  }
  int mknod(const char* path) const { return negative_errno(::glfs_mknod(volume, path, S_IFREG | 0600, 0)); }
  int open(const char* path, OpenMode mode, Handle& handle) const {
    glfs_fd_t* opened = mode == OpenMode::create
                            ? ::glfs_creat(volume, path, O_WRONLY | O_EXCL, 0600)
                            : ::glfs_open(volume, path, (mode == OpenMode::write ? O_WRONLY : O_RDONLY) | O_NOFOLLOW);
    handle = reinterpret_cast<Handle>(opened);
    return opened == nullptr ? -errno : 0;
  }
  static std::int64_t pwrite(Handle handle, const std::byte* from, std::uint64_t length, std::uint64_t offset) {
    return negative_errno(
        std::int64_t{::glfs_pwrite(file(handle), from, length, static_cast<off_t>(offset), 0, nullptr, nullptr)});
  }
  static std::int64_t pread(Handle handle, std::byte* to, std::uint64_t length, std::uint64_t offset) {
    return negative_errno(std::int64_t{::glfs_pread(file(handle), to, length, static_cast<off_t>(offset), 0, nullptr)});
  }
  static std::int64_t pwritev(Handle handle, const iovec* pieces, int count, std::uint64_t offset) {
    return negative_errno(std::int64_t{::glfs_pwritev(file(handle), pieces, count, static_cast<off_t>(offset), 0)});
  }
  static std::int64_t preadv(Handle handle, const iovec* pieces, int count, std::uint64_t offset) {
    return negative_errno(std::int64_t{::glfs_preadv(file(handle), pieces, count, static_cast<off_t>(offset), 0)});
  }
  static int fsync(Handle handle) { return negative_errno(::glfs_fsync(file(handle), nullptr, nullptr)); }
  static std::int64_t seek_end(Handle handle) {
    return negative_errno(std::int64_t{::glfs_lseek(file(handle), 0, SEEK_END)});
  }
  static int close(Handle handle) { return negative_errno(::glfs_close(file(handle))); }
  int lstat(const char* path, ItemState& state) const {
    struct stat found{};
    const int result = ::glfs_lstat(volume, path, &found);
    state = {type_of(found.st_mode), static_cast<std::uint64_t>(found.st_size), found.st_nlink};
    return negative_errno(result);
  }
  int access(const char* path) const { return negative_errno(::glfs_access(volume, path, R_OK)); }
  int chmod(const char* path, unsigned mode) const { return negative_errno(::glfs_chmod(volume, path, mode)); }
  int set_times(const char* path) const {
    std::array<timespec, 2> now{};
    ::clock_gettime(CLOCK_REALTIME, now.data());
    now[1] = now[0];
    return negative_errno(::glfs_lutimens(volume, path, now.data()));
  }
  int truncate(const char* path, std::uint64_t bytes) const {
    return negative_errno(::glfs_truncate(volume, path, static_cast<off_t>(bytes)));
  }
  int rename(const char* from, const char* to) const { return negative_errno(::glfs_rename(volume, from, to)); }
  int link(const char* from, const char* to) const { return negative_errno(::glfs_link(volume, from, to)); }
  int symlink(const char* target, const char* path) const {
    return negative_errno(::glfs_symlink(volume, target, path));
  }
  std::int64_t readlink(const char* path, std::span<char> out) const {
    return negative_errno(std::int64_t{::glfs_readlink(volume, path, out.data(), out.size())});
  }
  int setxattr(const char* path, std::string_view value) const {
    return negative_errno(::glfs_lsetxattr(volume, path, attribute, value.data(), value.size(), 0));
  }
  std::int64_t getxattr(const char* path, std::span<char> out) const {
    return negative_errno(std::int64_t{::glfs_lgetxattr(volume, path, attribute, out.data(), out.size())});
  }
  Facts facts(Handle, const std::string& path) const {
    Facts facts{{"volume", address.volume}, {"server", address.server}, {"path in the volume", path}};
    std::array<char, 4096> text{};
    const auto length =
        ::glfs_getxattr(volume, path.c_str(), "trusted.glusterfs.pathinfo", text.data(), text.size() - 1);
    if (length > 0) facts["layout"] = text.data();
    return facts;
  }
  int unlink(const char* path) const { return negative_errno(::glfs_unlink(volume, path)); }
};

glfs_fd_t* open_file(glfs_t* volume, const std::string& inside, const OpenRequest& request) {
  const int flags = open_flags(request.access);
  glfs_fd_t* file = nullptr;
  if (request.creation == Creation::create) file = ::glfs_creat(volume, inside.c_str(), flags, 0600);
  // Another rank may have made it between the library's look and its call.
  if (file == nullptr && (request.creation == Creation::existing || errno == EEXIST))
    file = ::glfs_open(volume, inside.c_str(), flags);
  if (file == nullptr) throw IoError({"glfs_open", inside, 0, 0, errno});
  return file;
}

/// Several requests in flight: each extent is an asynchronous call, completed in a thread of the library.
class GfapiQueue final : public QueuedFile {
 public:
  GfapiQueue(GfapiCalls calls, glfs_fd_t* file, std::string path, std::uint32_t depth)
      : file_(std::move(calls), reinterpret_cast<Directory::Handle>(file), path, LibraryMethod::multiple),
        handle_(file),
        path_(std::move(path)),
        completions_(depth),
        parts_(depth) {}
  GfapiQueue(const GfapiQueue&) = delete;
  GfapiQueue& operator=(const GfapiQueue&) = delete;
  ~GfapiQueue() override { completions_.wait_for_all(); }

  void write(const Request& request) override { file_.write(request); }
  void read(const Request& request) override { file_.read(request); }
  void submit(Direction direction, const Request& request, std::uint32_t slot) override {
    std::vector<Part>& parts = parts_[slot];
    if (parts.size() < request.extents.size()) parts.resize(request.extents.size());
    completions_.begin(slot, request.extents.size());
    for (std::size_t i = 0; i < request.extents.size(); ++i) {
      parts[i] = {this, slot, direction, request.extents[i]};
      if (hand_over(parts[i], request.memory) < 0) completions_.part_done(slot, problem_of(parts[i], -errno));
    }
  }
  std::size_t complete(std::span<std::uint32_t> slots) override { return completions_.wait(slots); }
  void sync() override { file_.sync(); }
  void close() override {
    completions_.wait_for_all();
    file_.close();
  }
  std::uint64_t size() override { return file_.size(); }
  Facts facts() const override { return file_.facts(); }

 private:
  /// An extent of a request in flight.
  struct Part {
    GfapiQueue* queue = nullptr;
    std::uint32_t slot = 0;
    Direction direction = Direction::read;
    Extent extent;
  };

  int hand_over(Part& part, std::byte* memory) const {
    std::byte* place = memory + part.extent.memory_offset;
    const auto offset = static_cast<off_t>(part.extent.file_offset);
    if (part.direction == Direction::read)
      return ::glfs_pread_async(handle_, place, part.extent.length, offset, 0, &done, &part);
    return ::glfs_pwrite_async(handle_, place, static_cast<int>(part.extent.length), offset, 0, &done, &part);
  }
  static void done(glfs_fd_t*, ssize_t moved, struct glfs_stat*, struct glfs_stat*, void* data) {
    const Part& part = *static_cast<const Part*>(data);
    if (moved == static_cast<ssize_t>(part.extent.length)) return part.queue->completions_.part_done(part.slot);
    part.queue->completions_.part_done(part.slot, part.queue->problem_of(part, negative_errno(std::int64_t{moved})));
  }
  IoError problem_of(const Part& part, std::int64_t moved) const {
    const char* call = part.direction == Direction::read ? "glfs_pread_async" : "glfs_pwrite_async";
    const IoError::What what{call, path_, part.extent.file_offset, part.extent.length,
                             moved < 0 ? static_cast<int>(-moved) : 0};
    if (moved < 0) return IoError(what);
    return {what, "the call moved " + std::to_string(moved) + " bytes: the file ends here"};
  }

  LibraryFile<GfapiCalls> file_;
  glfs_fd_t* handle_;
  std::string path_;
  Completions completions_;
  std::vector<std::vector<Part>> parts_;  ///< of the request in each slot
};

class Gfapi final : public Interface {
 public:
  explicit Gfapi(const Settings& settings)
      : address_{settings.text("server"), settings.text("volume"), static_cast<int>(settings.number("port"))},
        mount_(settings.text("mount")),
        root_(settings.text("root")),
        method_(library_method(settings)) {}

  void connect(const std::string& directory) override {
    const Mount found = mount_of(directory);
    if (found.type == "fuse.glusterfs") take_over(found);
    if (address_.volume.empty())
      throw IoError({"connect", directory, 0, 0, 0}, "the GlusterFS volume of the target is unknown",
                    "choose a target on a GlusterFS mount, or set gfapi.volume, gfapi.mount and gfapi.root");
    if (address_.server.empty()) address_.server = "localhost";
    inside_ = InsidePaths(directory, mount_.empty() ? found.point : mount_, root_);
    calls_.address = address_;
    calls_.volume = connect_to(address_);
  }
  std::unique_ptr<File> open(const OpenRequest& request) override {
    const std::string inside = inside_(request.path);
    glfs_fd_t* file = open_file(calls_.volume, inside, request);
    if (request.depth > 1) return std::make_unique<GfapiQueue>(calls_, file, inside, request.depth);
    return std::make_unique<LibraryFile<GfapiCalls>>(calls_, reinterpret_cast<Directory::Handle>(file), inside,
                                                     method_);
  }
  void remove(const std::string& path) override { remove_file(calls_, inside_(path)); }
  std::unique_ptr<Directory> open_directory(const std::string& path) override {
    return std::make_unique<LibraryDirectory<GfapiCalls>>(calls_, inside_(path));
  }
  std::uint32_t largest_depth() const override { return strider::largest_depth; }
  std::uint64_t largest_transfer() const override { return std::uint64_t{1} << 30; }

 private:
  /// What was not said, from the mount: "server:/volume/folder", or without the slash.
  void take_over(const Mount& found) {
    const std::size_t colon = found.source.rfind(':');
    if (colon == std::string::npos) return;
    const std::size_t begin = colon + 1 + (found.source.substr(colon + 1).starts_with('/') ? 1 : 0);
    const std::size_t end = std::min(found.source.find('/', begin), found.source.size());
    // Of several servers any will do.
    if (address_.server.empty()) address_.server = found.source.substr(0, std::min(found.source.find(','), colon));
    if (address_.volume.empty()) address_.volume = found.source.substr(begin, end - begin);
    if (root_.empty()) root_ = found.source.substr(end) + found.root;
  }

  Address address_;
  std::string mount_, root_;
  LibraryMethod method_;
  InsidePaths inside_;
  GfapiCalls calls_;
};

constexpr Parameter gfapi_parameters[] = {
    {"volume", Kind::volume, "\"\"", "Name of the volume; empty: that of the target's mount."},
    {"server", Kind::host, "\"\"", "A server of the volume; empty: that of the target's mount."},
    {"port", Kind::port, "24007", "Port of the server's management daemon.", 1, 65535},
    {"method", Kind::choice, "\"multiple\"",
     "Transfer of a request of several extents: one call for each extent (multiple), or one call for each run of "
     "adjacent extents in the file (vectored: glfs_preadv, glfs_pwritev).",
     no_limit, no_limit, "multiple|vectored"},
    mount_parameter,
    root_parameter,
};

}  // namespace

extern const InterfaceEntry gfapi_entry{
    "gfapi",
    "GlusterFS's own library, libgfapi: glfs_pread, glfs_pwrite, without a mount.",
    {.storage = Storage::kept, .metadata = MetadataCalls::all(), .client = StorageClient::library},
    gfapi_parameters,
    make_interface<Gfapi>};

}  // namespace strider
