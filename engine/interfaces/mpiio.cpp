#include <mpi.h>

#include <cerrno>
#include <climits>
#include <system_error>

#include "interfaces/interface.hpp"
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

/// Explicit offsets, blocking, independent or collective.
class MpiFile final : public File {
 public:
  MpiFile(const OpenRequest& request, std::string name, bool collective, MPI_Info hints)
      : name_(std::move(name)), collective_(collective) {
    const int mode = (request.access == Access::write  ? MPI_MODE_WRONLY
                      : request.access == Access::read ? MPI_MODE_RDONLY
                                                       : MPI_MODE_RDWR) |
                     (request.creation == Creation::create ? MPI_MODE_CREATE : 0);
    const int code = MPI_File_open(request.group->communicator, name_.c_str(), mode, hints, &file_);
    if (code != MPI_SUCCESS) throw_mpi(code, {"MPI_File_open", name_, 0, 0, 0});
  }
  MpiFile(const MpiFile&) = delete;
  MpiFile& operator=(const MpiFile&) = delete;
  ~MpiFile() override {
    if (file_ != MPI_FILE_NULL) MPI_File_close(&file_);
  }

  void write(const Request& request) override {
    if (request.extents.empty()) write_piece({}, nullptr);
    for (const Extent& extent : request.extents) write_piece(extent, request.memory + extent.memory_offset);
  }
  void read(const Request& request) override {
    if (request.extents.empty()) read_piece({}, nullptr);
    for (const Extent& extent : request.extents) read_piece(extent, request.memory + extent.memory_offset);
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
  void write_piece(const Extent& extent, const std::byte* from) {
    std::uint64_t done = 0;
    do {
      MPI_Status status;
      const auto offset = static_cast<MPI_Offset>(extent.file_offset + done);
      const int count = static_cast<int>(extent.length - done);
      const int code = collective_ ? MPI_File_write_at_all(file_, offset, from + done, count, MPI_BYTE, &status)
                                   : MPI_File_write_at(file_, offset, from + done, count, MPI_BYTE, &status);
      done += moved(code, status, collective_ ? "MPI_File_write_at_all" : "MPI_File_write_at", extent, done);
    } while (done < extent.length);
  }
  void read_piece(const Extent& extent, std::byte* to) {
    std::uint64_t done = 0;
    do {
      MPI_Status status;
      const auto offset = static_cast<MPI_Offset>(extent.file_offset + done);
      const int count = static_cast<int>(extent.length - done);
      const int code = collective_ ? MPI_File_read_at_all(file_, offset, to + done, count, MPI_BYTE, &status)
                                   : MPI_File_read_at(file_, offset, to + done, count, MPI_BYTE, &status);
      done += moved(code, status, collective_ ? "MPI_File_read_at_all" : "MPI_File_read_at", extent, done);
    } while (done < extent.length);
  }
  /// Bytes the call moved. A short independent call is continued; a short collective one cannot be, since the other
  /// ranks would not join it.
  std::uint64_t moved(int code, MPI_Status& status, const char* call, const Extent& extent, std::uint64_t done) const {
    const std::uint64_t offset = extent.file_offset + done, wanted = extent.length - done;
    if (code != MPI_SUCCESS) throw_mpi(code, {call, name_, offset, wanted, 0});
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    const auto bytes = static_cast<std::uint64_t>(count > 0 ? count : 0);
    if (bytes < wanted && (bytes == 0 || collective_))
      throw IoError({call, name_, offset, wanted, 0},
                    "the call moved " + std::to_string(bytes) + " of " + std::to_string(wanted) + " bytes");
    return bytes;
  }

  MPI_File file_ = MPI_FILE_NULL;
  std::string name_;
  bool collective_;
};

class MpiIo final : public Interface {
 public:
  explicit MpiIo(const Settings& settings)
      : collective_(settings.text("access") == "collective"),
        prefix_(settings.text("prefix")),
        hints_(settings.map("hints")) {}

  std::unique_ptr<File> open(const OpenRequest& request) override {
    const Hints hints(hints_);
    return std::make_unique<MpiFile>(request, prefix_ + request.path, collective_, hints.get());
  }
  void remove(const std::string& path) override {
    const std::string name = prefix_ + path;
    const int code = MPI_File_delete(name.c_str(), MPI_INFO_NULL);
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    if (code != MPI_SUCCESS && error_class != MPI_ERR_NO_SUCH_FILE) throw_mpi(code, {"MPI_File_delete", name, 0, 0, 0});
  }
  Cooperation cooperation(RequestShape) const override {
    return collective_ ? Cooperation::collective : Cooperation::collective_open;
  }
  std::uint64_t largest_transfer() const override { return INT_MAX; }

 private:
  bool collective_;
  std::string prefix_;
  TextMap hints_;
};

constexpr Parameter parameters[] = {
    {"access", Kind::choice, "\"independent\"",
     "Who takes part in a transfer: each rank alone, or all ranks of the file together.", no_limit, no_limit,
     "independent|collective"},
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
