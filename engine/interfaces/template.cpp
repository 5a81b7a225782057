// How to add an interface: copy this file to mine.cpp, replace what is said about stdio, add
// `strider_add_interface(mine)` to CMakeLists.txt and a page docs/interfaces/mine.md. The tests that run over all
// interfaces find yours by themselves. This file is compiled and passes those tests, but no user sees it: buffered
// stdio has nothing to say about storage.
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>

#include "foundation/error.hpp"
#include "interfaces/interface.hpp"

namespace strider {
namespace {

/// An open file of one rank. It moves bytes and says what went wrong: it prints nothing, measures nothing, and does not
/// wait for other ranks.
class StdioFile final : public File {
 public:
  StdioFile(const OpenRequest& request, std::uint64_t buffer_bytes) : path_(request.path) {
    // All ranks of a shared file open it "new" at the same time: creating must never truncate, so fopen's "w" will not
    // do.
    const int creation = request.creation == Creation::create ? O_CREAT : 0;
    const int descriptor = ::open(path_.c_str(), O_RDWR | O_CLOEXEC | creation, 0600);
    stream_ = descriptor < 0 ? nullptr : ::fdopen(descriptor, "r+");
    if (stream_ == nullptr) throw_errno("open", path_);
    std::setvbuf(stream_, nullptr, buffer_bytes > 0 ? _IOFBF : _IONBF, buffer_bytes);
  }
  StdioFile(const StdioFile&) = delete;
  StdioFile& operator=(const StdioFile&) = delete;
  /// Reached without close() when a phase ends by an error: free what is held, and throw nothing.
  ~StdioFile() override {
    if (stream_ != nullptr) std::fclose(stream_);
  }

  // A request is a list of extents. Each of them is moved whole, or IoError says which call failed where.
  void write(const Request& request) override {
    for (const Extent& extent : request.extents) {
      seek(extent);
      const std::byte* from = request.memory + extent.memory_offset;
      if (std::fwrite(from, 1, extent.length, stream_) != extent.length)
        throw_errno("fwrite", path_, extent.file_offset, extent.length);
    }
  }
  void read(const Request& request) override {
    for (const Extent& extent : request.extents) {
      seek(extent);
      std::byte* to = request.memory + extent.memory_offset;
      const std::size_t moved = std::fread(to, 1, extent.length, stream_);
      if (moved == extent.length) continue;
      const IoError::What what{"fread", path_, extent.file_offset + moved, extent.length - moved, errno};
      // The end of the file is no error to the system, so it has no errno: say it in words.
      if (std::feof(stream_) != 0)
        throw IoError({what.call, what.file, what.offset, what.length, 0}, "the file ends here");
      throw IoError(what);
    }
  }

  void sync() override {
    if (std::fflush(stream_) != 0) throw_errno("fflush", path_);
    if (::fsync(::fileno(stream_)) != 0) throw_errno("fsync", path_);
  }
  /// Some file systems report lost writes only here: what close says must not be lost.
  void close() override {
    if (std::fclose(std::exchange(stream_, nullptr)) != 0) throw_errno("fclose", path_);
  }

  /// What the storage says, so what is still in a buffer has to get there first.
  std::uint64_t size() override {
    struct stat status{};
    if (std::fflush(stream_) != 0) throw_errno("fflush", path_);
    if (::fstat(::fileno(stream_), &status) != 0) throw_errno("fstat", path_);
    return static_cast<std::uint64_t>(status.st_size);
  }

  /// What only the interface knows about the open file; it stands in the result. Leave it out if there is nothing.
  Facts facts() const override { return {{"stream", "stdio"}}; }

 private:
  void seek(const Extent& extent) {
    if (::fseeko(stream_, static_cast<off_t>(extent.file_offset), SEEK_SET) != 0)
      throw_errno("fseeko", path_, extent.file_offset, extent.length);
  }
  std::string path_;
  std::FILE* stream_ = nullptr;
};

/// One object for each case; it has read the parameters once and for all.
class Stdio final : public Interface {
 public:
  explicit Stdio(const Settings& settings) : buffer_bytes_(settings.number("buffer")) {}

  std::unique_ptr<File> open(const OpenRequest& request) override {
    return std::make_unique<StdioFile>(request, buffer_bytes_);
  }
  /// A file that is not there is no error.
  void remove(const std::string& path) override {
    if (std::remove(path.c_str()) != 0 && errno != ENOENT) throw_errno("remove", path);
  }
  // Where they differ from the defaults, override as well: cooperation() if calls are collective, alignment() if
  // offsets, lengths and memory must be multiples of something, largest_transfer() if one call moves only so much,
  // sizes_new_files() if a file has its size from the beginning.

 private:
  std::uint64_t buffer_bytes_;
};

// Each parameter once: name, kind, default as JSON, one sentence, limits. Suites, help, checks and the manual take it
// from here, and its value has been checked when the constructor above asks for it.
constexpr Parameter parameters[] = {
    {"buffer", Kind::bytes, "65536", "Bytes of the stream's buffer; 0 for none.", 0, 1 << 30},
};

}  // namespace

// The entry is the only thing the rest of the program sees; the name before _entry is that of the file.
extern const InterfaceEntry template_entry{"stdio",
                                           "The C library's streams: fseeko, fread, fwrite, fflush, fclose.",
                                           {.storage = Storage::kept},
                                           parameters,
                                           make_interface<Stdio>};

}  // namespace strider
