#include "interfaces/interface.hpp"
#include "interfaces/listio/directory.hpp"
#include "interfaces/listio/file.hpp"
#include "interfaces/listio/volume_client.hpp"

namespace strider {
namespace {

constexpr std::uint32_t largest_depth = 256;

VolumeClientOptions client_options_of(const Settings& settings) {
  VolumeClientOptions options;
  options.volume = settings.text("volume");
  options.transport = settings.text("transport");
  options.registration = settings.text("registration");
  options.strategy = options.registration == "none" ? "none" : settings.text("strategy");
  options.cache_bytes = settings.number("cache_bytes");
  options.most_runs = static_cast<std::uint32_t>(settings.number("runs"));
  options.server_bytes_per_s = settings.number("server_rate");
  options.patience_ms = static_cast<std::uint32_t>(settings.seconds("timeout") * 1000);
  options.costs = settings.flag("calibrate") ? RegistrationCosts::fitted : RegistrationCosts::assumed;
  return options;
}

ListioFileOptions file_options(const Settings& settings) {
  const std::string& calls = settings.text("calls");
  ListioFileOptions options;
  options.calls = calls == "list" ? ListioCalls::list : calls == "sieve" ? ListioCalls::sieve : ListioCalls::each;
  options.method = listio::method_of(settings.text("method"));
  options.threshold_bytes = settings.number("threshold");
  options.sieve_buffer = settings.number("sieve_buffer");
  options.spreading.strip_bytes = settings.number("strip");
  options.spreading.servers = static_cast<std::uint32_t>(settings.number("servers"));
  options.hole = settings.text("hole") == "unmapped" ? HoleKind::unmapped : HoleKind::inaccessible;
  options.holes = settings.number("holes");
  return options;
}

class Listio final : public Interface {
 public:
  explicit Listio(const Settings& settings)
      : client_options_(client_options_of(settings)), options_(file_options(settings)) {}

  void connect(const std::string& directory) override {
    volume_ = &volume_client_of(client_options_, directory);
    names_ = VolumeNames(directory);
    const std::size_t servers = volume_->client.volume().servers.size();
    if (options_.spreading.servers > servers)
      throw IoError({"connect", directory, 0, 0, 0},
                    "listio.servers is " + std::to_string(options_.spreading.servers) + ", but the volume has " +
                        std::to_string(servers),
                    "a smaller listio.servers, or strider listio serve DIR --servers N");
    // Found out now, since that takes longer than many a phase.
    if (options_.method == listio::Method::hybrid && options_.threshold_bytes == 0) volume_->client.method_costs();
  }
  std::unique_ptr<File> open(const OpenRequest& request) override {
    const std::string name = names_(request.path);
    ListioFileOptions options = options_;
    if (request.shape.plain) options.holes = 0;  // there is no memory between the pieces of such requests
    if (options.calls == ListioCalls::list) return std::make_unique<ListioQueue>(*volume_, name, request, options);
    return std::make_unique<ListioFile>(*volume_, name, request, options);
  }
  void remove(const std::string& path) override {
    try {
      volume_->client.unlink(names_(path));
    } catch (const IoError& error) {
      if (error.details().error_number != ENOENT) throw;
    }
  }
  std::unique_ptr<Directory> open_directory(const std::string& path) override {
    const std::string prefix = names_(path);
    return std::make_unique<ListioDirectory>(volume_->client, prefix.ends_with('.') ? prefix : prefix + '/');
  }
  std::uint32_t largest_depth() const override { return strider::largest_depth; }
  std::uint64_t largest_transfer() const override { return std::uint64_t{1} << 32; }
  void check(const Demand& demand) const override {
    if (demand.depth > 1 && options_.holes > 0)
      throw InputError("depth", "holes are made in the memory of one request", "depth = 1, or listio.holes = 0");
    if (demand.depth > 1 && options_.calls != ListioCalls::list)
      throw InputError("depth", "with depth, all extents of a request go as one list", "listio.calls = \"list\"");
  }

 private:
  VolumeClientOptions client_options_;
  ListioFileOptions options_;
  VolumeClient* volume_ = nullptr;
  VolumeNames names_;
};

constexpr Parameter parameters[] = {
    {"volume", Kind::config, "\"\"",
     "The volume's file; empty: listio-volume.json in the target or above it, else four servers are started for the "
     "run."},
    {"calls", Kind::choice, "\"list\"",
     "How a request of several extents is handed over: as one list, with a call for each extent (each), or read "
     "through a buffer that covers their holes (sieve; written by a call for each extent, since there are no locks).",
     no_limit, no_limit, "list|each|sieve"},
    {"sieve_buffer", Kind::bytes, "4194304", "Bytes of the buffer for calls = \"sieve\".", 1},
    {"method", Kind::choice, "\"hybrid\"",
     "How the pieces of a list get to a server's contiguous buffer: each by itself (multiple), copied together first "
     "(pack), as few operations of the network as it can (gather; reads scatter), or pack or gather, whichever costs "
     "less (hybrid).",
     no_limit, no_limit, "multiple|pack|gather|hybrid"},
    {"threshold", Kind::bytes, "0",
     "Mean length of pieces from which on hybrid gathers; 0: what was measured when the case connected."},
    {"transport", Kind::text, "\"\"", "What carries the bytes: cma, tcp …; empty: what the volume's file says."},
    {"registration", Kind::choice, "\"none\"", "Domain in which the memory of requests is registered.", no_limit,
     no_limit, "none|uring|mlock|model"},
    {"strategy", Kind::choice, "\"ogr\"",
     "How lists are registered: each piece (individual), from the first to the last (single), in groups (ogr).",
     no_limit, no_limit, "individual|single|ogr"},
    {"cache_bytes", Kind::bytes, "0", "What the pin-down cache keeps registered; 0: no cache."},
    {"calibrate", Kind::flag, "true",
     "Fit the cost of registering before the first case, as hybrid and ogr count with it; else that of the slides."},
    {"strip", Kind::bytes, "0", "Strip size of files that a case makes; 0: the volume's."},
    {"servers", Kind::count, "0", "Servers that they are spread over; 0: all.", 0, 65536},
    {"server_rate", Kind::bytes, "0",
     "What each server of the volume moves in a second at most, of servers that are started for the run; a volume that "
     "is found has to have the same limit. 0: whatever they have."},
    {"runs", Kind::count, "128", "Runs of one request to a server at most; longer lists are split.", 1, 65536},
    {"holes", Kind::count, "0",
     "Gaps between the pieces of a request in memory that are made holes: what registering many pieces at once meets."},
    {"hole", Kind::choice, "\"unmapped\"",
     "What is in a hole: nothing (unmapped), or pages without access (inaccessible).", no_limit, no_limit,
     "unmapped|inaccessible"},
    {"timeout", Kind::seconds, "30", "How long a call may take; a longer one ends with an error that names the server.",
     1, 86400},
};

}  // namespace

extern const InterfaceEntry listio_entry{
    "listio",
    "The list-I/O service: lists of pieces to and from servers over which files are striped.",
    {.storage = Storage::kept, .metadata = listio_calls, .client = StorageClient::servers},
    parameters,
    make_interface<Listio>};

}  // namespace strider
