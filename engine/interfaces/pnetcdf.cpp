#include <mpi.h>
#include <pnetcdf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <memory>
#include <optional>
#include <vector>

#include "interfaces/interface.hpp"
#include "interfaces/mpi/error.hpp"
#include "interfaces/mpi/hints.hpp"
#include "interfaces/mpi_datatype.hpp"
#include "interfaces/mpi_group.hpp"

namespace strider {
namespace {

[[noreturn]] void fail(int code, IoError::What what) {
  const std::string text = ncmpi_strerror(code);
  what.error_number = code == NC_ENOENT ? ENOENT : quoted_errno(text);
  throw IoError(std::move(what), text);
}

enum class Calls { blocking, nonblocking, buffered };

struct Options {
  bool collective = false;
  Calls calls = Calls::blocking;
};

/// A request in the terms of PnetCDF: pieces of a variable with one dimension of bytes, and an MPI type for the memory.
class Pieces {
 public:
  explicit Pieces(const Request& request) {
    const std::size_t count = request.extents.size();
    numbers_.resize(2 * count);
    for (std::size_t i = 0; i < count; ++i) {
      numbers_[i] = static_cast<MPI_Offset>(request.extents[i].file_offset);
      numbers_[count + i] = static_cast<MPI_Offset>(request.extents[i].length);
    }
    pointers_.resize(2 * count);
    for (std::size_t i = 0; i < 2 * count; ++i) pointers_[i] = &numbers_[i];
    bytes_ = static_cast<MPI_Offset>(bytes_of(request.extents));
    if (request.extents.empty()) return;
    if (is_dense(request.extents, Side::memory)) {
      memory_ = request.memory + request.extents[0].memory_offset;
    } else {
      type_.emplace(request.extents, Side::memory, MPI_UNSIGNED_CHAR);
      memory_ = request.memory;
    }
  }
  int count() const { return static_cast<int>(pointers_.size() / 2); }
  MPI_Offset* const* starts() { return pointers_.data(); }
  MPI_Offset* const* counts() { return pointers_.data() + count(); }
  std::byte* memory() { return memory_ != nullptr ? memory_ : &nothing_; }
  MPI_Offset items() const { return type_ ? 1 : bytes_; }
  MPI_Datatype type() const { return type_ ? type_->get() : MPI_UNSIGNED_CHAR; }
  MPI_Offset bytes() const { return bytes_; }

 private:
  std::vector<MPI_Offset> numbers_;  ///< starts, then counts
  std::vector<MPI_Offset*> pointers_;
  std::byte* memory_ = nullptr;
  std::byte nothing_{};
  std::optional<ExtentType> type_;
  MPI_Offset bytes_ = 0;
};

/// A file with one variable of bytes, named "data", in the format CDF-5.
class NetcdfHandle {
 public:
  NetcdfHandle(const OpenRequest& request, const Options& options, MPI_Info hints)
      : name_(request.path), collective_(options.collective && !request.shape.plain) {
    const MPI_Comm group = request.group->communicator;
    if (request.creation == Creation::create) {
      check(ncmpi_create(group, name_.c_str(), NC_CLOBBER | NC_64BIT_DATA, hints, &id_), "ncmpi_create");
      is_open_ = true;
      define(request.file_size);
      if (request.verified) set_size(request);
    } else {
      const int mode = request.access == Access::read ? NC_NOWRITE : NC_WRITE;
      check(ncmpi_open(group, name_.c_str(), mode, hints, &id_), "ncmpi_open");
      is_open_ = true;
      check(ncmpi_inq_varid(id_, "data", &variable_), "ncmpi_inq_varid");
    }
    if (!collective_) check(ncmpi_begin_indep_data(id_), "ncmpi_begin_indep_data");
  }
  NetcdfHandle(const NetcdfHandle&) = delete;
  NetcdfHandle& operator=(const NetcdfHandle&) = delete;
  ~NetcdfHandle() {
    if (is_open_) ncmpi_close(id_);
  }

  int id() const { return id_; }
  int variable() const { return variable_; }
  const std::string& name() const { return name_; }
  bool collective() const { return collective_; }
  void sync() { check(ncmpi_sync(id_), "ncmpi_sync"); }
  void close() {
    is_open_ = false;
    check(ncmpi_close(id_), "ncmpi_close");
  }
  /// What the variable's place in the file leaves of it. The library does not report how long a file is, the kernel
  /// does.
  std::uint64_t size() const {
    int dimension = 0;
    MPI_Offset bytes = 0, offset = 0;
    check(ncmpi_inq_dimid(id_, "byte", &dimension), "ncmpi_inq_dimid");
    check(ncmpi_inq_dimlen(id_, dimension, &bytes), "ncmpi_inq_dimlen");
    check(ncmpi_inq_varoffset(id_, variable_, &offset), "ncmpi_inq_varoffset");
    struct stat status{};
    if (::stat(name_.c_str(), &status) != 0) return static_cast<std::uint64_t>(bytes);
    return static_cast<std::uint64_t>(std::clamp<MPI_Offset>(status.st_size - offset, 0, bytes));
  }
  Facts facts() const {
    Facts facts;
    facts["pnetcdf"] = ncmpi_inq_libvers();
    MPI_Offset offset = 0;
    if (ncmpi_inq_varoffset(id_, variable_, &offset) == NC_NOERR) facts["variable_offset"] = std::to_string(offset);
    MPI_Info used = MPI_INFO_NULL;
    if (ncmpi_inq_file_info(id_, &used) == NC_NOERR && used != MPI_INFO_NULL) {
      add_hints(used, facts);
      MPI_Info_free(&used);
    }
    return facts;
  }
  void check(int code, const char* call) const {
    if (code != NC_NOERR) fail(code, {call, name_, 0, 0, 0});
  }
  void check(int code, const char* call, const Request& request) const {
    if (code == NC_NOERR) return;
    const std::uint64_t begin = request.extents.empty() ? 0 : request.extents[0].file_offset;
    fail(code, {call, name_, begin, bytes_of(request.extents), 0});
  }

 private:
  void define(std::uint64_t size) {
    int dimension = 0;
    check(ncmpi_def_dim(id_, "byte", static_cast<MPI_Offset>(size), &dimension), "ncmpi_def_dim");
    check(ncmpi_def_var(id_, "data", NC_UBYTE, 1, &dimension, &variable_), "ncmpi_def_var");
    check(ncmpi_enddef(id_), "ncmpi_enddef");
  }

  /// ROMIO writes whatever its buffers held into holes beyond the file's end; and the library has no call for this.
  void set_size(const OpenRequest& request) const {
    MPI_Offset offset = 0;
    check(ncmpi_inq_varoffset(id_, variable_, &offset), "ncmpi_inq_varoffset");
    const auto bytes = static_cast<off_t>(offset) + static_cast<off_t>(request.file_size);
    const bool refused = request.place.rank == 0 && ::truncate(name_.c_str(), bytes) != 0;
    const int error = errno;
    MPI_Barrier(request.group->communicator);
    if (refused) throw IoError({"truncate", name_, 0, request.file_size, error});
  }

  std::string name_;
  bool collective_;
  int id_ = -1, variable_ = -1;
  bool is_open_ = false;
};

class BlockingNetcdfFile final : public File {
 public:
  BlockingNetcdfFile(const OpenRequest& request, const Options& options, MPI_Info hints)
      : handle_(request, options, hints) {}

  void write(const Request& request) override {
    Pieces pieces(request);
    const auto call = handle_.collective() ? ncmpi_put_varn_all : ncmpi_put_varn;
    handle_.check(call(handle_.id(), handle_.variable(), pieces.count(), pieces.starts(), pieces.counts(),
                       pieces.memory(), pieces.items(), pieces.type()),
                  handle_.collective() ? "ncmpi_put_varn_all" : "ncmpi_put_varn", request);
  }
  void read(const Request& request) override {
    Pieces pieces(request);
    const auto call = handle_.collective() ? ncmpi_get_varn_all : ncmpi_get_varn;
    handle_.check(call(handle_.id(), handle_.variable(), pieces.count(), pieces.starts(), pieces.counts(),
                       pieces.memory(), pieces.items(), pieces.type()),
                  handle_.collective() ? "ncmpi_get_varn_all" : "ncmpi_get_varn", request);
  }
  void sync() override { handle_.sync(); }
  void close() override { handle_.close(); }
  std::uint64_t size() override { return handle_.size(); }
  Facts facts() const override { return handle_.facts(); }

 private:
  NetcdfHandle handle_;
};

/// Posts requests and moves all of them in one wait. With Calls::buffered, writes are copied when they are posted.
class QueuedNetcdfFile final : public QueuedFile {
 public:
  QueuedNetcdfFile(const OpenRequest& request, const Options& options, MPI_Info hints)
      : handle_(request, options, hints),
        buffered_(options.calls == Calls::buffered && request.access != Access::read) {
    if (buffered_ && !request.memory.empty())
      handle_.check(ncmpi_buffer_attach(handle_.id(), static_cast<MPI_Offset>(request.memory.size())),
                    "ncmpi_buffer_attach");
    posted_.reserve(request.depth);
  }
  ~QueuedNetcdfFile() override {
    if (!posted_.empty()) ncmpi_cancel(handle_.id(), NC_REQ_ALL, nullptr, nullptr);
    if (buffered_) ncmpi_buffer_detach(handle_.id());
  }

  void submit(Direction direction, const Request& request, std::uint32_t slot) override {
    Posted posted;
    posted.slot = slot;
    posted.bytes = bytes_of(request.extents);
    if (!request.extents.empty()) {
      posted.offset = request.extents[0].file_offset;
      posted.pieces = std::make_unique<Pieces>(request);
      post(direction, request, posted);
    }
    posted_.push_back(std::move(posted));
  }
  /// Collective where transfers are.
  std::size_t complete(std::span<std::uint32_t> slots) override {
    std::vector<int> numbers, states;
    for (const Posted& posted : posted_)
      if (posted.pieces != nullptr) numbers.push_back(posted.number);
    states.resize(numbers.size());
    const auto wait = handle_.collective() ? ncmpi_wait_all : ncmpi_wait;
    const char* call = handle_.collective() ? "ncmpi_wait_all" : "ncmpi_wait";
    const int code = wait(handle_.id(), static_cast<int>(numbers.size()), numbers.data(), states.data());
    std::vector<Posted> done;
    done.swap(posted_);
    posted_.reserve(slots.size());
    std::size_t state = 0;
    for (std::size_t i = 0; i < done.size(); ++i) {
      slots[i] = done[i].slot;
      if (done[i].pieces != nullptr && states[state++] != NC_NOERR)
        fail(states[state - 1], {call, handle_.name(), done[i].offset, done[i].bytes, 0});
    }
    handle_.check(code, call);
    return done.size();
  }
  void write(const Request& request) override { move(Direction::write, request); }
  void read(const Request& request) override { move(Direction::read, request); }
  void sync() override { handle_.sync(); }
  void close() override {
    if (buffered_) handle_.check(ncmpi_buffer_detach(handle_.id()), "ncmpi_buffer_detach");
    buffered_ = false;
    handle_.close();
  }
  std::uint64_t size() override { return handle_.size(); }
  Facts facts() const override { return handle_.facts(); }

 private:
  struct Posted {
    std::uint32_t slot = 0;
    std::uint64_t offset = 0, bytes = 0;
    int number = NC_REQ_NULL;
    std::unique_ptr<Pieces> pieces;  ///< live until the request is done; null: nothing to move
  };

  void post(Direction direction, const Request& request, Posted& posted) {
    Pieces& pieces = *posted.pieces;
    if (direction == Direction::read)
      return handle_.check(
          ncmpi_iget_varn(handle_.id(), handle_.variable(), pieces.count(), pieces.starts(), pieces.counts(),
                          pieces.memory(), pieces.items(), pieces.type(), &posted.number),
          "ncmpi_iget_varn", request);
    const auto call = buffered_ ? ncmpi_bput_varn : ncmpi_iput_varn;
    handle_.check(call(handle_.id(), handle_.variable(), pieces.count(), pieces.starts(), pieces.counts(),
                       pieces.memory(), pieces.items(), pieces.type(), &posted.number),
                  buffered_ ? "ncmpi_bput_varn" : "ncmpi_iput_varn", request);
  }
  void move(Direction direction, const Request& request) {
    submit(direction, request, 0);
    std::vector<std::uint32_t> slots(posted_.size());
    complete(slots);
  }

  NetcdfHandle handle_;
  bool buffered_;
  std::vector<Posted> posted_;
};

class Pnetcdf final : public Interface {
 public:
  explicit Pnetcdf(const Settings& settings)
      : options_{settings.text("access") == "collective", settings.text("calls") == "nonblocking" ? Calls::nonblocking
                                                          : settings.text("calls") == "buffered"  ? Calls::buffered
                                                                                                  : Calls::blocking},
        hints_(settings.map("hints")) {}

  std::unique_ptr<File> open(const OpenRequest& request) override {
    const Hints hints(hints_);
    if (options_.calls == Calls::blocking || request.shape.plain)
      return std::make_unique<BlockingNetcdfFile>(request, options_, hints.get());
    return std::make_unique<QueuedNetcdfFile>(request, options_, hints.get());
  }
  void remove(const std::string& path) override {
    const int code = ncmpi_delete(path.c_str(), MPI_INFO_NULL);
    if (code != NC_NOERR && code != NC_ENOENT) fail(code, {"ncmpi_delete", path, 0, 0, 0});
  }
  Cooperation cooperation(RequestShape shape) const override {
    return options_.collective && !shape.plain ? Cooperation::collective : Cooperation::collective_open;
  }
  std::uint64_t largest_transfer() const override { return INT_MAX; }
  bool sizes_new_files() const override { return true; }
  std::uint32_t largest_depth() const override { return options_.calls == Calls::blocking ? 1 : 1024; }

 private:
  Options options_;
  TextMap hints_;
};

constexpr Parameter pnetcdf_parameters[] = {
    {"access", Kind::choice, "\"independent\"",
     "Whether each rank transfers alone (independent) or all ranks of the file together (collective).", no_limit,
     no_limit, "independent|collective"},
    {"calls", Kind::choice, "\"blocking\"",
     "Each call moves its bytes (blocking), or a number of requests (depth) are posted and one wait moves them all: "
     "from the memory of the requests (nonblocking) or, for writes, from a copy (buffered).",
     no_limit, no_limit, "blocking|nonblocking|buffered"},
    {"hints", Kind::map, "{}", "MPI_Info hints given at open, such as { nc_var_align_size = \"1048576\" }."},
};

}  // namespace

extern const InterfaceEntry pnetcdf_entry{
    "pnetcdf",
    "PnetCDF: pieces of one variable of bytes in a file of format CDF-5.",
    {.storage = Storage::kept, .transfers = Transfers::collective, .format = FileFormat::own},
    pnetcdf_parameters,
    make_interface<Pnetcdf>};

}  // namespace strider
