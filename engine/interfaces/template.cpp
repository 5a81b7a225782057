// How to add an interface: copy this file to mine.cpp, replace the calls of stdio and the name in the entry at the end,
// add `strider_add_interface(mine)` to CMakeLists.txt and a page docs/interfaces/mine.md. The tests of all interfaces
// include yours by themselves. This file is compiled and passes those tests, but it is not part of the program: rates
// of buffered stdio are those of its buffer.
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>

#include "foundation/error.hpp"
#include "foundation/run_folder.hpp"
#include "interfaces/interface.hpp"

namespace strider {
namespace {

/// An open file of one rank. It moves bytes and throws errors: it prints nothing, measures nothing, and does not wait
/// for other ranks.
class StdioFile final : public File {
 public:
  StdioFile(RunFolder* folder, const OpenRequest& request, std::uint64_t buffer_bytes) : path_(request.path) {
    // Files are opened and removed below the run's folder, so that no link or mount leads out of the target. All ranks
    // of a shared file open it "new" at the same time: creating must never truncate, so fopen's "w" would be wrong.
    const int creation = request.creation == Creation::create ? O_CREAT : 0;
    OpenFile file = open_file(folder, path_, O_RDWR | O_CLOEXEC | creation, 0600);
    stream_ = ::fdopen(file.get(), "r+");
    if (stream_ == nullptr) throw_errno("fdopen", path_);
    file.release();  // the stream closes it
    std::setvbuf(stream_, nullptr, buffer_bytes > 0 ? _IOFBF : _IONBF, buffer_bytes);
  }
  StdioFile(const StdioFile&) = delete;
  StdioFile& operator=(const StdioFile&) = delete;
  /// Reached without close() when a phase ends by an error: free everything, and throw nothing.
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
      // The end of the file has no errno: describe it in words.
      if (std::feof(stream_) != 0)
        throw IoError({what.call, what.file, what.offset, what.length, 0}, "the file ends here");
      throw IoError(what);
    }
  }

  void sync() override {
    if (std::fflush(stream_) != 0) throw_errno("fflush", path_);
    if (::fsync(::fileno(stream_)) != 0) throw_errno("fsync", path_);
  }
  /// Some file systems report lost writes only here: report errors of close.
  void close() override {
    if (std::fclose(std::exchange(stream_, nullptr)) != 0) throw_errno("fclose", path_);
  }

  /// Size of the file in storage, so the buffer is flushed first.
  std::uint64_t size() override {
    struct stat status{};
    if (std::fflush(stream_) != 0) throw_errno("fflush", path_);
    if (::fstat(::fileno(stream_), &status) != 0) throw_errno("fstat", path_);
    return static_cast<std::uint64_t>(status.st_size);
  }

  /// Facts of the open file that only the interface knows; they are part of the result. Omit it if there are none.
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
    return std::make_unique<StdioFile>(folder(), request, buffer_bytes_);
  }
  /// Removing a file that does not exist is no error.
  void remove(const std::string& path) override { remove_file(folder(), path); }
  // Where they differ from the defaults, override as well: cooperation() if calls are collective, alignment() if
  // offsets, lengths and memory must be multiples of something, largest_transfer() if one call moves only so much,
  // sizes_new_files() if a file has its size from the beginning.

 private:
  std::uint64_t buffer_bytes_;
};

// Each parameter once: name, kind, default as JSON, one sentence, limits. Suites, help, checks and the manual take it
// from here, and its value has been checked when the constructor above asks for it.
constexpr Parameter template_parameters[] = {
    {"buffer", Kind::bytes, "65536", "Bytes of the stream's buffer; 0 for none.", 0, 1 << 30},
};

}  // namespace

// The rest of the program uses only this entry. The word before _entry is the name of the file without .cpp; the first
// text is the interface's name in suites.
extern const InterfaceEntry template_entry{"template",
                                           "The C library's streams: fseeko, fread, fwrite, fflush, fclose.",
                                           {.storage = Storage::kept},
                                           template_parameters,
                                           make_interface<Stdio>};

}  // namespace strider
