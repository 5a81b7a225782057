#include <map>

#include "interfaces/interface.hpp"
#include "interfaces/listio/directory.hpp"
#include "interfaces/listio/file.hpp"
#include "interfaces/listio/volume_client.hpp"
#include "interfaces/volume_place.hpp"

namespace strider {
namespace {

constexpr std::uint32_t largest_depth = 256;

VolumeClientOptions client_options_of(const Settings& settings) {
  VolumeClientOptions options;
  options.volume = settings.text("volume");
  options.transport = settings.text("transport");
  options.registration = settings.text("registration");
  options.strategy = options.registration == "none" ? "none" : settings.text("strategy");
  options.unregistered =
      settings.text("unregistered") == "pack" ? listio::Unregistered::pack : listio::Unregistered::fail;
  options.cache_bytes = settings.number("cache_bytes");
  options.most_runs = static_cast<std::uint32_t>(settings.number("runs"));
  options.server_bytes_per_s = settings.number("server_rate");
  options.patience_ms = static_cast<std::uint32_t>(settings.seconds("timeout") * 1000);
  options.costs = settings.flag("calibrate") ? RegistrationCosts::fitted : RegistrationCosts::assumed;
  return options;
}

ListioFileOptions file_options(const Settings& settings) {
  static const std::map<std::string, ListioCalls> calls{{"list", ListioCalls::list},
                                                        {"each", ListioCalls::each},
                                                        {"sieve", ListioCalls::sieve},
                                                        {"sieve_reads", ListioCalls::sieve_reads}};
  ListioFileOptions options;
  options.calls = calls.at(settings.text("calls"));
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
                    "set a smaller listio.servers, or make a volume of more servers in another directory");
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
      throw InputError("depth", "listio.holes supports only one request in flight", "depth = 1, or listio.holes = 0");
    if (demand.depth > 1 && options_.calls != ListioCalls::list)
      throw InputError("depth", "with depth above 1, all extents of a request must go to the server as one list",
                       "listio.calls = \"list\"");
  }

 private:
  VolumeClientOptions client_options_;
  ListioFileOptions options_;
  VolumeClient* volume_ = nullptr;
  VolumeNames names_;
};

constexpr Parameter listio_parameters[] = {
    {"volume", Kind::config, "\"\"",
     "Volume file; empty: listio-volume.json in the target or in a directory above it. Without one, as many servers "
     "as the cases ask for, or four, are started for the run."},
    {"calls", Kind::choice, "\"list\"",
     "Calls for a request of several extents: one list (list), one call for each extent (each), or through a buffer "
     "that covers the extents and their holes (sieve; a write reads the buffer first and writes it back, under a "
     "lock). "
     "sieve_reads does so for reads only, and writes with one call for each extent.",
     no_limit, no_limit, "list|each|sieve|sieve_reads"},
    {"sieve_buffer", Kind::bytes, "4194304", "Bytes of the buffer for calls = \"sieve\" and \"sieve_reads\".", 1},
    {"method", Kind::choice, "\"hybrid\"",
     "Transfer of the pieces of a list to a server's contiguous buffer: one network operation for each piece "
     "(multiple), one after copying the pieces together (pack), as few as the network allows (gather; reads scatter), "
     "or the cheaper of pack and gather (hybrid).",
     no_limit, no_limit, "multiple|pack|gather|hybrid"},
    {"threshold", Kind::bytes, "0",
     "Mean piece length from which hybrid chooses gather; 0: determined by a measurement when the case connects."},
    {"transport", Kind::text, "\"\"", "Transport of the data: cma, tcp …; empty: the transport in the volume file."},
    {"registration", Kind::choice, "\"none\"", "Domain in which the memory of requests is registered.", no_limit,
     no_limit, "none|uring|mlock|model"},
    {"strategy", Kind::choice, "\"ogr\"",
     "Registration of the pieces of a list: each piece by itself (individual), one region from the first to the last "
     "piece (single), or in groups (ogr).",
     no_limit, no_limit, "individual|single|ogr"},
    {"unregistered", Kind::choice, "\"fail\"",
     "Effect of holes between the pieces of a list on strategy = \"single\", which then cannot register their memory: "
     "the request fails (fail), or copies the pieces (pack).",
     no_limit, no_limit, "fail|pack"},
    {"cache_bytes", Kind::bytes, "0", "Most bytes that the pin-down cache keeps registered; 0: no cache."},
    {"calibrate", Kind::flag, "true",
     "Measure the cost of memory registration before the first case, for the choices of hybrid and ogr; false: they "
     "assume the cost published in 2003."},
    {"strip", Kind::bytes, "0", "Strip size of files that a case creates; 0: that of the volume."},
    {"servers", Kind::count, "0", "Servers over which these files are striped; 0: all.", 0, 65536},
    {"server_rate", Kind::bytes, "0",
     "Upper limit of bytes per second of each server. Servers started for the run get this limit; an existing volume "
     "must already have it. 0: any limit."},
    {"runs", Kind::count, "128",
     "Most runs (contiguous byte ranges) in one request to a server; longer lists are split.", 1, 65536},
    {"holes", Kind::count, "0",
     "Gaps between the pieces of a request in memory that are turned into holes, to test the registration of many "
     "pieces at once."},
    {"hole", Kind::choice, "\"unmapped\"",
     "Contents of a hole: no mapping (unmapped), or pages without access rights (inaccessible).", no_limit, no_limit,
     "unmapped|inaccessible"},
    {"timeout", Kind::seconds, "30", "Time limit of a call; a longer one fails with an error that names the server.", 1,
     86400},
};

}  // namespace

extern const InterfaceEntry listio_entry{
    "listio",
    "The list-I/O service: transfers lists of pieces to and from the servers over which a file is striped.",
    {.storage = Storage::kept, .metadata = listio_calls, .client = StorageClient::servers},
    listio_parameters,
    make_interface<Listio>};

}  // namespace strider
