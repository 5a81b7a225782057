#include <hdf5.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <climits>
#include <utility>
#include <vector>

#include "interfaces/interface.hpp"
#include "interfaces/mpi/error.hpp"
#include "interfaces/mpi/hints.hpp"
#include "interfaces/mpi_datatype.hpp"
#include "interfaces/mpi_group.hpp"

namespace strider {
namespace {

/// What HDF5 has to say of an error: the innermost message, and what was attempted.
std::string last_problem() {
  std::string text;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
        std::string& all = *static_cast<std::string*>(out);
        if (error->desc != nullptr && *error->desc != '\0') all += (all.empty() ? "" : "; ") + std::string(error->desc);
        return 0;
      },
      &text);
  return text.empty() ? "HDF5 reports no error text" : text;
}

[[noreturn]] void fail(const char* call, const std::string& file, std::uint64_t offset = 0, std::uint64_t length = 0) {
  std::string problem = last_problem();
  if (problem.find("truncated file") != std::string::npos) problem = "the file ends too early: " + problem;
  throw IoError({call, file, offset, length, quoted_errno(problem)}, problem);
}

/// An object of HDF5, closed by the function that is right for its kind.
template <herr_t (*close_function)(hid_t)>
class Id {
 public:
  Id() = default;
  Id(hid_t id, const char* call, const std::string& file) : id_(id) {
    if (id < 0) fail(call, file);
  }
  Id(Id&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Id& operator=(Id&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Id() {
    if (id_ >= 0) close_function(id_);
  }
  hid_t get() const { return id_; }
  void close(const char* call, const std::string& file) {
    if (close_function(std::exchange(id_, H5I_INVALID_HID)) < 0) fail(call, file);
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
};
using Properties = Id<H5Pclose>;
using Space = Id<H5Sclose>;

struct Options {
  bool collective = false;
  bool collective_metadata = false;
  bool latest = false;
  std::uint64_t chunk = 0;      ///< bytes; 0: contiguous
  std::uint64_t alignment = 0;  ///< bytes; 0: none
};

/// Selects one side of a request in a one-dimensional space of bytes: one regular hyperslab, or the union of all
/// extents.
bool select(hid_t space, std::span<const Extent> extents, Side side) {
  if (extents.empty()) return H5Sselect_none(space) >= 0;
  const std::uint64_t begin = offset_of(extents[0], side), length = extents[0].length;
  const std::uint64_t stride = extents.size() > 1 ? offset_of(extents[1], side) - begin : length;
  bool regular = true;
  for (std::size_t i = 0; i < extents.size(); ++i)
    regular = regular && extents[i].length == length && offset_of(extents[i], side) == begin + i * stride;
  if (regular) {
    const hsize_t start[] = {begin}, step[] = {stride}, count[] = {extents.size()}, block[] = {length};
    return H5Sselect_hyperslab(space, H5S_SELECT_SET, start, step, count, block) >= 0;
  }
  H5S_seloper_t how = H5S_SELECT_SET;
  for (const Extent& extent : extents) {
    const hsize_t start[] = {offset_of(extent, side)}, count[] = {1}, block[] = {extent.length};
    if (H5Sselect_hyperslab(space, how, start, nullptr, count, block) < 0) return false;
    how = H5S_SELECT_OR;
  }
  return true;
}

/// A selection is in the order of its offsets: whether that is the order of the extents.
bool increases(std::span<const Extent> extents, Side side) {
  for (std::size_t i = 1; i < extents.size(); ++i)
    if (offset_of(extents[i], side) < offset_of(extents[i - 1], side) + extents[i - 1].length) return false;
  return true;
}

/// One dataset of bytes in a file, named "data".
class Hdf5File final : public File {
 public:
  Hdf5File(const OpenRequest& request, const Options& options, MPI_Info hints)
      : name_(request.path), size_(request.file_size) {
    const Properties access = file_access(request, options, hints);
    if (request.creation == Creation::create) {
      file_ = {H5Fcreate(name_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), "H5Fcreate", name_};
      create_dataset(options);
      // ROMIO writes anything into holes beyond the end of the file. Closing gives it its size, and so does H5Fflush,
      // but that syncs the file as well.
      if (request.verified) close();
    }
    if (file_.get() < 0) {
      const unsigned mode = request.access == Access::read ? H5F_ACC_RDONLY : H5F_ACC_RDWR;
      file_ = {H5Fopen(name_.c_str(), mode, access.get()), "H5Fopen", name_};
      dataset_ = {H5Dopen2(file_.get(), dataset_name, H5P_DEFAULT), "H5Dopen2", name_};
    }
    transfer_ = {H5Pcreate(H5P_DATASET_XFER), "H5Pcreate", name_};
    check(H5Pset_dxpl_mpio(transfer_.get(),
                           options.collective && !request.shape.plain ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT),
          "H5Pset_dxpl_mpio");
    space_ = {H5Dget_space(dataset_.get()), "H5Dget_space", name_};
  }

  void write(const Request& request) override {
    const Selected selected = choose(request);
    if (selected.staged) gather(request);
    if (H5Dwrite(dataset_.get(), H5T_NATIVE_UINT8, selected.memory.get(), space_.get(), transfer_.get(),
                 selected.begin) < 0)
      fail_request("H5Dwrite", request);
  }
  void read(const Request& request) override {
    const Selected selected = choose(request);
    if (H5Dread(dataset_.get(), H5T_NATIVE_UINT8, selected.memory.get(), space_.get(), transfer_.get(),
                selected.begin) < 0)
      fail_request("H5Dread", request);
    if (selected.staged) scatter(request);
  }
  void sync() override { check(H5Fflush(file_.get(), H5F_SCOPE_GLOBAL), "H5Fflush"); }
  void close() override {
    dataset_.close("H5Dclose", name_);
    file_.close("H5Fclose", name_);
  }

  /// What the dataset's place in the file leaves of it, and what lies beyond the end that HDF5 knows: the file itself
  /// is longer.
  std::uint64_t size() override {
    const Space space(H5Dget_space(dataset_.get()), "H5Dget_space", name_);
    hsize_t bytes = 0;
    if (H5Sget_simple_extent_dims(space.get(), &bytes, nullptr) != 1) fail("H5Sget_simple_extent_dims", name_);
    const haddr_t offset = H5Dget_offset(dataset_.get());
    void* handle = nullptr;
    if (H5Fget_vfd_handle(file_.get(), H5P_DEFAULT, &handle) < 0) return bytes;
    MPI_Offset whole = 0;
    check_mpi(MPI_File_get_size(*static_cast<MPI_File*>(handle), &whole), "MPI_File_get_size", name_);
    const auto end = static_cast<std::uint64_t>(whole);
    if (const std::uint64_t known = known_end(*static_cast<MPI_File*>(handle)); end > known) return bytes + end - known;
    if (offset == HADDR_UNDEF) return bytes;
    return end < offset ? 0 : std::min<std::uint64_t>(bytes, end - offset);
  }

  /// The end of the file as its superblock has it: H5Fget_eoa() refuses files of MPI-IO.
  std::uint64_t known_end(MPI_File file) const {
    std::array<std::uint8_t, 64> block{};
    check_mpi(MPI_File_read_at(file, 0, block.data(), block.size(), MPI_BYTE, MPI_STATUS_IGNORE), "MPI_File_read_at",
              name_);
    const std::uint8_t version = block[8];  // behind the signature
    const std::size_t at = version == 0 ? 40 : version == 1 ? 44 : 28;
    std::uint64_t end = 0;
    for (std::size_t i = 8; i-- > 0;) end = end << 8 | block[at + i];
    return end;
  }

  Facts facts() const override {
    Facts facts;
    unsigned major = 0, minor = 0, release = 0;
    H5get_libversion(&major, &minor, &release);
    facts["hdf5"] = std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(release);
    facts["dataset_offset"] = std::to_string(H5Dget_offset(dataset_.get()));
    void* handle = nullptr;
    if (H5Fget_vfd_handle(file_.get(), H5P_DEFAULT, &handle) >= 0 && handle != nullptr)
      facts.merge(hints_in_force(*static_cast<MPI_File*>(handle)));
    return facts;
  }

 private:
  static constexpr const char* dataset_name = "data";

  /// How the memory of a request is described: as it is, or packed in the order of the file.
  struct Selected {
    Space memory;
    std::byte* begin = nullptr;
    bool staged = false;
  };

  Properties file_access(const OpenRequest& request, const Options& options, MPI_Info hints) const {
    Properties access(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate", name_);
    check(H5Pset_fapl_mpio(access.get(), request.group->communicator, hints), "H5Pset_fapl_mpio");
    if (options.alignment > 0) check(H5Pset_alignment(access.get(), 1, options.alignment), "H5Pset_alignment");
    if (options.latest)
      check(H5Pset_libver_bounds(access.get(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST), "H5Pset_libver_bounds");
    if (options.collective_metadata) {
      check(H5Pset_all_coll_metadata_ops(access.get(), true), "H5Pset_all_coll_metadata_ops");
      check(H5Pset_coll_metadata_write(access.get(), true), "H5Pset_coll_metadata_write");
    }
    return access;
  }

  /// With space for the whole file, and nothing written into it.
  void create_dataset(const Options& options) {
    const hsize_t size[] = {size_};
    const Space space(H5Screate_simple(1, size, nullptr), "H5Screate_simple", name_);
    const Properties creation(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate", name_);
    check(H5Pset_alloc_time(creation.get(), H5D_ALLOC_TIME_EARLY), "H5Pset_alloc_time");
    check(H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER), "H5Pset_fill_time");
    if (options.chunk > 0) {
      const hsize_t chunk[] = {std::min<std::uint64_t>(options.chunk, std::max<std::uint64_t>(1, size_))};
      check(H5Pset_chunk(creation.get(), 1, chunk), "H5Pset_chunk");
    }
    dataset_ = {
        H5Dcreate2(file_.get(), dataset_name, H5T_STD_U8LE, space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT),
        "H5Dcreate2", name_};
  }

  Selected choose(const Request& request) {
    Selected selected;
    std::uint64_t begin = ~std::uint64_t{0}, end = 0;
    for (const Extent& extent : request.extents) {
      begin = std::min(begin, extent.memory_offset);
      end = std::max(end, extent.memory_offset + extent.length);
    }
    selected.staged = !increases(request.extents, Side::memory);
    if (selected.staged) {
      staging_.resize(bytes_of(request.extents));
      begin = 0;
      end = staging_.size();
    }
    const hsize_t size[] = {request.extents.empty() ? 1 : end - begin};
    selected.memory = Space(H5Screate_simple(1, size, nullptr), "H5Screate_simple", name_);
    selected.begin = selected.staged ? staging_.data() : request.extents.empty() ? &nothing_ : request.memory + begin;
    if (!select(space_.get(), request.extents, Side::file)) fail_request("H5Sselect_hyperslab", request);
    if (selected.staged) return selected;  // all of it is selected
    moved_.assign(request.extents.begin(), request.extents.end());
    for (Extent& extent : moved_) extent.memory_offset -= begin;
    if (!select(selected.memory.get(), moved_, Side::memory)) fail_request("H5Sselect_hyperslab", request);
    return selected;
  }
  void gather(const Request& request) {
    std::byte* to = staging_.data();
    for (const Extent& extent : request.extents)
      to = std::copy_n(request.memory + extent.memory_offset, extent.length, to);
  }
  void scatter(const Request& request) const {
    const std::byte* from = staging_.data();
    for (const Extent& extent : request.extents) {
      std::copy_n(from, extent.length, request.memory + extent.memory_offset);
      from += extent.length;
    }
  }

  void check(herr_t code, const char* call) const {
    if (code < 0) fail(call, name_);
  }
  [[noreturn]] void fail_request(const char* call, const Request& request) const {
    fail(call, name_, request.extents.empty() ? 0 : request.extents[0].file_offset, bytes_of(request.extents));
  }

  std::string name_;
  std::uint64_t size_;
  Id<H5Fclose> file_;
  Id<H5Dclose> dataset_;
  Properties transfer_;
  Space space_;
  std::vector<std::byte> staging_;
  std::vector<Extent> moved_;
  std::byte nothing_{};
};

class Hdf5 final : public Interface {
 public:
  explicit Hdf5(const Settings& settings)
      : options_{settings.text("access") == "collective", settings.flag("collective_metadata"),
                 settings.text("libver") == "latest", settings.number("chunk"), settings.number("alignment")},
        hints_(settings.map("hints")) {
    if (options_.chunk > UINT_MAX)
      throw InputError("hdf5.chunk", "the chunk size must be at most 4 GiB - 1 byte", "hdf5.chunk = \"1 MiB\"");
    // Errors are reported by exceptions, not on standard error.
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  std::unique_ptr<File> open(const OpenRequest& request) override {
    const Hints hints(hints_);
    return std::make_unique<Hdf5File>(request, options_, hints.get());
  }
  void remove(const std::string& path) override {
    const int code = MPI_File_delete(path.c_str(), MPI_INFO_NULL);
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    if (error_class != MPI_ERR_NO_SUCH_FILE) check_mpi(code, "MPI_File_delete", path);
  }
  Cooperation cooperation(RequestShape shape) const override {
    return options_.collective && !shape.plain ? Cooperation::collective : Cooperation::collective_open;
  }
  std::uint64_t largest_transfer() const override { return INT_MAX; }
  bool sizes_new_files() const override { return true; }

 private:
  Options options_;
  TextMap hints_;
};

constexpr Parameter hdf5_parameters[] = {
    {"access", Kind::choice, "\"independent\"",
     "Whether each rank transfers alone (independent) or all ranks of the file together (collective).", no_limit,
     no_limit, "independent|collective"},
    {"chunk", Kind::bytes, "0", "Chunk size of the dataset; 0: not chunked (contiguous).", 0},
    {"alignment", Kind::bytes, "0",
     "Alignment in the file of the dataset, or of each of its chunks (H5Pset_alignment); 0: none.", 0},
    {"collective_metadata", Kind::flag, "false",
     "HDF5's own metadata is read and written collectively (H5Pset_all_coll_metadata_ops, "
     "H5Pset_coll_metadata_write)."},
    {"libver", Kind::choice, "\"earliest\"",
     "File format: the earliest, which old libraries can read, or the latest of the library in use "
     "(H5Pset_libver_bounds).",
     no_limit, no_limit, "earliest|latest"},
    {"hints", Kind::map, "{}", "MPI_Info hints given at open, such as { romio_cb_write = \"enable\" }."},
};

}  // namespace

extern const InterfaceEntry hdf5_entry{
    "hdf5",
    "Parallel HDF5: hyperslabs of one dataset of bytes.",
    {.storage = Storage::kept, .transfers = Transfers::collective, .format = FileFormat::own},
    hdf5_parameters,
    make_interface<Hdf5>};

}  // namespace strider
