#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "foundation/error.hpp"
#include "foundation/extent.hpp"
#include "foundation/parameter.hpp"
#include "foundation/run_folder.hpp"
#include "interfaces/directory.hpp"

namespace strider {

/// The ranks that open a file together. Only interfaces built on MPI look inside (interfaces/mpi_group.hpp).
struct Group;

enum class Access { write, read, read_write };
enum class Creation { create, existing };

/// Requests of several extents that repeat: request k is the list `first` moved by k times `shift` in the file.
struct RegularRequests {
  std::span<const Extent> first;  ///< valid during open() only
  std::uint64_t shift = 0;
};

/// What kind of requests a case makes, for interfaces that treat them differently.
struct RequestShape {
  bool contiguous = true;  ///< one extent each
  bool regular = false;    ///< see RegularRequests
  /// Reads of one extent, one at a time, wherever they lie and as each rank comes to them, whatever the parameters say
  /// of how a case moves its bytes: how a file is checked.
  bool plain = false;
};

struct OpenRequest {
  std::string path;
  Access access = Access::read;
  Creation creation = Creation::existing;
  std::uint64_t file_size = 0;  ///< bytes the file has, or will have when it is complete
  Place place;                  ///< of this rank among the ranks that open the file
  const Group* group = nullptr;
  RequestShape shape;
  RegularRequests regular;      ///< with shape.regular
  std::uint32_t depth = 1;      ///< requests in flight; more than 1: the file is a QueuedFile
  std::span<std::byte> memory;  ///< all that requests move from and to: `depth` parts of equal length
  bool verified = false;        ///< bytes of a new file that no request writes have to be zeros: they are looked at
};

/// Facts about an open file, from the interface itself: hints in force, striping, driver.
using Facts = std::map<std::string, std::string>;

/// An open file of one rank. All calls throw IoError; none of them prints, waits for other ranks (unless the interface
/// is collective) or measures time.
class File {
 public:
  virtual ~File() = default;  ///< closes without a check where close() was not called
  virtual void write(const Request& request) = 0;
  /// Fills the request's memory completely or throws.
  virtual void read(const Request& request) = 0;
  /// Data is on stable storage when this returns.
  virtual void sync() = 0;
  virtual void close() = 0;
  /// Bytes of data that the storage says the file has now: its size, or in a file of an own format what is there of the
  /// bytes that were meant for it. Never what this process remembers of its own writes.
  virtual std::uint64_t size() = 0;
  /// The server that holds the byte at an offset, where the interface knows the layout of its files; else empty.
  virtual std::string server_of(std::uint64_t /*file_offset*/) const { return {}; }
  virtual Facts facts() const { return {}; }
};

/// An open file that keeps requests in flight: what open() returns where `depth` is more than 1, and wherever a request
/// can be handed over before it is waited for.
class QueuedFile : public File {
 public:
  /// Hands over a request. Its extents and memory stay as they are until complete() names its slot, a number below the
  /// depth.
  virtual void submit(Direction direction, const Request& request, std::uint32_t slot) = 0;
  /// Sends the submitted requests, where that was not done at once.
  virtual void send() {}
  /// Sends the submitted requests and waits until one is done; puts the slots of all that are into `slots`, and
  /// returns how many. Throws IoError where one failed; the others are waited for by close() or the destructor. Of a
  /// file with collective transfers, none is in flight then.
  virtual std::size_t complete(std::span<std::uint32_t> slots) = 0;
  /// The same, but waits no longer than `most_ns`: none may be done then. Only where the interface says that it can.
  virtual std::size_t complete_within(std::span<std::uint32_t> slots, std::uint64_t most_ns);
};

enum class Cooperation {
  independent,      ///< every call is a rank's own
  collective_open,  ///< open, sync and close are collective over the group, transfers are not
  collective,       ///< transfers too: every rank of the group makes the same number of calls
};

/// Requirements of a case on its interface.
struct Demand {
  RequestShape shape;
  std::uint32_t depth = 1;
  std::uint32_t ranks = 1;  ///< that share a file
  bool verified = false;    ///< read data is checked
  bool writes = false;      ///< some of its operations do
  /// Request k of all ranks together leaves no holes, and they come to it together. Only set with depth.
  bool dense_rounds = false;
  /// The ranks write a file before they read it, and always take turns: request k of rank r lies at (k * ranks + r)
  /// times the length that all requests have, and all ranks make equally many, in this order.
  bool takes_turns = false;
};

/// HOW: the way bytes go to storage. One object for each case.
class Interface {
 public:
  virtual ~Interface() = default;
  /// All paths that follow are below this folder, which outlives the interface. Those that use the kernel's file system
  /// open and remove files through it.
  void work_in(RunFolder* folder) { folder_ = folder; }
  /// Reaches the storage behind the directory in which all files will be, before anything is measured. Throws IoError.
  virtual void connect(const std::string& /*directory*/) {}
  virtual std::unique_ptr<File> open(const OpenRequest& request) = 0;
  virtual void remove(const std::string& path) = 0;
  /// Metadata operations below an existing directory; only where Capabilities::metadata names calls.
  virtual std::unique_ptr<Directory> open_directory(const std::string& path);
  virtual Cooperation cooperation(RequestShape) const { return Cooperation::independent; }
  /// Offsets, lengths and memory addresses must be multiples of this.
  virtual std::uint64_t alignment() const { return 1; }
  /// Requests that it keeps in flight at most; 1: each call waits for its bytes.
  virtual std::uint32_t largest_depth() const { return 1; }
  /// Whether its queued files wait for a limited time.
  virtual bool completes_within() const { return false; }
  /// Throws InputError if it cannot meet a requirement of a case.
  virtual void check(const Demand&) const {}
  virtual std::uint64_t largest_transfer() const { return std::uint64_t{1} << 40; }
  /// With OpenRequest::verified a new file has OpenRequest::file_size bytes at once; otherwise it ends behind the last
  /// byte written.
  virtual bool sizes_new_files() const { return false; }

 protected:
  /// Null where none was named.
  RunFolder* folder() const { return folder_; }

 private:
  RunFolder* folder_ = nullptr;
};

enum class Storage {
  none,  ///< bytes go nowhere
  kept,  ///< files need space and can be checked afterwards
};
enum class Transfers { independent, collective };
enum class FileFormat {
  plain,
  own,  ///< what is written to an offset may lie elsewhere in the file, and all ranks have to make a file together
};
/// The process that accesses the storage.
enum class StorageClient {
  kernel,   ///< its file system: files are at their path
  library,  ///< the interface's own: the kernel's file system, its cache and its counters are not in between
  servers,  ///< processes that keep files of their own: none is at the path of what a case writes
};

struct Capabilities {
  Storage storage = Storage::none;
  Transfers transfers = Transfers::independent;  ///< collective: where a case asks for it
  MetadataCalls metadata = {};                   ///< what its Directory offers
  FileFormat format = FileFormat::plain;
  StorageClient client = StorageClient::kernel;

  bool stores() const { return storage == Storage::kept; }
};

/// An interface's description of itself.
struct InterfaceEntry {
  std::string_view name;
  std::string_view doc;
  Capabilities capabilities;
  std::span<const Parameter> parameters;
  std::unique_ptr<Interface> (*make)(const Settings& settings);
  /// Why it cannot be used on this machine; empty where it can. Null: it always can.
  std::string (*problem)() = nullptr;
};

template <typename I>
std::unique_ptr<Interface> make_interface(const Settings& settings) {
  return std::make_unique<I>(settings);
}

/// The interfaces that are part of the program, in the order of the build list; others are modules (modules.hpp).
std::span<const InterfaceEntry* const> all_interfaces();
/// Of the program or of a module. Null where there is none of that name; throws InputError where a module cannot be
/// loaded.
const InterfaceEntry* find_interface(std::string_view name);

}  // namespace strider
