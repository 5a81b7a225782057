#include <mpi.h>

#include <cerrno>
#include <climits>
#include <system_error>

#include "interfaces/interface.hpp"
#include "interfaces/mpi_datatype.hpp"
#include "interfaces/mpi_group.hpp"

namespace strider {
namespace {

/// The errno behind an MPI error; 0 where none can be told, and MPI's own text says it. ROMIO hides most of them in
/// MPI_ERR_IO and quotes the system's message in its text.
int nearest_errno(int error_class, const std::string& text) {
  for (const int number : {ENOSPC, EDQUOT, EFBIG, EROFS, EACCES, EPERM, ESTALE, EINVAL, ENOENT})
    if (text.find(std::generic_category().message(number)) != std::string::npos) return number;
  switch (error_class) {
    case MPI_ERR_NO_SPACE: return ENOSPC;
    case MPI_ERR_QUOTA: return EDQUOT;
    case MPI_ERR_ACCESS: return EACCES;
    case MPI_ERR_READ_ONLY: return EROFS;
    case MPI_ERR_NO_SUCH_FILE: return ENOENT;
    case MPI_ERR_IO: return EIO;
    default: return 0;
  }
}

[[noreturn]] void throw_mpi(int code, IoError::What what) {
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0, error_class = 0;
  MPI_Error_string(code, text, &length);
  MPI_Error_class(code, &error_class);
  const std::string message(text, static_cast<std::size_t>(length));
  what.error_number = nearest_errno(error_class, message);
  throw IoError(std::move(what), message);
}

/// MPI hints as an object that frees itself.
class Hints {
 public:
  explicit Hints(const TextMap& hints) {
    if (hints.empty()) return;
    MPI_Info_create(&info_);
    for (const auto& [key, value] : hints) MPI_Info_set(info_, key.c_str(), value.c_str());
  }
  Hints(const Hints&) = delete;
  Hints& operator=(const Hints&) = delete;
  ~Hints() {
    if (info_ != MPI_INFO_NULL) MPI_Info_free(&info_);
  }
  MPI_Info get() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

/// How a request of several extents is done.
enum class Method {
  multiple,  ///< an MPI call for each extent
  list,      ///< one call; a file view made for the request
  view,      ///< one call; one file view for all requests, where they repeat regularly
};

struct Options {
  bool collective = false;
  Method method = Method::list;
};

/// Blocking transfers, independent or collective, at explicit offsets or, for requests of several extents, through
/// views.
class MpiFile final : public File {
 public:
  MpiFile(const OpenRequest& request, std::string name, Options options, MPI_Info hints)
      : name_(std::move(name)), options_(options) {
    // Data sieving reads what is in the holes of a noncontiguous write.
    const int writing = request.shape.contiguous ? MPI_MODE_WRONLY : MPI_MODE_RDWR;
    const int mode = (request.access == Access::write  ? writing
                      : request.access == Access::read ? MPI_MODE_RDONLY
                                                       : MPI_MODE_RDWR) |
                     (request.creation == Creation::create ? MPI_MODE_CREATE : 0);
    const int code = MPI_File_open(request.group->communicator, name_.c_str(), mode, hints, &file_);
    if (code != MPI_SUCCESS) throw_mpi(code, {"MPI_File_open", name_, 0, 0, 0});
    lists_ = !request.shape.contiguous && options_.method != Method::multiple;
    if (lists_ && options_.method == Method::view && request.shape.regular) view_all(request.regular);
  }
  MpiFile(const MpiFile&) = delete;
  MpiFile& operator=(const MpiFile&) = delete;
  ~MpiFile() override {
    if (file_ != MPI_FILE_NULL) MPI_File_close(&file_);
  }

  void write(const Request& request) override {
    if (lists_) return move_list(request, write_call());
    if (request.extents.empty()) move_piece({}, nullptr, write_call());
    for (const Extent& extent : request.extents)
      move_piece(extent, request.memory + extent.memory_offset, write_call());
  }
  void read(const Request& request) override {
    if (lists_) return move_list(request, read_call());
    if (request.extents.empty()) move_piece({}, nullptr, read_call());
    for (const Extent& extent : request.extents) move_piece(extent, request.memory + extent.memory_offset, read_call());
  }
  void sync() override {
    const int code = MPI_File_sync(file_);
    if (code != MPI_SUCCESS) throw_mpi(code, {"MPI_File_sync", name_, 0, 0, 0});
  }
  void close() override {
    const int code = MPI_File_close(&file_);
    file_ = MPI_FILE_NULL;
    if (code != MPI_SUCCESS) throw_mpi(code, {"MPI_File_close", name_, 0, 0, 0});
  }

  /// The hints in force, as the library reports them back.
  Facts facts() const override {
    Facts facts;
    MPI_Info used = MPI_INFO_NULL;
    if (MPI_File_get_info(file_, &used) != MPI_SUCCESS || used == MPI_INFO_NULL) return facts;
    int count = 0;
    MPI_Info_get_nkeys(used, &count);
    for (int i = 0; i < count; ++i) {
      char key[MPI_MAX_INFO_KEY + 1] = {}, value[MPI_MAX_INFO_VAL + 1] = {};
      int found = 0;
      MPI_Info_get_nthkey(used, i, key);
      MPI_Info_get(used, key, MPI_MAX_INFO_VAL, value, &found);
      if (found != 0) facts["hint." + std::string(key)] = value;
    }
    MPI_Info_free(&used);
    return facts;
  }

 private:
  /// MPI_File_read_at and its relatives in one form: they differ in the constness of the buffer alone.
  struct Call {
    const char* name;
    int (*function)(MPI_File, MPI_Offset, void*, int, MPI_Datatype, MPI_Status*);
  };
  Call read_call() const {
    if (options_.collective) return {"MPI_File_read_at_all", MPI_File_read_at_all};
    return {"MPI_File_read_at", MPI_File_read_at};
  }
  Call write_call() const {
    if (options_.collective)
      return {"MPI_File_write_at_all",
              [](MPI_File file, MPI_Offset offset, void* from, int count, MPI_Datatype type, MPI_Status* status) {
                return MPI_File_write_at_all(file, offset, from, count, type, status);
              }};
    return {"MPI_File_write_at",
            [](MPI_File file, MPI_Offset offset, void* from, int count, MPI_Datatype type, MPI_Status* status) {
              return MPI_File_write_at(file, offset, from, count, type, status);
            }};
  }

  void move_piece(const Extent& extent, std::byte* memory, const Call& call) {
    std::uint64_t done = 0;
    do {
      MPI_Status status;
      const int code = call.function(file_, static_cast<MPI_Offset>(extent.file_offset + done), memory + done,
                                     static_cast<int>(extent.length - done), MPI_BYTE, &status);
      done += moved(code, status, call.name, extent.file_offset + done, extent.length - done);
    } while (done < extent.length);
  }

  /// A whole request by one call.
  void move_list(const Request& request, const Call& call) {
    const std::uint64_t bytes = bytes_of(request.extents);
    MPI_Offset offset = 0;
    if (view_bytes_ > 0) offset = static_cast<MPI_Offset>(request.number * view_bytes_);
    else view_request(request);
    MPI_Status status;
    int code = MPI_SUCCESS;
    if (request.extents.empty()) {
      code = call.function(file_, 0, nullptr, 0, MPI_BYTE, &status);
    } else if (is_dense(request.extents, Side::memory)) {
      code = call.function(file_, offset, request.memory + request.extents[0].memory_offset, static_cast<int>(bytes),
                           MPI_BYTE, &status);
    } else {
      const ExtentType memory_type(request.extents, Side::memory);
      code = call.function(file_, offset, request.memory, 1, memory_type.get(), &status);
    }
    const std::uint64_t begin = request.extents.empty() ? 0 : request.extents[0].file_offset;
    const std::uint64_t done = moved(code, status, call.name, begin, bytes);
    if (done < bytes)
      throw IoError({call.name, name_, begin, bytes, 0},
                    "the call moved " + std::to_string(done) + " of " + std::to_string(bytes) + " bytes");
  }

  void view_all(const RegularRequests& regular) {
    const ExtentType once(regular.first, Side::file);
    const ResizedType repeated(once.get(), regular.shift);
    set_view(repeated.get());
    view_bytes_ = bytes_of(regular.first);
  }
  /// Collective over the group, like every change of the view.
  void view_request(const Request& request) {
    if (request.extents.empty()) return set_view(MPI_BYTE);
    const ExtentType type(request.extents, Side::file);
    set_view(type.get());
  }
  void set_view(MPI_Datatype type) {
    const int code = MPI_File_set_view(file_, 0, MPI_BYTE, type, "native", MPI_INFO_NULL);
    if (code != MPI_SUCCESS) throw_mpi(code, {"MPI_File_set_view", name_, 0, 0, 0});
  }

  /// Bytes the call moved. A short independent call is continued; a short collective one cannot be, since the other
  /// ranks would not join it.
  std::uint64_t moved(int code, MPI_Status& status, const char* call, std::uint64_t offset,
                      std::uint64_t wanted) const {
    if (code != MPI_SUCCESS) throw_mpi(code, {call, name_, offset, wanted, 0});
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    const auto bytes = static_cast<std::uint64_t>(count > 0 ? count : 0);
    if (bytes < wanted && (bytes == 0 || options_.collective))
      throw IoError({call, name_, offset, wanted, 0},
                    "the call moved " + std::to_string(bytes) + " of " + std::to_string(wanted) + " bytes");
    return bytes;
  }

  MPI_File file_ = MPI_FILE_NULL;
  std::string name_;
  Options options_;
  bool lists_ = false;            ///< requests have several extents and go by one call
  std::uint64_t view_bytes_ = 0;  ///< of a request, where one view serves all
};

class MpiIo final : public Interface {
 public:
  explicit MpiIo(const Settings& settings)
      : options_{settings.text("access") == "collective", method_of(settings.text("method"))},
        prefix_(settings.text("prefix")),
        hints_(settings.map("hints")) {
    if (options_.collective && options_.method == Method::multiple)
      throw InputError("mpiio.method", "collective access moves a whole request by one call",
                       "mpiio.method = \"list\" or \"view\", or mpiio.access = \"independent\"");
  }

  std::unique_ptr<File> open(const OpenRequest& request) override {
    const Hints hints(hints_);
    return std::make_unique<MpiFile>(request, prefix_ + request.path, options_, hints.get());
  }
  void remove(const std::string& path) override {
    const std::string name = prefix_ + path;
    const int code = MPI_File_delete(name.c_str(), MPI_INFO_NULL);
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    if (code != MPI_SUCCESS && error_class != MPI_ERR_NO_SUCH_FILE) throw_mpi(code, {"MPI_File_delete", name, 0, 0, 0});
  }
  Cooperation cooperation(RequestShape shape) const override {
    const bool view_for_each_request =
        !shape.contiguous && options_.method != Method::multiple && !(options_.method == Method::view && shape.regular);
    // Setting a view is collective, even where the transfers through it are not.
    return options_.collective || view_for_each_request ? Cooperation::collective : Cooperation::collective_open;
  }
  std::uint64_t largest_transfer() const override { return INT_MAX; }

 private:
  static Method method_of(const std::string& name) {
    return name == "multiple" ? Method::multiple : name == "view" ? Method::view : Method::list;
  }

  Options options_;
  std::string prefix_;
  TextMap hints_;
};

constexpr Parameter parameters[] = {
    {"access", Kind::choice, "\"independent\"",
     "Who takes part in a transfer: each rank alone, or all ranks of the file together.", no_limit, no_limit,
     "independent|collective"},
    {"method", Kind::choice, "\"list\"",
     "How a request of several extents is done: an MPI call for each (multiple), one call through a file view made for "
     "the request (list), or one call through a view that serves all requests (view; like list where requests do not "
     "repeat regularly). The memory side is an MPI datatype where it is not contiguous.",
     no_limit, no_limit, "multiple|list|view"},
    {"prefix", Kind::text, "\"\"",
     "Put before the file's name to choose MPI's file system driver, such as \"ufs:\" or \"pvfs2:\"."},
    {"hints", Kind::map, "{}", "MPI_Info hints given at open, such as { romio_cb_write = \"enable\" }."},
};

}  // namespace

extern const InterfaceEntry mpiio_entry{"mpiio",
                                        "MPI-IO at explicit offsets: MPI_File_write_at and its relatives.",
                                        {.storage = true, .collective = true},
                                        parameters,
                                        make_interface<MpiIo>};

}  // namespace strider
