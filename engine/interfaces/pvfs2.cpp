#include <array>
#include <climits>

#include "interfaces/mounts.hpp"
#include "interfaces/own_folder.hpp"
#include "interfaces/pvfs2/file.hpp"
#include "interfaces/pvfs2/run_folder.hpp"

namespace strider {
namespace {

constexpr double largest_cache_s = 3600;
constexpr std::string_view default_distribution = "default";

unsigned milliseconds(double seconds) { return static_cast<unsigned>(seconds * 1e3); }

Pvfs2Creation creation_of(const Settings& settings) {
  Pvfs2Creation creation{{settings.text("distribution"), settings.number("stripe_size"), settings.number("data_files")},
                         settings.text("order") == "random" ? Pvfs2Order::random : Pvfs2Order::configured};
  Pvfs2Layout& layout = creation.layout;
  if (layout.distribution == default_distribution) layout.distribution.clear();
  if (layout.stripe_size > 0 && layout.distribution.empty()) layout.distribution = "simple_stripe";
  if (layout.stripe_size > 0 && layout.distribution == "basic_dist")
    throw InputError("pvfs2.stripe_size", "the distribution basic_dist has no stripes",
                     "pvfs2.distribution = \"simple_stripe\"");
  return creation;
}

class Pvfs2 final : public Interface, public OwnFolder {
 public:
  explicit Pvfs2(const Settings& settings)
      : tab_(settings.text("tab")),
        method_(settings.text("method") == "list" ? Pvfs2Method::list : Pvfs2Method::multiple),
        creation_(creation_of(settings)),
        caches_{milliseconds(settings.seconds("name_cache")), milliseconds(settings.seconds("attribute_cache"))},
        client_(std::chrono::milliseconds(milliseconds(settings.seconds("timeout")))) {}

  void connect(const std::string& directory) override {
    begin_pvfs2(tab_);
    std::array<char, PATH_MAX> inside{};
    PVFS_fs_id system = 0;
    const PVFS_error known =
        PVFS_util_resolve(directory.c_str(), &system, inside.data(), static_cast<int>(inside.size()));
    if (pvfs2_errno(known) == -ENXIO)
      throw IoError({"PVFS_util_resolve", directory, 0, 0, 0},
                    "the library could not read the configuration of the file system at the target",
                    "see its messages in the run's engine.log");
    if (known < 0)
      throw IoError({"PVFS_util_resolve", directory, 0, 0, 0},
                    "the table of file systems has no OrangeFS at the target",
                    "choose a target below a directory that pvfs2.tab, /etc/pvfs2tab or /etc/fstab names for OrangeFS; "
                    "nothing has to be mounted there");
    inside_ = InsidePaths(directory, directory, inside.data());
    client_.connect(system);
    Pvfs2Client::set_caches(caches_);
    calls_.client = &client_;
    calls_.top_ref = provide_folder(calls_, inside_(directory));
    calls_.top = inside_(directory);
  }
  std::unique_ptr<File> open(const OpenRequest& request) override {
    const std::string inside = inside_(request.path);
    PVFS_object_ref file{};
    if (request.creation == Creation::create) {
      const PVFS_error made = calls_.create(inside.c_str(), &creation_, file);
      if (made >= 0) {
        compare_layout(inside, file);
        return std::make_unique<Pvfs2File>(calls_, file, inside, method_, caches_);
      }
      if (pvfs2_errno(made) != -EEXIST) throw Pvfs2Call{"PVFS_sys_create", inside}.failed(made);
    }
    Pvfs2Call{"PVFS_sys_lookup", inside}.require(calls_.find(inside, file));
    return std::make_unique<Pvfs2File>(calls_, file, inside, method_, caches_);
  }
  void remove(const std::string& path) override { remove_file(calls_, inside_(path), "remove"); }
  /// Nothing of what other ranks change may be believed for a while.
  std::unique_ptr<Directory> open_directory(const std::string& path) override {
    Pvfs2Client::set_caches({caches_.names, 0});
    return std::make_unique<LibraryDirectory<Pvfs2Calls>>(calls_, inside_(path));
  }
  void remove_own_folder(const std::string& directory) override {
    const bool connected = !calls_.top.empty();
    if (connected) remove_provided_folder(calls_, inside_(directory));
  }
  std::uint64_t largest_transfer() const override { return Pvfs2File::largest_piece; }

 private:
  /// Rejects a new file without the layout of the suite: to OrangeFS a layout is only a hint.
  void compare_layout(const std::string& inside, PVFS_object_ref file) const {
    const Pvfs2Layout& asked = creation_.layout;
    if (asked.distribution.empty() && asked.data_files == 0) return;
    const auto difference = difference_of(asked, pvfs2_layout_of(calls_, inside, file));
    if (difference) throw Pvfs2Call{"PVFS_sys_create", inside}.failed(0, difference->message, difference->remedy);
  }

  std::string tab_;
  Pvfs2Method method_;
  Pvfs2Creation creation_;
  Pvfs2Caches caches_;
  InsidePaths inside_;
  Pvfs2Client client_;
  Pvfs2Calls calls_;
};

constexpr Parameter pvfs2_parameters[] = {
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
    {"order", Kind::choice, "\"random\"",
     "Servers of a new file's data files, one after the other: in random order (random), or from the first server of "
     "the file system's configuration on (configured).",
     no_limit, no_limit, "random|configured"},
    {"name_cache", Kind::seconds, "0",
     "Time for which a process reuses the file that it found under a name; 0: it asks the servers. Above 0, a rank can "
     "take the removed file of the last repetition for the new one.",
     0, largest_cache_s},
    {"attribute_cache", Kind::seconds, "60",
     "Time for which a process reuses the layout of a file in its requests for data; 0: each request asks the servers "
     "first. Sizes and metadata operations are never served from it.",
     0, largest_cache_s},
    {"timeout", Kind::seconds, "30",
     "Time after which a call that waits for a silent server fails with an error that names the server. Slow calls go "
     "on as long as all servers answer.",
     1, 86400},
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
    pvfs2_parameters,
    make_interface<Pvfs2>};

}  // namespace strider
