#include <climits>

#include "interfaces/mpi/blocking_file.hpp"
#include "interfaces/mpi/directory.hpp"
#include "interfaces/mpi/error.hpp"
#include "interfaces/mpi/hints.hpp"
#include "interfaces/mpi/queued_file.hpp"
#include "interfaces/mpi/split_file.hpp"
#include "interfaces/mpi/volume.hpp"
#include "interfaces/volume_place.hpp"

namespace strider {
namespace {

Method method_of(const std::string& name) {
  return name == "multiple" ? Method::multiple : name == "view" ? Method::view : Method::list;
}

Pointer pointer_of(const std::string& name) {
  return name == "individual" ? Pointer::individual
         : name == "shared"   ? Pointer::shared
         : name == "ordered"  ? Pointer::ordered
                              : Pointer::none;
}

class MpiIo final : public Interface {
 public:
  explicit MpiIo(const Settings& settings)
      : options_{.participation =
                     settings.text("access") == "collective" ? Participation::collective : Participation::independent,
                 .method = method_of(settings.text("method")),
                 .pointer = pointer_of(settings.text("pointer")),
                 .form = settings.flag("split") ? Form::split : Form::whole,
                 .preallocation = settings.flag("preallocate") ? Preallocation::yes : Preallocation::no,
                 .atomicity = settings.flag("atomic") ? Atomicity::yes : Atomicity::no},
        prefix_(settings.text("prefix")),
        volume_(settings.text("volume")),
        hints_(settings.map("hints")) {
    const bool collective = options_.participation == Participation::collective;
    if (collective && options_.method == Method::multiple)
      throw InputError(
          "mpiio.method",
          "collective access needs one call for a whole request, but method = \"multiple\" makes one for each extent",
          "mpiio.method = \"list\" or \"view\", or mpiio.access = \"independent\"");
    if (!collective && options_.form == Form::split)
      throw InputError("mpiio.split", "split transfers are collective", "mpiio.access = \"collective\"");
    if (!collective && options_.pointer == Pointer::ordered)
      throw InputError("mpiio.pointer", "ordered transfers are collective", "mpiio.access = \"collective\"");
    if (collective && options_.pointer == Pointer::shared)
      throw InputError("mpiio.pointer", "collective transfers at the shared file pointer are ordered",
                       "mpiio.pointer = \"ordered\", or mpiio.access = \"independent\"");
    if (!volume_.empty() && !is_on_volume())
      throw InputError("mpiio.volume", "a volume is named, but files are not opened on it",
                       "mpiio.prefix = \"listio:\", or no mpiio.volume");
  }

  void connect(const std::string& directory) override {
    if (!is_on_volume()) return;
    names_ = VolumeNames(directory);
    hints_["listio_volume"] = volume_.empty() ? find_volume(directory, "mpiio.volume") : volume_;
    const Hints hints(hints_);
    connect_to_volume(hints.get(), directory);
  }

  std::unique_ptr<File> open(const OpenRequest& request) override {
    const Hints hints(hints_);
    if (request.shape.plain)
      return std::make_unique<MpiBlockingFile>(request, name_of(request.path), MpiOptions{}, hints.get());
    if (options_.form == Form::split)
      return std::make_unique<MpiSplitFile>(request, name_of(request.path), options_, hints.get());
    if (request.depth > 1)
      return std::make_unique<MpiQueuedFile>(request, name_of(request.path), options_, hints.get());
    return std::make_unique<MpiBlockingFile>(request, name_of(request.path), options_, hints.get());
  }
  void remove(const std::string& path) override {
    const std::string name = name_of(path);
    const Hints hints(is_on_volume() ? hints_ : TextMap{});
    const int code = MPI_File_delete(name.c_str(), hints.get());
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    if (error_class != MPI_ERR_NO_SUCH_FILE) check_mpi(code, "MPI_File_delete", name);
  }
  std::unique_ptr<Directory> open_directory(const std::string& path) override {
    if (is_on_volume()) return std::make_unique<MpiDirectory>(names_(path), prefix_, hints_, MpiFolders::in_names);
    return std::make_unique<MpiDirectory>(path, prefix_, hints_, MpiFolders::made);
  }
  Cooperation cooperation(RequestShape shape) const override {
    if (shape.plain) return Cooperation::collective_open;
    // Setting a view is collective, even where the transfers through it are not.
    return options_.participation == Participation::collective || views_each(shape) ? Cooperation::collective
                                                                                    : Cooperation::collective_open;
  }
  std::uint64_t largest_transfer() const override { return INT_MAX; }
  bool sizes_new_files() const override { return true; }
  std::uint32_t largest_depth() const override {
    return options_.form == Form::split || options_.pointer == Pointer::ordered ? 1 : most_in_flight;
  }
  void check(const Demand& demand) const override {
    if (demand.depth > 1 && views_each(demand.shape))
      throw InputError("depth", "MPI cannot set the view of a request while others are in flight",
                       "depth = 1, mpiio.method = \"multiple\", or \"view\" where requests repeat regularly");
    if (demand.depth > 1 && options_.participation == Participation::collective && demand.writes &&
        !demand.dense_rounds)
      throw InputError("depth",
                       "ROMIO's nonblocking collective writes read the holes between their extents and write them "
                       "back, which can overwrite data of other requests in flight",
                       "depth = 1, mpiio.access = \"independent\", or a pattern and order in which the requests k of "
                       "all ranks together leave no holes");
    if (options_.pointer != Pointer::shared && options_.pointer != Pointer::ordered) return;
    if (!demand.takes_turns)
      throw InputError(
          "mpiio.pointer",
          "at a shared file pointer MPI chooses the offsets: the requests must have one size, each rank must have the "
          "same number of them, and they must follow each other in rank order in a file that this case writes first",
          "choose pattern strided or sequential, operations that begin with write and have neither read-modify-write "
          "nor "
          "read-write, order = \"forward\" and readback = \"same\", and no runtime");
    if (options_.pointer == Pointer::shared && demand.verified && demand.ranks > 1)
      throw InputError("verify", "data cannot be verified: ranks reach the shared file pointer in an unknown order",
                       "verify = \"off\", mpiio.pointer = \"ordered\", or sharing = \"per-rank\"");
  }

 private:
  static constexpr std::uint32_t most_in_flight = 1024;
  bool is_on_volume() const { return prefix_ == volume_prefix; }
  std::string name_of(const std::string& path) const { return prefix_ + (is_on_volume() ? names_(path) : path); }
  /// Requests of this shape need a view each.
  bool views_each(RequestShape shape) const {
    return !shape.contiguous && options_.method != Method::multiple &&
           !(options_.method == Method::view && shape.regular);
  }

  MpiOptions options_;
  std::string prefix_, volume_;
  VolumeNames names_;
  TextMap hints_;
};

constexpr Parameter mpiio_parameters[] = {
    {"access", Kind::choice, "\"independent\"",
     "Whether each rank transfers alone (independent) or all ranks of the file together (collective).", no_limit,
     no_limit, "independent|collective"},
    {"method", Kind::choice, "\"list\"",
     "Transfer of a request of several extents: one MPI call for each extent (multiple), one call through a file view "
     "of this request (list), or one call through a single view for all requests (view; like list where requests do "
     "not repeat regularly). Noncontiguous memory is described by an MPI datatype.",
     no_limit, no_limit, "multiple|list|view"},
    {"pointer", Kind::choice, "\"explicit\"",
     "Source of a transfer's file offset: the call itself (explicit), the rank's own file pointer (individual), or the "
     "shared file pointer, used by ranks in any order (shared) or collectively in rank order (ordered).",
     no_limit, no_limit, "explicit|individual|shared|ordered"},
    {"split", Kind::flag, "false",
     "Split collective transfers: begin the transfer, compute for the time think, then end it; needs access = "
     "\"collective\"."},
    {"preallocate", Kind::flag, "false", "Reserve the file's space when it is created (MPI_File_preallocate)."},
    {"atomic", Kind::flag, "false",
     "MPI's atomic mode: other ranks see a write at once and as a whole (MPI_File_set_atomicity)."},
    {"prefix", Kind::choice, "\"\"",
     "Prefix of the file name that selects MPI's file system driver, or a list-I/O volume (listio:); empty: the "
     "library "
     "chooses by the file system.",
     no_limit, no_limit,
     "|listio:|ufs:|nfs:|testfs:|lustre:|gpfs:|panfs:|pvfs:|pvfs2:|xfs:|pfs:|piofs:|hfs:|sfs:|bgl:|bglockless:|zoidfs:|"
     "ime:|"
     "daos:|quobyte:"},
    {"volume", Kind::config, "\"\"",
     "With prefix = \"listio:\", the volume file; empty: listio-volume.json in the target or in a directory above it. "
     "Without one, as many servers as the cases ask for, or four, are started for the run."},
    {"hints", Kind::map, "{}", "MPI_Info hints given at open, such as { romio_cb_write = \"enable\" }."},
};

constexpr MetadataCalls metadata_calls{MetadataCall::open, MetadataCall::seek, MetadataCall::truncate,
                                       MetadataCall::unlink};

}  // namespace

extern const InterfaceEntry mpiio_entry{
    "mpiio",
    "MPI-IO: MPI_File_write_at and related calls; their nonblocking variants with depth above 1.",
    {.storage = Storage::kept, .transfers = Transfers::collective, .metadata = metadata_calls},
    mpiio_parameters,
    make_interface<MpiIo>};

}  // namespace strider
