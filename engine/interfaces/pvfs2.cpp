// Written against the public headers of OrangeFS 2.10.
extern "C" {
#include <pvfs2.h>
// What the library hands out comes from an allocator of its own. Lists of entries have no call that frees them in its
// headers; its programs do it by this one.
void PINT_free(void* memory);
}

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "interfaces/connect_limit.hpp"
#include "interfaces/library_file.hpp"
#include "interfaces/mounts.hpp"

namespace strider {
namespace {

/// Pieces of a request description that the library encodes into one message: it takes 100 at most.
constexpr std::size_t largest_list = 64;
constexpr std::uint64_t largest_piece = std::uint64_t{1} << 30;
constexpr int entries_at_a_time = 64;
constexpr PVFS_permissions owner_file = PVFS_U_READ | PVFS_U_WRITE;
constexpr PVFS_permissions owner_folder = PVFS_USER_ALL;

/// A negative errno of the library's own kind of number; 0 where it is none.
int negative_errno(PVFS_error error) { return error < 0 ? -std::abs(PVFS_get_errno_mapping(error)) : 0; }

IoError error_of(PVFS_error error, const char* call, const std::string& file, std::uint64_t offset = 0,
                 std::uint64_t length = 0) {
  std::array<char, 256> text{};
  PVFS_strerror_r(error, text.data(), static_cast<int>(text.size()));
  return {{call, file, offset, length, -negative_errno(error)}, text.data()};
}

void require(PVFS_error error, const char* call, const std::string& file) {
  if (error < 0) throw error_of(error, call, file);
}

/// A description of places in a file or in memory; the library's handle frees itself.
class Places {
 public:
  Places() = default;
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;
  ~Places() {
    if (request_ != nullptr) PVFS_Request_free(&request_);
  }
  void contiguous(std::uint64_t length) {
    PVFS_Request_contiguous(static_cast<std::int32_t>(length), PVFS_BYTE, &request_);
  }
  void list(std::span<std::int32_t> lengths, std::span<PVFS_size> places) {
    PVFS_Request_hindexed(static_cast<std::int32_t>(lengths.size()), lengths.data(), places.data(), PVFS_BYTE,
                          &request_);
  }
  PVFS_Request get() const { return request_; }

 private:
  PVFS_Request request_ = nullptr;
};

/// How new files are laid out; what is not said is as the directory or the file system has it.
struct Layout {
  std::string distribution;
  PVFS_size stripe_size = 0;
  std::int32_t data_files = 0;
};

enum class Method { multiple, list };

class Pvfs2File final : public File {
 public:
  Pvfs2File(PVFS_object_ref file, PVFS_credential* credential, std::string path, Method method)
      : file_(file), credential_(credential), path_(std::move(path)), method_(method) {}

  void write(const Request& request) override { move(PVFS_IO_WRITE, request); }
  void read(const Request& request) override { move(PVFS_IO_READ, request); }
  void sync() override { require(PVFS_sys_flush(file_, credential_, PVFS_HINT_NULL), "PVFS_sys_flush", path_); }
  /// The system interface has no open files: there is nothing to close.
  void close() override {}
  std::uint64_t size() override {
    PVFS_sysresp_getattr found{};
    require(PVFS_sys_getattr(file_, PVFS_ATTR_SYS_SIZE, credential_, &found, PVFS_HINT_NULL), "PVFS_sys_getattr",
            path_);
    return static_cast<std::uint64_t>(found.attr.size);
  }
  Facts facts() const override {
    PVFS_sysresp_getattr found{};
    if (PVFS_sys_getattr(file_, PVFS_ATTR_SYS_ALL, credential_, &found, PVFS_HINT_NULL) < 0) return {};
    Facts facts{{"path in the file system", path_}, {"data files", std::to_string(found.attr.dfile_count)}};
    if (found.attr.dist_name != nullptr) facts["distribution"] = found.attr.dist_name;
    if (found.attr.dist_params != nullptr) facts["distribution parameters"] = found.attr.dist_params;
    PVFS_util_release_sys_attr(&found.attr);
    return facts;
  }

 private:
  void move(enum PVFS_io_type type, const Request& request) {
    if (request.extents.size() < 2 || method_ == Method::multiple) {
      for (const Extent& extent : request.extents) move_extent(type, extent, request.memory);
      return;
    }
    for (std::size_t first = 0; first < request.extents.size(); first += largest_list)
      move_list(type, request.extents.subspan(first, std::min(largest_list, request.extents.size() - first)),
                request.memory);
  }
  void move_extent(enum PVFS_io_type type, const Extent& extent, std::byte* memory) {
    move_whole({"", "PVFS_sys_io", path_}, memory + extent.memory_offset, extent.length, extent.file_offset,
               [&](std::byte* place, std::uint64_t length, std::uint64_t offset) -> std::int64_t {
                 Places in_memory;
                 in_memory.contiguous(std::min(length, largest_piece));
                 PVFS_sysresp_io result{};
                 const PVFS_error error = PVFS_sys_io(file_, PVFS_BYTE, static_cast<PVFS_offset>(offset), place,
                                                      in_memory.get(), credential_, &result, type, PVFS_HINT_NULL);
                 if (error < 0) throw error_of(error, "PVFS_sys_io", path_, offset, length);
                 return result.total_completed;
               });
  }
  /// One call for noncontiguous memory and a noncontiguous file.
  void move_list(enum PVFS_io_type type, std::span<const Extent> extents, std::byte* memory) {
    std::array<std::int32_t, largest_list> lengths{};
    std::array<PVFS_size, largest_list> in_file{}, in_memory{};
    for (std::size_t i = 0; i < extents.size(); ++i) {
      lengths[i] = static_cast<std::int32_t>(extents[i].length);
      in_file[i] = static_cast<PVFS_size>(extents[i].file_offset);
      in_memory[i] = static_cast<PVFS_size>(extents[i].memory_offset);
    }
    Places file_places, memory_places;
    const auto pieces = std::span(lengths).first(extents.size());
    file_places.list(pieces, in_file);
    memory_places.list(pieces, in_memory);
    PVFS_sysresp_io result{};
    const std::uint64_t bytes = bytes_of(extents), offset = extents[0].file_offset;
    const PVFS_error error = PVFS_sys_io(file_, file_places.get(), 0, memory, memory_places.get(), credential_, &result,
                                         type, PVFS_HINT_NULL);
    if (error < 0) throw error_of(error, "PVFS_sys_io", path_, offset, bytes);
    if (static_cast<std::uint64_t>(result.total_completed) != bytes)
      throw IoError({"PVFS_sys_io", path_, offset, bytes, 0},
                    "the call moved " + std::to_string(result.total_completed) + " bytes: the file ends here");
  }

  PVFS_object_ref file_;
  PVFS_credential* credential_;
  std::string path_;
  Method method_;
};

/// A path's folder and the name in it, in memory that the library may write to.
struct Split {
  explicit Split(const char* path) {
    const std::string_view text(path);
    const std::size_t slash = text.rfind('/');
    folder = slash == 0 ? "/" : text.substr(0, slash);
    name = text.substr(slash + 1);
  }
  std::string folder, name;
};

struct Pvfs2Calls : LibraryCalls {
  static constexpr const char* prefix = "PVFS_sys_";
  PVFS_fs_id system = 0;
  PVFS_credential* credential = nullptr;

  /// What LibraryDirectory calls an open file.
  static PVFS_object_ref& file(Handle handle) { return *reinterpret_cast<PVFS_object_ref*>(handle); }
  PVFS_error find(std::string path, PVFS_object_ref& object) const {
    PVFS_sysresp_lookup found{};
    const PVFS_error error =
        PVFS_sys_lookup(system, path.data(), credential, &found, PVFS2_LOOKUP_LINK_NO_FOLLOW, PVFS_HINT_NULL);
    object = found.ref;
    return error;
  }
  PVFS_sys_attr attributes(PVFS_permissions permissions) const {
    PVFS_sys_attr attributes{};
    attributes.owner = credential->userid;
    attributes.group = credential->group_array[0];
    attributes.perms = permissions;
    attributes.atime = attributes.mtime = attributes.ctime = static_cast<PVFS_time>(std::time(nullptr));
    attributes.mask = PVFS_ATTR_SYS_ALL_SETABLE;  // less is refused
    return attributes;
  }
  PVFS_error create(const char* path, const Layout& layout, PVFS_object_ref& object) const {
    Split split(path);
    PVFS_object_ref folder{};
    if (const PVFS_error error = find(split.folder, folder); error < 0) return error;
    PVFS_sys_attr wanted = attributes(owner_file);
    if (layout.data_files > 0) {
      wanted.dfile_count = layout.data_files;
      wanted.mask |= PVFS_ATTR_SYS_DFILE_COUNT;
    }
    PVFS_sys_dist* distribution = nullptr;
    if (!layout.distribution.empty()) {
      distribution = PVFS_sys_dist_lookup(layout.distribution.c_str());
      if (distribution == nullptr) return -PVFS_EINVAL;
      PVFS_size stripe_size = layout.stripe_size;
      if (stripe_size > 0) PVFS_sys_dist_setparam(distribution, "strip_size", &stripe_size);
    }
    PVFS_sysresp_create made{};
    const PVFS_error error =
        PVFS_sys_create(split.name.data(), folder, wanted, credential, distribution, &made, nullptr, PVFS_HINT_NULL);
    if (distribution != nullptr) PVFS_sys_dist_free(distribution);
    object = made.ref;
    return error;
  }

  int mkdir(const char* path) const {
    Split split(path);
    PVFS_object_ref folder{};
    PVFS_error error = find(split.folder, folder);
    PVFS_sysresp_mkdir made{};
    if (error >= 0)
      error = PVFS_sys_mkdir(split.name.data(), folder, attributes(owner_folder), credential, &made, PVFS_HINT_NULL);
    return negative_errno(error);
  }
  int unlink(const char* path) const {
    Split split(path);
    PVFS_object_ref folder{};
    PVFS_error error = find(split.folder, folder);
    if (error >= 0) error = PVFS_sys_remove(split.name.data(), folder, credential, PVFS_HINT_NULL);
    return negative_errno(error);
  }
  int rmdir(const char* path) const { return unlink(path); }
  int list(const char* path, EntryVisitor& visitor) const {
    PVFS_object_ref folder{};
    PVFS_error error = find(path, folder);
    PVFS_ds_position token = PVFS_READDIR_START;
    while (error >= 0 && token != PVFS_READDIR_END) {
      PVFS_sysresp_readdir found{};
      error = PVFS_sys_readdir(folder, token, entries_at_a_time, credential, &found, PVFS_HINT_NULL);
      if (error < 0) break;
      for (std::uint32_t i = 0; i < found.pvfs_dirent_outcount; ++i) visitor.entry(found.dirent_array[i].d_name);
      token = found.pvfs_dirent_outcount == 0 ? PVFS_READDIR_END : found.token;
      PINT_free(found.dirent_array);
    }
    return negative_errno(error);
  }
  int mknod(const char* path) const {
    PVFS_object_ref made{};
    return negative_errno(create(path, {}, made));
  }
  int open(const char* path, OpenMode mode, Handle& handle) const {
    PVFS_object_ref found{};
    const PVFS_error error = mode == OpenMode::create ? create(path, {}, found) : find(path, found);
    if (error >= 0) handle = reinterpret_cast<Handle>(std::make_unique<PVFS_object_ref>(found).release());
    return negative_errno(error);
  }
  std::int64_t move(Handle handle, std::byte* memory, std::uint64_t length, std::uint64_t offset,
                    enum PVFS_io_type type) const {
    Places in_memory;
    in_memory.contiguous(length);
    PVFS_sysresp_io result{};
    const PVFS_error error = PVFS_sys_io(file(handle), PVFS_BYTE, static_cast<PVFS_offset>(offset), memory,
                                         in_memory.get(), credential, &result, type, PVFS_HINT_NULL);
    return error < 0 ? negative_errno(error) : result.total_completed;
  }
  std::int64_t pwrite(Handle handle, const std::byte* from, std::uint64_t length, std::uint64_t offset) const {
    return move(handle, const_cast<std::byte*>(from), length, offset, PVFS_IO_WRITE);
  }
  std::int64_t pread(Handle handle, std::byte* to, std::uint64_t length, std::uint64_t offset) const {
    return move(handle, to, length, offset, PVFS_IO_READ);
  }
  int fsync(Handle handle) const { return negative_errno(PVFS_sys_flush(file(handle), credential, PVFS_HINT_NULL)); }
  static int close(Handle handle) {
    const std::unique_ptr<PVFS_object_ref> owned(&file(handle));
    return 0;
  }
  int lstat(const char* path, ItemState& state) const {
    PVFS_object_ref object{};
    PVFS_error error = find(path, object);
    PVFS_sysresp_getattr found{};
    if (error >= 0)
      error =
          PVFS_sys_getattr(object, PVFS_ATTR_SYS_COMMON_ALL | PVFS_ATTR_SYS_SIZE, credential, &found, PVFS_HINT_NULL);
    state.type = found.attr.objtype == PVFS_TYPE_METAFILE    ? ItemType::file
                 : found.attr.objtype == PVFS_TYPE_DIRECTORY ? ItemType::directory
                 : found.attr.objtype == PVFS_TYPE_SYMLINK   ? ItemType::symbolic_link
                                                             : ItemType::other;
    state.size_bytes = static_cast<std::uint64_t>(found.attr.size);
    state.links = 1;  // there are no hard links
    return negative_errno(error);
  }
  int set(const char* path, const PVFS_sys_attr& wanted) const {
    PVFS_object_ref object{};
    PVFS_error error = find(path, object);
    if (error >= 0) error = PVFS_sys_setattr(object, wanted, credential, PVFS_HINT_NULL);
    return negative_errno(error);
  }
  int chmod(const char* path, unsigned mode) const {
    PVFS_sys_attr wanted{};
    wanted.perms = mode & PVFS_PERM_VALID;
    wanted.mask = PVFS_ATTR_SYS_PERM;
    return set(path, wanted);
  }
  int set_times(const char* path) const {
    PVFS_sys_attr wanted{};  // without times of its own: now
    wanted.mask = PVFS_ATTR_SYS_ATIME | PVFS_ATTR_SYS_MTIME;
    return set(path, wanted);
  }
  int truncate(const char* path, std::uint64_t bytes) const {
    PVFS_object_ref object{};
    PVFS_error error = find(path, object);
    if (error >= 0) error = PVFS_sys_truncate(object, static_cast<PVFS_size>(bytes), credential, PVFS_HINT_NULL);
    return negative_errno(error);
  }
  int rename(const char* from, const char* to) const {
    Split before(from), after(to);
    PVFS_object_ref old_folder{}, new_folder{};
    PVFS_error error = find(before.folder, old_folder);
    if (error >= 0) error = find(after.folder, new_folder);
    if (error >= 0)
      error =
          PVFS_sys_rename(before.name.data(), old_folder, after.name.data(), new_folder, credential, PVFS_HINT_NULL);
    return negative_errno(error);
  }
  int symlink(const char* target, const char* path) const {
    Split split(path);
    std::string text(target);
    PVFS_object_ref folder{};
    PVFS_error error = find(split.folder, folder);
    PVFS_sysresp_symlink made{};
    if (error >= 0)
      error =
          PVFS_sys_symlink(split.name.data(), folder, text.data(), attributes(0777), credential, &made, PVFS_HINT_NULL);
    return negative_errno(error);
  }
  std::int64_t readlink(const char* path, std::span<char> out) const {
    PVFS_object_ref object{};
    PVFS_error error = find(path, object);
    PVFS_sysresp_getattr found{};
    if (error >= 0)
      error =
          PVFS_sys_getattr(object, PVFS_ATTR_SYS_TYPE | PVFS_ATTR_SYS_LNK_TARGET, credential, &found, PVFS_HINT_NULL);
    if (error < 0) return negative_errno(error);
    if (found.attr.link_target == nullptr) return -EINVAL;
    const std::size_t length = std::min(std::strlen(found.attr.link_target), out.size());
    std::memcpy(out.data(), found.attr.link_target, length);
    PVFS_util_release_sys_attr(&found.attr);
    return static_cast<std::int64_t>(length);
  }
  int setxattr(const char* path, std::string_view value) const {
    PVFS_object_ref object{};
    PVFS_error error = find(path, object);
    std::string name(attribute), text(value);
    PVFS_ds_keyval key{name.data(), static_cast<std::int32_t>(name.size()) + 1, 0};
    PVFS_ds_keyval content{text.data(), static_cast<std::int32_t>(text.size()), 0};
    if (error >= 0) error = PVFS_sys_seteattr(object, credential, &key, &content, 0, PVFS_HINT_NULL);
    return negative_errno(error);
  }
  std::int64_t getxattr(const char* path, std::span<char> out) const {
    PVFS_object_ref object{};
    PVFS_error error = find(path, object);
    std::string name(attribute);
    PVFS_ds_keyval key{name.data(), static_cast<std::int32_t>(name.size()) + 1, 0};
    PVFS_ds_keyval content{out.data(), static_cast<std::int32_t>(out.size()), 0};
    if (error >= 0) error = PVFS_sys_geteattr(object, credential, &key, &content, PVFS_HINT_NULL);
    return error < 0 ? negative_errno(error) : content.read_sz;
  }
};

/// The library, from the first case that needs it until the process ends.
class Library {
 public:
  explicit Library(const std::string& tab) {
    if (!tab.empty()) ::setenv("PVFS2TAB_FILE", tab.c_str(), 1);
    const auto begun = result_within(connect_limit, [] { return PVFS_util_init_defaults(); });
    if (!begun || *begun < 0)
      throw IoError({"PVFS_util_init_defaults", tab, 0, 0, begun ? -negative_errno(*begun) : ETIMEDOUT},
                    begun ? "no file system in the table can be reached" : "the server does not answer",
                    "set pvfs2.tab to a table like /etc/pvfs2tab, with a server that this host can reach");
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    result_within(connect_limit, [] { return PVFS_sys_finalize(); });
  }
};

void begin_library(const std::string& tab) { static const Library library(tab); }

class Pvfs2 final : public Interface {
 public:
  explicit Pvfs2(const Settings& settings)
      : tab_(settings.text("tab")),
        method_(settings.text("method") == "list" ? Method::list : Method::multiple),
        layout_{settings.text("distribution"), static_cast<PVFS_size>(settings.number("stripe_size")),
                static_cast<std::int32_t>(settings.number("data_files"))} {
    if (layout_.distribution == "default") layout_.distribution.clear();
    if (layout_.stripe_size > 0 && layout_.distribution.empty()) layout_.distribution = "simple_stripe";
    if (layout_.stripe_size > 0 && layout_.distribution == "basic_dist")
      throw InputError("pvfs2.stripe_size", "the distribution basic_dist has no stripes",
                       "pvfs2.distribution = \"simple_stripe\"");
  }

  void connect(const std::string& directory) override {
    begin_library(tab_);
    std::array<char, PATH_MAX> inside{};
    const PVFS_error known =
        PVFS_util_resolve(directory.c_str(), &calls_.system, inside.data(), static_cast<int>(inside.size()));
    if (known < 0)
      throw IoError({"PVFS_util_resolve", directory, 0, 0, 0},
                    "the table of file systems has no OrangeFS at the target",
                    "choose a target below a mount point in pvfs2.tab, /etc/pvfs2tab or /etc/fstab");
    inside_ = InsidePaths(directory, directory, inside.data());
    require(PVFS_util_gen_credential_defaults(&credential_), "PVFS_util_gen_credential_defaults", directory);
    calls_.credential = &credential_;
  }
  std::unique_ptr<File> open(const OpenRequest& request) override {
    const std::string inside = inside_(request.path);
    PVFS_object_ref file{};
    if (request.creation == Creation::create) {
      const PVFS_error made = calls_.create(inside.c_str(), layout_, file);
      if (made >= 0) return std::make_unique<Pvfs2File>(file, &credential_, inside, method_);
      if (negative_errno(made) != -EEXIST) throw error_of(made, "PVFS_sys_create", inside);
    }
    require(calls_.find(inside, file), "PVFS_sys_lookup", inside);
    return std::make_unique<Pvfs2File>(file, &credential_, inside, method_);
  }
  void remove(const std::string& path) override { remove_file(calls_, inside_(path), "remove"); }
  std::unique_ptr<Directory> open_directory(const std::string& path) override {
    return std::make_unique<LibraryDirectory<Pvfs2Calls>>(calls_, inside_(path));
  }
  std::uint64_t largest_transfer() const override { return largest_piece; }

 private:
  std::string tab_;
  Method method_;
  Layout layout_;
  InsidePaths inside_;
  PVFS_credential credential_{};
  Pvfs2Calls calls_;
};

constexpr Parameter parameters[] = {
    {"tab", Kind::config, "\"\"", "The table of file systems; empty: $PVFS2TAB_FILE, /etc/fstab or /etc/pvfs2tab."},
    {"method", Kind::choice, "\"list\"",
     "Transfer of a request of several extents: one call for each extent (multiple), or calls that each describe up to "
     "64 pieces in memory and file (list: PVFS_Request_hindexed).",
     no_limit, no_limit, "multiple|list"},
    {"distribution", Kind::choice, "\"default\"",
     "Distribution of new files over their data files; default: the file system's default.", no_limit, no_limit,
     "default|simple_stripe|twod_stripe|basic_dist"},
    {"stripe_size", Kind::bytes, "0",
     "Stripe size: bytes that go to one data file before the next; 0: the distribution's default.", 0, 1 << 30},
    {"data_files", Kind::count, "0", "Number of data files, each on one server; 0: the file system's default.", 0,
     65535},
};

constexpr MetadataCalls calls{MetadataCall::make_directory, MetadataCall::remove_directory,
                              MetadataCall::list,           MetadataCall::make_node,
                              MetadataCall::open,           MetadataCall::state,
                              MetadataCall::set_mode,       MetadataCall::set_times,
                              MetadataCall::truncate,       MetadataCall::rename,
                              MetadataCall::symbolic_link,  MetadataCall::attributes,
                              MetadataCall::unlink};

}  // namespace

extern const InterfaceEntry pvfs2_entry{
    "pvfs2",
    "OrangeFS's own library, libpvfs2: PVFS_sys_io, with descriptions of memory and file.",
    {.storage = Storage::kept, .metadata = calls, .client = StorageClient::library},
    parameters,
    make_interface<Pvfs2>};

}  // namespace strider
