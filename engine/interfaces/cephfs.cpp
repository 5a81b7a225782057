// libcephfs.h insists, also where offsets have 64 bits anyway.
#define _FILE_OFFSET_BITS 64  // NOLINT(bugprone-reserved-identifier)
#include <cephfs/libcephfs.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/time.h>

#include <array>
#include <cstring>
#include <map>
#include <tuple>

#include "interfaces/connect_limit.hpp"
#include "interfaces/library_file.hpp"
#include "interfaces/mounts.hpp"

namespace strider {
namespace {

/// What makes two connections different.
struct Address {
  std::string conf, user, file_system;
  bool cache = true;
  std::uint64_t timeout_s = 0;

  bool operator<(const Address& other) const {
    return std::tie(conf, user, file_system, cache, timeout_s) <
           std::tie(other.conf, other.user, other.file_system, other.cache, other.timeout_s);
  }
};

/// The process's own client of the file system.
class Connection {
 public:
  explicit Connection(const Address& address) {
    check(::ceph_create(&client_, address.user.empty() ? nullptr : address.user.c_str()), "ceph_create", address);
    check(::ceph_conf_read_file(client_, address.conf.empty() ? nullptr : address.conf.c_str()), "ceph_conf_read_file",
          address);
    ::ceph_conf_parse_env(client_, nullptr);
    const std::string answers = std::to_string(connect_limit.count()), works = std::to_string(address.timeout_s);
    // The client's traces on disk and in the network are none of a benchmark's; its errors come as results of calls.
    for (const auto& [option, value] : {std::pair<const char*, const char*>{"admin_socket", ""},
                                        {"log_file", ""},
                                        {"log_to_stderr", "false"},
                                        {"err_to_stderr", "false"},
                                        {"client_mount_timeout", answers.c_str()},
                                        {"rados_mon_op_timeout", answers.c_str()},
                                        {"rados_osd_op_timeout", works.c_str()},
                                        {"client_oc", address.cache ? "true" : "false"}})
      ::ceph_conf_set(client_, option, value);
    if (!address.file_system.empty())
      check(::ceph_select_filesystem(client_, address.file_system.c_str()), "ceph_select_filesystem", address);
    const auto mounted = result_within(2 * connect_limit, [client = client_] { return ::ceph_mount(client, "/"); });
    check(mounted.value_or(-ETIMEDOUT), "ceph_mount", address);
    mounted_ = true;
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  /// Without this the metadata server would wait a minute for the client that is gone, and let others wait.
  ~Connection() {
    if (mounted_)
      result_within(connect_limit, [client = client_] { return ::ceph_unmount(client) + ::ceph_release(client); });
  }
  ceph_mount_info* get() const { return client_; }

 private:
  static void check(int result, const char* call, const Address& address) {
    if (result >= 0) return;
    throw IoError({call, address.conf, 0, 0, -result},
                  "no connection to the file system: " + std::string(std::strerror(-result)),
                  "set cephfs.conf, cephfs.user and cephfs.filesystem to the values with which ceph-fuse mounts the "
                  "file system on this host");
  }
  ceph_mount_info* client_ = nullptr;
  bool mounted_ = false;
};

ceph_mount_info* connect_to(const Address& address) {
  // One for each address until the process ends: clients do not come and go between the cases of a real program.
  static std::map<Address, std::unique_ptr<Connection>> connections;
  std::unique_ptr<Connection>& known = connections[address];
  if (known == nullptr) known = std::make_unique<Connection>(address);
  return known->get();
}

struct CephCalls : LibraryCalls {
  static constexpr const char* prefix = "ceph_";
  static constexpr const char* write_name = "write";
  static constexpr const char* read_name = "read";
  ceph_mount_info* client = nullptr;
  bool lazy = false;

  static int descriptor(Handle handle) { return static_cast<int>(handle); }
  int mkdir(const char* path) const { return ::ceph_mkdir(client, path, 0700); }
  int rmdir(const char* path) const { return ::ceph_rmdir(client, path); }
  int chdir(const char* path) const { return ::ceph_chdir(client, path); }
  int list(const char* path, EntryVisitor& visitor) const {
    ceph_dir_result* directory = nullptr;
    const int opened = ::ceph_opendir(client, path, &directory);
    if (opened < 0) return opened;
    dirent entry{};
    int found = 0;
    while ((found = ::ceph_readdir_r(client, directory, &entry)) > 0)
      if (is_entry(entry.d_name)) visitor.entry(entry.d_name);
    ::ceph_closedir(client, directory);
    return found;
  }
  int mknod(const char* path) const { return ::ceph_mknod(client, path, S_IFREG | 0600, 0); }
  int open(const char* path, OpenMode mode, Handle& handle) const {
    const int flags = mode == OpenMode::create  ? O_CREAT | O_EXCL | O_WRONLY
                      : mode == OpenMode::write ? O_WRONLY | O_NOFOLLOW
                                                : O_RDONLY | O_NOFOLLOW;
    const int opened = ::ceph_open(client, path, flags, 0600);
    handle = opened;
    return opened;
  }
  std::int64_t pwrite(Handle handle, const std::byte* from, std::uint64_t length, std::uint64_t offset) const {
    return ::ceph_write(client, descriptor(handle), reinterpret_cast<const char*>(from),
                        static_cast<std::int64_t>(length), static_cast<std::int64_t>(offset));
  }
  std::int64_t pread(Handle handle, std::byte* to, std::uint64_t length, std::uint64_t offset) const {
    return ::ceph_read(client, descriptor(handle), reinterpret_cast<char*>(to), static_cast<std::int64_t>(length),
                       static_cast<std::int64_t>(offset));
  }
  std::int64_t pwritev(Handle handle, const iovec* pieces, int count, std::uint64_t offset) const {
    return ::ceph_pwritev(client, descriptor(handle), pieces, count, static_cast<std::int64_t>(offset));
  }
  std::int64_t preadv(Handle handle, const iovec* pieces, int count, std::uint64_t offset) const {
    return ::ceph_preadv(client, descriptor(handle), pieces, count, static_cast<std::int64_t>(offset));
  }
  int fsync(Handle handle) const {
    if (lazy) ::ceph_lazyio_propagate(client, descriptor(handle), 0, 0);
    return ::ceph_fsync(client, descriptor(handle), 0);
  }
  std::int64_t seek_end(Handle handle) const { return ::ceph_lseek(client, descriptor(handle), 0, SEEK_END); }
  int close(Handle handle) const { return ::ceph_close(client, descriptor(handle)); }
  int lstat(const char* path, ItemState& state) const {
    struct ceph_statx found{};
    const int result =
        ::ceph_statx(client, path, &found, CEPH_STATX_MODE | CEPH_STATX_SIZE | CEPH_STATX_NLINK, AT_SYMLINK_NOFOLLOW);
    state = {type_of(found.stx_mode), found.stx_size, found.stx_nlink};
    return result;
  }
  int chmod(const char* path, unsigned mode) const { return ::ceph_chmod(client, path, mode); }
  int set_times(const char* path) const {
    std::array<timeval, 2> now{};
    ::gettimeofday(now.data(), nullptr);
    now[1] = now[0];
    return ::ceph_lutimes(client, path, now.data());
  }
  int truncate(const char* path, std::uint64_t bytes) const {
    return ::ceph_truncate(client, path, static_cast<std::int64_t>(bytes));
  }
  int rename(const char* from, const char* to) const { return ::ceph_rename(client, from, to); }
  int link(const char* from, const char* to) const { return ::ceph_link(client, from, to); }
  int symlink(const char* target, const char* path) const { return ::ceph_symlink(client, target, path); }
  std::int64_t readlink(const char* path, std::span<char> out) const {
    return ::ceph_readlink(client, path, out.data(), static_cast<std::int64_t>(out.size()));
  }
  int setxattr(const char* path, std::string_view value) const {
    return ::ceph_lsetxattr(client, path, attribute, value.data(), value.size(), 0);
  }
  std::int64_t getxattr(const char* path, std::span<char> out) const {
    return ::ceph_lgetxattr(client, path, attribute, out.data(), out.size());
  }
  int unlink(const char* path) const { return ::ceph_unlink(client, path); }

  Facts facts(Handle handle, const std::string& path) const {
    const int file = descriptor(handle);
    std::array<char, 256> pool{};
    ::ceph_get_pool_name(client, ::ceph_get_file_pool(client, file), pool.data(), pool.size());
    return {{"path in the file system", path},
            {"stripe unit", std::to_string(::ceph_get_file_stripe_unit(client, file))},
            {"stripe count", std::to_string(::ceph_get_file_stripe_count(client, file))},
            {"object size", std::to_string(::ceph_get_file_object_size(client, file))},
            {"pool", pool.data()}};
  }
};

/// Of new files; 0 and empty: as the directory has it.
struct Layout {
  int stripe_unit = 0, stripe_count = 0, object_size = 0;
  std::string pool;
};

Layout layout_of(const Settings& settings) {
  const auto number = [&](const char* name) { return static_cast<int>(settings.number(name)); };
  const Layout layout{number("stripe_unit"), number("stripe_count"), number("object_size"), settings.text("pool")};
  if (layout.stripe_unit > 0 && layout.object_size > 0 && layout.object_size % layout.stripe_unit != 0)
    throw InputError("cephfs.object_size", "object_size must be a multiple of stripe_unit", "object_size = \"4MiB\"");
  return layout;
}

class Cephfs final : public Interface {
 public:
  explicit Cephfs(const Settings& settings)
      : address_{settings.text("conf"), settings.text("user"), settings.text("filesystem"), settings.flag("cache"),
                 static_cast<std::uint64_t>(settings.seconds("timeout"))},
        mount_(settings.text("mount")),
        root_(settings.text("root")),
        method_(library_method(settings)),
        layout_(layout_of(settings)) {
    calls_.lazy = settings.flag("lazy");
  }

  void connect(const std::string& directory) override {
    const Mount found = mount_of(directory);
    const bool kernel = found.type == "ceph";
    if (!kernel && found.type != "fuse.ceph-fuse" && mount_.empty())
      throw IoError({"connect", directory, 0, 0, 0}, "the target is not on CephFS but on " + found.type,
                    "choose a target on a CephFS mount, or set cephfs.mount and cephfs.root");
    if (root_.empty() && kernel) {  // "monitors:/path", or "user@cluster.name=/path"
      const std::size_t slash = found.source.find('/');
      root_ = (slash == std::string::npos ? "" : found.source.substr(slash)) + found.root;
    }
    inside_ = InsidePaths(directory, mount_.empty() ? found.point : mount_, root_.empty() ? found.root : root_);
    calls_.client = connect_to(address_);
  }
  std::unique_ptr<File> open(const OpenRequest& request) override {
    const std::string inside = inside_(request.path);
    const bool creates = request.creation == Creation::create;
    const int flags = open_flags(request.access) | (creates ? O_CREAT : 0);
    const int file = creates ? ::ceph_open_layout(calls_.client, inside.c_str(), flags, 0600, layout_.stripe_unit,
                                                  layout_.stripe_count, layout_.object_size,
                                                  layout_.pool.empty() ? nullptr : layout_.pool.c_str())
                             : ::ceph_open(calls_.client, inside.c_str(), flags, 0);
    if (file == -EINVAL && creates)
      throw IoError({"ceph_open_layout", inside, 0, 0, EINVAL}, "the file system refuses this layout",
                    "make stripe_unit a multiple of 64 KiB and object_size a multiple of stripe_unit, and name a data "
                    "pool of the file system");
    if (file < 0) throw IoError({"ceph_open", inside, 0, 0, -file});
    if (calls_.lazy) ::ceph_lazyio(calls_.client, file, 1);
    return std::make_unique<LibraryFile<CephCalls>>(calls_, file, inside, method_);
  }
  void remove(const std::string& path) override { remove_file(calls_, inside_(path)); }
  std::unique_ptr<Directory> open_directory(const std::string& path) override {
    return std::make_unique<LibraryDirectory<CephCalls>>(calls_, inside_(path));
  }
  std::uint64_t largest_transfer() const override { return std::uint64_t{1} << 30; }

 private:
  Address address_;
  std::string mount_, root_;
  LibraryMethod method_;
  Layout layout_;
  InsidePaths inside_;
  CephCalls calls_;
};

constexpr double largest_size = 1 << 30;
constexpr Parameter cephfs_parameters[] = {
    {"conf", Kind::config, "\"\"", "Path of ceph.conf; empty: $CEPH_CONF, or Ceph's default paths."},
    {"user", Kind::user, "\"\"", "Name of the client, without \"client.\"; empty: admin."},
    {"filesystem", Kind::volume, "\"\"", "Name of the file system; empty: the cluster's default."},
    {"method", Kind::choice, "\"multiple\"",
     "Transfer of a request of several extents: one call for each extent (multiple), or one call for each run of "
     "adjacent extents in the file (vectored: ceph_preadv, ceph_pwritev).",
     no_limit, no_limit, "multiple|vectored"},
    {"cache", Kind::flag, "true", "Let the library cache data in the process (client_oc)."},
    {"lazy", Kind::flag, "false",
     "Let several clients cache a file that all of them write, provided that each keeps to its own parts "
     "(ceph_lazyio)."},
    {"stripe_unit", Kind::bytes, "0",
     "Stripe unit of new files: bytes that go to one object before the next; 0: the value of the directory.", 0,
     largest_size},
    {"stripe_count", Kind::count, "0",
     "Stripe count of new files: objects over which a file is striped at a time; 0: the value of the directory.", 0,
     65535},
    {"object_size", Kind::bytes, "0", "Object size of new files; 0: the value of the directory.", 0, largest_size},
    {"pool", Kind::pool, "\"\"", "Data pool of new files; empty: that of the directory."},
    {"timeout", Kind::seconds, "60",
     "Time limit of a request to an object store (OSD); a request that takes longer fails.", 1, 86400},
    mount_parameter,
    root_parameter,
};

constexpr MetadataCalls calls{MetadataCall::make_directory,
                              MetadataCall::remove_directory,
                              MetadataCall::change_directory,
                              MetadataCall::list,
                              MetadataCall::make_node,
                              MetadataCall::open,
                              MetadataCall::seek,
                              MetadataCall::state,
                              MetadataCall::set_mode,
                              MetadataCall::set_times,
                              MetadataCall::truncate,
                              MetadataCall::rename,
                              MetadataCall::link,
                              MetadataCall::symbolic_link,
                              MetadataCall::attributes,
                              MetadataCall::unlink};

}  // namespace

extern const InterfaceEntry cephfs_entry{
    "cephfs",
    "CephFS's own library, libcephfs: ceph_read, ceph_write, without a mount.",
    {.storage = Storage::kept, .metadata = calls, .client = StorageClient::library},
    cephfs_parameters,
    make_interface<Cephfs>};

}  // namespace strider
