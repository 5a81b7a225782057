// Calls with numbers around every power of two, each rank on a file of its own: values FILE CALLS SEED. Ends with 0 if
// each call acted as a model of the file, and prints by how much the memory of the first rank has grown, in KiB.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <random>

#include "program.hpp"

namespace {

using Wide = __int128;
constexpr Wide most_file_bytes = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t buffer_bytes = std::size_t{1} << 22, page_bytes = 256;

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  std::int64_t roll(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  bool one_in(int number) { return roll(1, number) == 1; }
  /// Around a power of two, in two's complement.
  std::int64_t number() { return static_cast<std::int64_t>((std::uint64_t{1} << roll(0, 63)) + roll(0, 2) - 1); }
  std::int64_t offset() { return one_in(30) ? ~number() : number(); }
  int count(std::int64_t most) {
    if (one_in(30)) return static_cast<int>(-roll(1, 3));
    return static_cast<int>(std::min((number() & std::numeric_limits<std::int64_t>::max()) >> roll(0, 62), most));
  }

 private:
  std::mt19937_64 engine_;
};

/// Blocks of bytes, one in each extent.
struct View {
  std::int64_t displacement = 0, etype = 1, block = 1, extent = 1;

  Wide place(Wide byte) const { return displacement + byte / block * extent + byte % block; }
  bool is_plain() const { return extent == block && displacement == 0; }
};

/// The bytes of a file that were written; others are 0.
class Model {
 public:
  Wide size = 0;

  unsigned char at(std::int64_t place) const {
    const auto page = pages_.find(place / page_bytes);
    return page == pages_.end() ? 0 : page->second[place % page_bytes];
  }
  void put(std::int64_t place, unsigned char byte) {
    pages_[place / page_bytes][place % page_bytes] = byte;
    size = std::max<Wide>(size, Wide{place} + 1);
  }
  void resize(std::int64_t bytes) {
    pages_.erase(pages_.upper_bound(bytes / page_bytes), pages_.end());
    if (const auto page = pages_.find(bytes / page_bytes); page != pages_.end())
      std::fill(page->second.begin() + bytes % page_bytes, page->second.end(), 0);
    size = bytes;
  }
  bool is_large() const { return pages_.size() > 8192; }

 private:
  std::map<std::int64_t, std::array<unsigned char, page_bytes>> pages_;
};

/// Ends all ranks unless a call was right; an error has a class that programs can act on.
void require(bool should_succeed, int code, const char* call, std::int64_t first, std::int64_t second) {
  const int error_class = class_of(code);
  const bool is_named = error_class != MPI_ERR_INTERN && error_class != MPI_ERR_UNKNOWN;
  if (should_succeed == (code == MPI_SUCCESS) && is_named) return;
  std::fprintf(stderr, "rank %d: %s with %lld, %lld: %s\n", rank(), call, static_cast<long long>(first),
               static_cast<long long>(second), text_of(code).c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

class Caller {
 public:
  Caller(const std::string& name, unsigned seed)
      : dice_(seed), file_(open_file(name, creating, MPI_INFO_NULL, MPI_COMM_SELF)), buffer_(buffer_bytes) {
    CALL(MPI_File_set_size(file_, 0));
  }
  ~Caller() { MPI_File_close(&file_); }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  void call() {
    switch (dice_.roll(0, 11)) {
      case 0: return dice_.one_in(2) ? set_view() : plain_view();
      case 1: return resize();
      case 2: return seek();
      case 3: return seek_shared();
      case 4: return byte_offset();
      case 5: return read_any_count();
      case 6:
      case 7:
      case 8: return read();
      default: return write();
    }
  }

 private:
  void plain_view() {
    view_ = {};
    CALL(MPI_File_set_view(file_, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  }

  void set_view() {
    const std::int64_t etype = dice_.one_in(2) ? 1 : 8, block = etype * dice_.roll(1, 600), number = dice_.number();
    const View wanted{dice_.offset(), etype, block, dice_.one_in(2) ? block : number};
    MPI_Datatype element = MPI_BYTE, blocks = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
    CALL(MPI_Type_contiguous(static_cast<int>(etype), MPI_BYTE, &element));
    CALL(MPI_Type_contiguous(static_cast<int>(block / etype), element, &blocks));
    CALL(MPI_Type_create_resized(blocks, 0, wanted.extent, &type));
    CALL(MPI_Type_commit(&element));
    CALL(MPI_Type_commit(&type));
    const int code = MPI_File_set_view(file_, wanted.displacement, element, type, "native", MPI_INFO_NULL);
    for (MPI_Datatype* made : {&element, &blocks, &type}) MPI_Type_free(made);
    const bool is_allowed = wanted.displacement >= 0 && wanted.extent >= block;
    require(is_allowed, code, "set_view", wanted.displacement, wanted.extent);
    view_ = wanted;
    if (!is_allowed) plain_view();
  }

  void resize() {
    const bool grows = dice_.one_in(4);
    const std::int64_t bytes = dice_.one_in(2) && !model_.is_large() ? dice_.offset() : dice_.roll(0, 100'000);
    const int code = grows ? MPI_File_preallocate(file_, bytes) : MPI_File_set_size(file_, bytes);
    require(bytes >= 0, code, grows ? "preallocate" : "set_size", bytes, 0);
    if (code != MPI_SUCCESS) return;
    if (!grows) model_.resize(bytes);
    model_.size = std::max<Wide>(model_.size, bytes);
    MPI_Offset size = -1;
    CALL(MPI_File_get_size(file_, &size));
    REQUIRE(size == static_cast<MPI_Offset>(model_.size));
  }

  void seek() {
    MPI_Offset before = -1, after = -1;
    CALL(MPI_File_get_position(file_, &before));
    const std::array whences{MPI_SEEK_SET, MPI_SEEK_CUR, MPI_SEEK_END};
    const auto kind = static_cast<std::size_t>(dice_.roll(0, view_.is_plain() && view_.etype == 1 ? 2 : 1));
    const std::int64_t offset = dice_.offset();
    const Wide place = offset + (kind == 0 ? Wide{0} : kind == 1 ? Wide{before} : model_.size);
    const int code = MPI_File_seek(file_, offset, whences[kind]);
    // What lies beyond the largest file may be refused now, or where it is used.
    const bool is_certain = place < 0 || view_.place(place * view_.etype) < most_file_bytes;
    require(is_certain ? place >= 0 : code == MPI_SUCCESS, code, "seek", offset, static_cast<std::int64_t>(kind));
    CALL(MPI_File_get_position(file_, &after));
    REQUIRE(after == (code == MPI_SUCCESS ? static_cast<MPI_Offset>(place) : before));
  }

  void seek_shared() {
    const std::int64_t offset = dice_.offset();
    const int code = MPI_File_seek_shared(file_, offset, MPI_SEEK_SET);
    if (offset < 0 || view_.place(Wide{offset} * view_.etype) < most_file_bytes)
      require(offset >= 0, code, "seek_shared", offset, 0);
    MPI_Offset found = -1;
    CALL(MPI_File_get_position_shared(file_, &found));
    if (code == MPI_SUCCESS) REQUIRE(found == offset);
  }

  void byte_offset() {
    const std::int64_t offset = dice_.offset();
    MPI_Offset found = -1;
    const int code = MPI_File_get_byte_offset(file_, offset, &found);
    const Wide place = view_.place(Wide{offset} * view_.etype);
    require(offset >= 0 && place < most_file_bytes, code, "get_byte_offset", offset, 0);
    if (code == MPI_SUCCESS) REQUIRE(found == static_cast<MPI_Offset>(place));
  }

  /// Whether all bytes of an access lie in the largest file.
  bool fits(std::int64_t offset, std::int64_t bytes) const {
    return offset >= 0 && (bytes <= 0 || view_.place(Wide{offset} * view_.etype + bytes - 1) < most_file_bytes);
  }

  /// Few pieces, so that there is time for many calls.
  std::int64_t most_bytes() const { return std::min<std::int64_t>(8192, 40 * view_.block); }

  void write() {
    const std::int64_t offset = dice_.offset();
    const int count = dice_.count(most_bytes()) / 8 * 8;
    const auto first = static_cast<unsigned char>(dice_.roll(0, 255));
    for (int i = 0; i < count; ++i) buffer_[i] = static_cast<unsigned char>(first + i);
    MPI_Status status;
    int code = MPI_SUCCESS;
    if (dice_.one_in(4)) {
      MPI_Request request = MPI_REQUEST_NULL;
      code = MPI_File_iwrite_at(file_, offset, buffer_.data(), count, MPI_BYTE, &request);
      if (code == MPI_SUCCESS) code = MPI_Wait(&request, &status);
    } else {
      code = MPI_File_write_at(file_, offset, buffer_.data(), count, MPI_BYTE, &status);
    }
    if (count == 0 && offset >= 0) return;  // nothing is accessed
    require(fits(offset, count) && count > 0, code, "write_at", offset, count);
    if (code != MPI_SUCCESS) return;
    REQUIRE(moved(status) == count);
    for (int i = 0; i < count; ++i)
      model_.put(static_cast<std::int64_t>(view_.place(Wide{offset} * view_.etype + i)), buffer_[i]);
    if (model_.is_large()) {
      CALL(MPI_File_set_size(file_, 0));
      model_.resize(0);
    }
  }

  void read() {
    const std::int64_t offset = dice_.offset();
    check_read(offset, dice_.count(most_bytes()) / 8 * 8);
  }

  /// More than the file has, up to all of the buffer.
  void read_any_count() {
    if (model_.size > 200'000 || view_.block < 512 || !dice_.one_in(10)) return read();
    const std::int64_t count = (std::int64_t{1} << dice_.roll(3, 22)) + 8 * dice_.roll(-1, 0);
    check_read(dice_.roll(0, 100'000), static_cast<int>(count));
  }

  void check_read(std::int64_t offset, int count) {
    const Wide begin = Wide{offset} * view_.etype;
    std::int64_t there = 0;
    while (there < count && view_.place(begin + there) < model_.size) ++there;
    const auto watched = std::min(buffer_bytes, static_cast<std::size_t>(std::max(0, count)) + 4096);
    std::fill_n(buffer_.begin(), watched, 0xa5);
    MPI_Status status;
    const int code = MPI_File_read_at(file_, offset, buffer_.data(), count, MPI_BYTE, &status);
    if (count == 0 && offset >= 0) return;
    // Behind the end there is nothing to read, or nothing that a file may have.
    if (offset >= 0 && count > 0 && !fits(offset, count)) require(code == MPI_SUCCESS, code, "read_at", offset, count);
    else require(offset >= 0 && count > 0, code, "read_at", offset, count);
    if (code != MPI_SUCCESS) return;
    REQUIRE(moved(status) == there);
    for (std::int64_t i = 0; i < there; ++i)
      REQUIRE(buffer_[i] == model_.at(static_cast<std::int64_t>(view_.place(begin + i))));
    const auto rest = buffer_.begin() + there, end = buffer_.begin() + static_cast<std::ptrdiff_t>(watched);
    REQUIRE(std::all_of(rest, end, [](unsigned char byte) { return byte == 0xa5; }));
  }

  Dice dice_;
  MPI_File file_;
  View view_;
  Model model_;
  std::vector<unsigned char> buffer_;
};

long resident_kib() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("VmRSS:")) return std::stol(line.substr(6));
  return 0;
}

}  // namespace

int main(int words, char** word) {
  MPI_Init(&words, &word);
  REQUIRE(words == 4);
  const std::string name = std::string(word[1]) + "-" + std::to_string(rank());
  const std::vector<unsigned char> kept(300'000, 0x5a);
  MPI_Status status;
  MPI_File beside = open_file(name + "-kept", creating, MPI_INFO_NULL, MPI_COMM_SELF);
  CALL(MPI_File_write_at(beside, 0, kept.data(), static_cast<int>(kept.size()), MPI_BYTE, &status));
  const long calls = std::atol(word[2]);
  long before = 0, most = 0;
  {
    Caller caller(name, static_cast<unsigned>(std::atoi(word[3]) + rank()));
    for (long i = 0; i < calls; ++i) {
      caller.call();
      // By then there are the buffers of the connections.
      if (i == calls / 10) before = most = resident_kib();
      if (i % 1000 == 0) most = std::max(most, resident_kib());
    }
  }
  std::vector<unsigned char> found(kept.size() + 1);
  CALL(MPI_File_read_at(beside, 0, found.data(), static_cast<int>(found.size()), MPI_BYTE, &status));
  REQUIRE(moved(status) == static_cast<long long>(kept.size()));
  REQUIRE(std::equal(kept.begin(), kept.end(), found.begin()));
  CALL(MPI_File_close(&beside));
  if (rank() == 0) std::printf("%ld\n", most - before);
  MPI_Finalize();
}
