// A program on a mount of a volume that is harmed meanwhile (tests/system/test_listio_layers.py).
//
//   strider-listio-kills-posix DIRECTORY CLIENT CLIENTS SEED PATIENCE_MS
//
// As strider-listio-kills, by the calls of POSIX: it knows nothing of volumes.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "worker.hpp"

namespace strider::listio {
namespace {

[[noreturn]] void fail(const char* call) {
  const int error = errno;
  throw CallFailed(std::string(call) + ": errno " + std::to_string(error),
                   error == EIO && std::string(call) == "fsync");
}

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : number_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {
    if (number_ < 0) fail("open");
  }
  ~Descriptor() { ::close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  void write(std::span<const std::byte> bytes, std::uint64_t offset) const {
    while (!bytes.empty()) {
      const ssize_t done = ::pwrite(number_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (done < 0) fail("pwrite");
      bytes = bytes.subspan(static_cast<std::size_t>(done));
      offset += static_cast<std::uint64_t>(done);
    }
  }
  /// Bytes beyond the end of the file become 0.
  void read(std::span<std::byte> bytes, std::uint64_t offset) const {
    while (!bytes.empty()) {
      const ssize_t done = ::pread(number_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (done < 0) fail("pread");
      if (done == 0) break;
      bytes = bytes.subspan(static_cast<std::size_t>(done));
      offset += static_cast<std::uint64_t>(done);
    }
    std::ranges::fill(bytes, std::byte{0});
  }
  void sync() const {
    if (::fsync(number_) != 0) fail("fsync");
  }
  void close() {
    const int number = number_;
    number_ = -1;
    if (::close(number) != 0) fail("close");
  }

 private:
  int number_;
};

class Posix : public Storage {
 public:
  Posix(std::string directory, const Places& places) : directory_(std::move(directory)), places_(places) { reopen(); }

  void write(std::span<const Piece> pieces, std::span<const std::byte> bytes) override {
    for (const Stretch& each : places_.stretches(pieces)) {
      file_->write(bytes.first(each.bytes), each.offset);
      bytes = bytes.subspan(each.bytes);
    }
  }
  void read(std::span<const Piece> pieces, std::span<std::byte> bytes) override {
    for (const Stretch& each : places_.stretches(pieces)) {
      file_->read(bytes.first(each.bytes), each.offset);
      bytes = bytes.subspan(each.bytes);
    }
  }
  void sync() override { file_->sync(); }
  void reopen() override {
    file_.reset();
    file_.emplace(path_of("shared"), O_RDWR | O_CREAT);
  }
  void make_file(const std::string& name, std::span<const std::byte> bytes) override {
    Descriptor file(path_of(name), O_WRONLY | O_CREAT);
    file.write(bytes, 0);
    file.close();
  }
  void remove_file(const std::string& name) override {
    if (::unlink(path_of(name).c_str()) != 0 && errno != ENOENT) fail("unlink");
  }
  bool exists(const std::string& name) override {
    if (::access(path_of(name).c_str(), F_OK) == 0) return true;
    if (errno != ENOENT) fail("access");
    return false;
  }

 private:
  std::string path_of(const std::string& name) const { return directory_ + "/" + name; }

  const std::string directory_;
  const Places places_;
  std::optional<Descriptor> file_;
};

}  // namespace
}  // namespace strider::listio

int main(int count, char** words) try {
  using namespace strider::listio;
  if (count != 6) {
    std::fputs("usage: strider-listio-kills-posix DIRECTORY CLIENT CLIENTS SEED PATIENCE_MS\n", stderr);
    return 2;
  }
  Workload workload;
  workload.places = {std::stoull(words[2]), std::stoull(words[3]), 16};
  workload.seed = std::stoull(words[4]);
  workload.most_pieces = 1;
  workload.most_blocks_of_piece = 16;
  workload.blocks_of_strip = 1;
  workload.steps_of_sync = 64;
  workload.patience = std::chrono::milliseconds(std::stoull(words[5]));
  Posix storage(words[1], workload.places);
  work(storage, workload);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "strider-listio-kills-posix: %s\n", error.what());
  return 1;
}
