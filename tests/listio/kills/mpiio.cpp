// A program of MPI on a volume that is harmed meanwhile (tests/system/test_listio_layers.py).
//
//   strider-listio-kills-mpiio FILE SEED PATIENCE_MS both|nonatomic
//
// As strider-listio-kills, by MPI_File_* on a file that all ranks open together, in atomic mode too, and files of each
// rank. It knows nothing of volumes. The first rank reads standard input, and prints a line of each rank.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <random>
#include <stdexcept>
#include <string>

#include "mpi/program.hpp"
#include "worker.hpp"

namespace strider::listio {
namespace {

/// How the next transfers of the shared file are done.
enum class Access { independent, nonblocking, collective, atomic };

std::string class_name(int code) {
  switch (class_of(code)) {
    case MPI_ERR_IO: return "MPI_ERR_IO";
    case MPI_ERR_NO_SPACE: return "MPI_ERR_NO_SPACE";
    case MPI_ERR_ACCESS: return "MPI_ERR_ACCESS";
    default: return "class " + std::to_string(class_of(code));
  }
}

void require_success(const std::string& call, int code) {
  if (code == MPI_SUCCESS) return;
  const bool is_loss = call == "MPI_File_sync" && class_of(code) == MPI_ERR_IO;
  throw CallFailed(call + ": " + class_name(code) + ": " + text_of(code), is_loss);
}

/// A status may not say more than was done. A mistake ends the program. In collective calls another rank may have
/// failed, and in atomic mode the lock may be lost when all bytes are moved.
void require_count(int code, const MPI_Status& status, long long wanted, Access access) {
  const std::string count = std::to_string(moved(status)) + " of " + std::to_string(wanted) + " bytes, access " +
                            std::to_string(static_cast<int>(access));
  if (code == MPI_SUCCESS && moved(status) != wanted) throw std::logic_error("a call succeeds, but moves " + count);
  if (code != MPI_SUCCESS && (access == Access::independent || access == Access::nonblocking) &&
      moved(status) == wanted)
    throw std::logic_error("a call fails, but moves " + count);
}

class MpiIo : public Storage {
 public:
  MpiIo(std::string path, const Places& places, const char* patience_s)
      : path_(std::move(path)),
        places_(places),
        hints_{{"listio_timeout", patience_s},
               {"romio_cb_write", "enable"},
               {"romio_cb_read", "enable"},
               {"cb_buffer_size", "65536"}} {
    open_shared();
  }
  ~MpiIo() override { MPI_File_close(&file_); }
  MpiIo(const MpiIo&) = delete;
  MpiIo& operator=(const MpiIo&) = delete;

  /// By all ranks if that is atomic access, or was.
  void use(Access access) {
    if ((access == Access::atomic) != (access_ == Access::atomic))
      MPI_File_set_atomicity(file_, access == Access::atomic ? 1 : 0);
    access_ = access;
  }

  void write(std::span<const Piece> pieces, std::span<const std::byte> bytes) override {
    for (const Piece& each : pieces) {
      write_piece(each, bytes.data());
      bytes = bytes.subspan(each.count * block);
    }
  }
  void read(std::span<const Piece> pieces, std::span<std::byte> bytes) override {
    for (const Piece& each : pieces) {
      read_piece(each, bytes.data());
      bytes = bytes.subspan(each.count * block);
    }
  }
  void sync() override { require_success("MPI_File_sync", MPI_File_sync(file_)); }
  void reopen() override {
    if (file_ != MPI_FILE_NULL) require_success("MPI_File_close", MPI_File_close(&file_));
    open_shared();
  }
  void make_file(const std::string& name, std::span<const std::byte> bytes) override {
    MPI_File file = open_own(name, creating);
    const auto count = static_cast<int>(bytes.size());
    const int written = MPI_File_write_at(file, 0, bytes.data(), count, MPI_BYTE, MPI_STATUS_IGNORE);
    const int closed = MPI_File_close(&file);
    require_success("MPI_File_write_at", written);
    require_success("MPI_File_close", closed);
  }
  void remove_file(const std::string& name) override {
    const int code = MPI_File_delete(path_of(name).c_str(), hints_);
    if (class_of(code) != MPI_ERR_NO_SUCH_FILE) require_success("MPI_File_delete", code);
  }
  bool exists(const std::string& name) override {
    MPI_File file = MPI_FILE_NULL;
    const int code = MPI_File_open(MPI_COMM_SELF, path_of(name).c_str(), MPI_MODE_RDONLY, hints_, &file);
    if (class_of(code) == MPI_ERR_NO_SUCH_FILE) return false;
    require_success("MPI_File_open", code);
    require_success("MPI_File_close", MPI_File_close(&file));
    return true;
  }

 private:
  /// The view has the blocks of this rank alone, one after the other.
  void open_shared() {
    require_success("MPI_File_open",
                    MPI_File_open(MPI_COMM_WORLD, path_of("shared").c_str(), creating, hints_, &file_));
    const auto group = static_cast<int>(places_.blocks_of_group * block);
    const MPI_Aint turn = static_cast<MPI_Aint>(places_.clients) * group;
    MPI_Datatype blocks = MPI_DATATYPE_NULL, view = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(group, MPI_BYTE, &blocks);
    MPI_Type_create_resized(blocks, 0, turn, &view);
    MPI_Type_commit(&view);
    const MPI_Offset begin = static_cast<MPI_Offset>(places_.client) * group;
    const int code = MPI_File_set_view(file_, begin, MPI_BYTE, view, "native", MPI_INFO_NULL);
    MPI_Type_free(&view);
    MPI_Type_free(&blocks);
    require_success("MPI_File_set_view", code);
  }
  MPI_File open_own(const std::string& name, int mode) const {
    MPI_File file = MPI_FILE_NULL;
    require_success("MPI_File_open", MPI_File_open(MPI_COMM_SELF, path_of(name).c_str(), mode, hints_, &file));
    return file;
  }
  std::string path_of(const std::string& name) const { return path_ + name; }

  void write_piece(const Piece& piece, const std::byte* from) {
    const auto at = static_cast<MPI_Offset>(piece.first * block);
    const auto bytes = static_cast<int>(piece.count * block);
    MPI_Status status;
    int code = MPI_SUCCESS;
    if (access_ == Access::collective) code = MPI_File_write_at_all(file_, at, from, bytes, MPI_BYTE, &status);
    else if (access_ != Access::nonblocking) code = MPI_File_write_at(file_, at, from, bytes, MPI_BYTE, &status);
    else code = finish([&](MPI_Request* r) { return MPI_File_iwrite_at(file_, at, from, bytes, MPI_BYTE, r); }, status);
    require_count(code, status, bytes, access_);
    require_success("write", code);
  }
  /// Bytes beyond the end of the file become 0.
  void read_piece(const Piece& piece, std::byte* to) {
    const auto at = static_cast<MPI_Offset>(piece.first * block);
    const auto bytes = static_cast<int>(piece.count * block);
    MPI_Status status;
    int code = MPI_SUCCESS;
    if (access_ == Access::collective) code = MPI_File_read_at_all(file_, at, to, bytes, MPI_BYTE, &status);
    else if (access_ != Access::nonblocking) code = MPI_File_read_at(file_, at, to, bytes, MPI_BYTE, &status);
    else code = finish([&](MPI_Request* r) { return MPI_File_iread_at(file_, at, to, bytes, MPI_BYTE, r); }, status);
    if (code != MPI_SUCCESS) require_count(code, status, bytes, access_);
    require_success("read", code);
    std::fill(to + moved(status), to + bytes, std::byte{0});
  }
  template <typename Start>
  static int finish(const Start& start, MPI_Status& status) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = start(&request);
    return code != MPI_SUCCESS ? code : MPI_Wait(&request, &status);
  }

  const std::string path_;
  const Places places_;
  const Info hints_;
  MPI_File file_ = MPI_FILE_NULL;
  Access access_ = Access::independent;
};

/// What all ranks do next: the first rank chooses. Ranks that wait leave the processor to others.
struct Choice {
  int is_end = 0, kind = 0;
};
Choice choose_together(std::mt19937_64& random) {
  std::array<int, 2> words{};
  if (rank() == 0) words = {has_input() ? 1 : 0, static_cast<int>(random() % 16)};
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(words.data(), 2, MPI_INT, 0, MPI_COMM_WORLD, &request);
  for (int is_there = 0; MPI_Test(&request, &is_there, MPI_STATUS_IGNORE), is_there == 0;) ::usleep(200);
  return {words[0], words[1]};
}

void step_alone(Worker& worker, MpiIo& storage, Access access) {
  storage.use(access);
  constexpr int steps = 8;
  for (int i = 0; i < steps; ++i) worker.step_alone();
}

void step_together(Worker& worker, MpiIo& storage, int kind, bool has_atomic_mode) {
  storage.use(Access::collective);
  switch (kind) {
    case 0: worker.sync(); return;
    case 1:
    case 2:
    case 3: return worker.write();
    case 4:
    case 5:
    case 6: return worker.read();
    case 7:
    case 8:
    case 9: return step_alone(worker, storage, Access::nonblocking);
    case 10:
      if (has_atomic_mode) return step_alone(worker, storage, Access::atomic);
      [[fallthrough]];
    default: return step_alone(worker, storage, Access::independent);
  }
}

void print(const std::string& text) {
  for (int each = 0; each < ranks(); ++each) {
    int bytes = static_cast<int>(text.size());
    MPI_Bcast(&bytes, 1, MPI_INT, each, MPI_COMM_WORLD);
    std::string line = each == rank() ? text : std::string(static_cast<std::size_t>(bytes), ' ');
    MPI_Bcast(line.data(), bytes, MPI_CHAR, each, MPI_COMM_WORLD);
    if (rank() == 0) std::printf("%s\n", line.c_str());
  }
  std::fflush(stdout);
}

void run(const std::string& path, std::uint64_t seed, int patience_ms, bool has_atomic_mode) {
  Workload workload;
  workload.places = {static_cast<std::uint64_t>(rank()), static_cast<std::uint64_t>(ranks()), 4};
  workload.seed = seed;
  workload.most_pieces = 1;
  workload.most_blocks_of_piece = 16;
  workload.blocks_of_strip = 1;
  workload.patience = std::chrono::milliseconds(patience_ms);
  MpiIo storage(path, workload.places, std::to_string(patience_ms / 1000).c_str());
  Worker worker(storage, workload);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() == 0) std::puts("ready");
  std::fflush(stdout);
  std::mt19937_64 random(seed);
  for (Choice choice = choose_together(random); choice.is_end == 0; choice = choose_together(random))
    step_together(worker, storage, choice.kind, has_atomic_mode);
  storage.use(Access::independent);
  worker.check_all();
  print(worker.json());
}

}  // namespace
}  // namespace strider::listio

int main(int count, char** words) {
  MPI_Init(&count, &words);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);  // of MPI_Wait
  if (count != 5) {
    std::fputs("usage: strider-listio-kills-mpiio FILE SEED PATIENCE_MS both|nonatomic\n", stderr);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  try {
    strider::listio::run(words[1], std::stoull(words[2]), std::stoi(words[3]), std::string(words[4]) == "both");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "strider-listio-kills-mpiio: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
