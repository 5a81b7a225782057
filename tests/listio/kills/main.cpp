// A client of a volume whose servers are killed and started again meanwhile (tests/system/test_listio_kills.py).
//
//   strider-listio-kills VOLUME_FILE CLIENT CLIENTS SEED PATIENCE_MS
//
// Until a line is read from standard input, writes, reads and syncs lists of blocks of a file that all clients share,
// and makes and removes files of its own, each with a block. Then reads everything, and prints a line of JSON: its
// calls, which servers errors named, and which promises were broken.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>

#include "foundation/error.hpp"
#include "listio/client/client.hpp"
#include "worker.hpp"

namespace strider::listio {
namespace {

/// By the client of this project.
class Native : public Storage {
 public:
  Native(const std::string& volume, const Places& places, std::chrono::milliseconds patience)
      : places_(places), client_(read_volume(volume), options(patience)) {
    file_ = client_.open("shared", Creation::if_missing);
  }

  void write(std::span<const Piece> pieces, std::span<const std::byte> bytes) override {
    const std::vector<ByteRun> runs = runs_of(pieces);
    const std::vector<iovec> memory = memory_of(runs, const_cast<std::byte*>(bytes.data()));  // NOLINT: is read only
    call([&] { client_.write_list(file_, memory, runs); });
  }
  void read(std::span<const Piece> pieces, std::span<std::byte> bytes) override {
    const std::vector<ByteRun> runs = runs_of(pieces);
    const std::vector<iovec> memory = memory_of(runs, bytes.data());
    std::ranges::fill(bytes, std::byte{0});  // of the part beyond the end
    call([&] { client_.read_list(file_, memory, runs); });
  }
  void sync() override {
    call([&] { client_.sync(file_); });
  }
  void reopen() override {
    call([&] { file_ = client_.open("shared"); });
  }
  void make_file(const std::string& name, std::span<const std::byte> bytes) override {
    call([&] { client_.write(client_.open(name, Creation::if_missing), bytes, 0); });
  }
  void remove_file(const std::string& name) override {
    call([&] {
      if (is_there(name)) client_.unlink(name);
    });
  }
  bool exists(const std::string& name) override {
    bool found = false;
    call([&] { found = is_there(name); });
    return found;
  }

 private:
  static ClientOptions options(std::chrono::milliseconds patience) {
    ClientOptions options;
    options.patience = patience;
    return options;
  }
  template <typename Call>
  static void call(const Call& call) {
    try {
      call();
    } catch (const IoError& error) {
      throw CallFailed("errno " + std::to_string(error.details().error_number) + ": " + error.what(),
                       dynamic_cast<const LostChanges*>(&error) != nullptr);
    }
  }
  std::vector<ByteRun> runs_of(std::span<const Piece> pieces) const {
    std::vector<ByteRun> runs;
    for (const Stretch& each : places_.stretches(pieces)) runs.push_back({each.offset, each.bytes});
    return runs;
  }
  static std::vector<iovec> memory_of(const std::vector<ByteRun>& runs, std::byte* begin) {
    std::vector<iovec> memory;
    for (const ByteRun& run : runs) {
      memory.push_back({begin, run.length});
      begin += run.length;
    }
    return memory;
  }
  bool is_there(const std::string& name) {
    try {
      client_.stat(name);
      return true;
    } catch (const IoError& error) {
      if (error.details().error_number == ENOENT) return false;
      throw;
    }
  }

  const Places places_;
  Client client_;
  File file_;
};

}  // namespace
}  // namespace strider::listio

int main(int count, char** words) try {
  using namespace strider::listio;
  if (count != 6) {
    std::fputs("usage: strider-listio-kills VOLUME_FILE CLIENT CLIENTS SEED PATIENCE_MS\n", stderr);
    return 2;
  }
  Workload workload;
  workload.places = {std::stoull(words[2]), std::stoull(words[3]), 1};
  workload.seed = std::stoull(words[4]);
  workload.patience = std::chrono::milliseconds(std::stoull(words[5]));
  Native storage(words[1], workload.places, workload.patience);
  work(storage, workload);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "strider-listio-kills: %s\n", error.what());
  return 1;
}
