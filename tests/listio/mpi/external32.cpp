// The data representation external32, by one or more ranks: external32 FILE. Ends with 0 and says nothing if each byte
// of the file is as the standard says. Also of files of other MPI-IO, which accept calls that the layer refuses.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "program.hpp"

namespace {

using Text = std::vector<unsigned char>;

struct Mixed {
  double number;
  short index;
  char name[2];
};

/// Values in memory, and the same in external32, by hand.
struct Sample {
  MPI_Datatype type;
  Text memory, file;
};

template <typename Value>
Text bytes_of(const Value& value) {
  Text bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

MPI_Datatype mixed_type() {
  const int lengths[] = {1, 1, 2};
  const MPI_Aint places[] = {offsetof(Mixed, number), offsetof(Mixed, index), offsetof(Mixed, name)};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_SHORT, MPI_CHAR};
  MPI_Datatype fields = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(3, lengths, places, types, &fields);
  MPI_Type_create_resized(fields, 0, sizeof(Mixed), &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&fields);
  return type;
}

/// The last two of five ints, then the first.
MPI_Datatype indexed_type() {
  const int lengths[] = {2, 1}, places[] = {3, 0};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_indexed(2, lengths, places, MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

std::vector<Sample> samples(bool is_layer) {
  struct {
    double value;
    int index;
  } pair{1.5, 0x01020304};
  std::vector<Sample> all{
      {MPI_INT, bytes_of(0x01020304), {1, 2, 3, 4}},
      {MPI_INT64_T, bytes_of(0x0102030405060708LL), {1, 2, 3, 4, 5, 6, 7, 8}},
      {MPI_DOUBLE, bytes_of(1.5), {0x3f, 0xf8, 0, 0, 0, 0, 0, 0}},
      {MPI_C_FLOAT_COMPLEX, bytes_of(std::array{1.0F, -2.0F}), {0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0}},
      {MPI_CHAR, {'a'}, {'a'}},
  };
  // MPICH's own file I/O ends the program for these.
  if (is_layer) {
    all.push_back(
        {mixed_type(), bytes_of(Mixed{1.5, 0x0102, {'x', 'y'}}), {0x3f, 0xf8, 0, 0, 0, 0, 0, 0, 1, 2, 'x', 'y'}});
    all.push_back({indexed_type(), bytes_of(std::array{1, 2, 3, 4, 5}), {0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 1}});
    all.push_back({MPI_DOUBLE_INT, bytes_of(pair), {0x3f, 0xf8, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4}});
  }
  return all;
}

constexpr MPI_Offset room = 64;  // of a rank, for each way to write

void set_view(MPI_File file, const char* representation) {
  CALL(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, representation, MPI_INFO_NULL));
  char name[MPI_MAX_DATAREP_STRING] = {};
  MPI_Offset displacement = -1;
  MPI_Datatype etype = MPI_DATATYPE_NULL, filetype = MPI_DATATYPE_NULL;
  CALL(MPI_File_get_view(file, &displacement, &etype, &filetype, name));
  REQUIRE(std::string(name) == representation);
}

/// Writes a sample in so many ways, one after the other, from `own` on.
void write(MPI_File file, const Sample& sample, MPI_Offset own, int ways) {
  const void* const from = sample.memory.data();
  MPI_Status status;
  CALL(MPI_File_write_at(file, own, from, 1, sample.type, &status));
  REQUIRE(moved(status) == static_cast<long long>(sample.file.size()));
  CALL(MPI_File_write_at_all(file, own + room, from, 1, sample.type, &status));
  if (ways == 2) return;
  MPI_Request request = MPI_REQUEST_NULL;
  CALL(MPI_File_iwrite_at(file, own + 2 * room, from, 1, sample.type, &request));
  MPI_Wait(&request, &status);
  CALL(MPI_File_write_at_all_begin(file, own + 3 * room, from, 1, sample.type));
  CALL(MPI_File_write_at_all_end(file, from, &status));
}

/// The memory of a sample, and its expected content after a read: gaps of the type stay as they are.
Text read(MPI_File file, const Sample& sample, MPI_Offset at, int way) {
  Text found(sample.memory.size(), 0xee);
  MPI_Status status;
  MPI_Request request = MPI_REQUEST_NULL;
  if (way == 0) CALL(MPI_File_read_at(file, at, found.data(), 1, sample.type, &status));
  if (way == 1) CALL(MPI_File_read_at_all(file, at, found.data(), 1, sample.type, &status));
  if (way == 2) {
    CALL(MPI_File_iread_at(file, at, found.data(), 1, sample.type, &request));
    MPI_Wait(&request, &status);
  }
  if (way == 3) {
    CALL(MPI_File_read_at_all_begin(file, at, found.data(), 1, sample.type));
    CALL(MPI_File_read_at_all_end(file, found.data(), &status));
  }
  REQUIRE(moved(status) == static_cast<long long>(sample.file.size()));
  return found;
}

Text expected_memory(const Sample& sample) {
  Text expected(sample.memory.size(), 0xee), packed(sample.memory.size());
  int at = 0, size = static_cast<int>(packed.size());
  MPI_Pack(sample.memory.data(), 1, sample.type, packed.data(), size, &at, MPI_COMM_WORLD);
  int from = 0;
  MPI_Unpack(packed.data(), at, &from, expected.data(), 1, sample.type, MPI_COMM_WORLD);
  return expected;
}

void check(MPI_File file, const Sample& sample, int ways) {
  const MPI_Offset own = 4 * room * rank();
  set_view(file, "external32");
  write(file, sample, own, ways);
  for (int way = 0; way < ways; ++way) REQUIRE(read(file, sample, own + way * room, way) == expected_memory(sample));
  set_view(file, "native");
  for (int way = 0; way < ways; ++way) {
    Text found(sample.file.size());
    CALL(MPI_File_read_at(file, own + way * room, found.data(), static_cast<int>(found.size()), MPI_BYTE,
                          MPI_STATUS_IGNORE));
    REQUIRE(found == sample.file);
  }
}

/// Ints of all ranks in turn, many of them, by two-phase access if it is chosen; short reads at the end of the file.
void check_view(MPI_File file) {
  constexpr int count = 3000;
  CALL(MPI_File_set_size(file, 0));
  MPI_Datatype vector = MPI_DATATYPE_NULL, view = MPI_DATATYPE_NULL;
  MPI_Type_vector(1, 1, 1, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, static_cast<MPI_Aint>(sizeof(int)) * ranks(), &view);
  MPI_Type_commit(&view);
  CALL(MPI_File_set_view(file, static_cast<MPI_Offset>(sizeof(int)) * rank(), MPI_INT, view, "external32",
                         MPI_INFO_NULL));
  std::vector<int> mine(count);
  for (int i = 0; i < count; ++i) mine[static_cast<std::size_t>(i)] = i * ranks() + rank();
  CALL(MPI_File_write_all(file, mine.data(), count, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Status status;
  std::vector<int> found(count, -1);
  CALL(MPI_File_read_at_all(file, count - 10, found.data(), count, MPI_INT, &status));
  REQUIRE(moved(status) == 40 && std::equal(found.begin(), found.begin() + 10, mine.end() - 10));
  REQUIRE(std::all_of(found.begin() + 10, found.end(), [](int number) { return number == -1; }));
  set_view(file, "native");
  std::vector<unsigned char> all(static_cast<std::size_t>(4 * count * ranks()));
  CALL(MPI_File_read_at(file, 0, all.data(), static_cast<int>(all.size()), MPI_BYTE, &status));
  for (std::size_t i = 0; i < all.size(); ++i) REQUIRE(all[i] == ((i / 4) >> (8 * (3 - i % 4)) & 0xff));
  MPI_Type_free(&vector);
  MPI_Type_free(&view);
}

/// Values that are of another length there; ranks that do not agree.
void check_refusals(MPI_File file) {
  const auto view_of = [&](MPI_Datatype type, const char* representation) {
    return class_of(MPI_File_set_view(file, 0, type, type, representation, MPI_INFO_NULL));
  };
  REQUIRE(view_of(MPI_LONG, "external32") == MPI_ERR_CONVERSION);
  REQUIRE(view_of(MPI_INT, "internal") == MPI_ERR_UNSUPPORTED_DATAREP);
  if (ranks() > 1) REQUIRE(view_of(MPI_INT, rank() == 0 ? "native" : "external32") == MPI_ERR_NOT_SAME);
  set_view(file, "external32");
  for (const MPI_Datatype type : {MPI_LONG, MPI_LONG_DOUBLE, MPI_LONG_INT}) {
    std::array<std::byte, 32> memory{};
    REQUIRE(class_of(MPI_File_write_at(file, 0, memory.data(), 1, type, MPI_STATUS_IGNORE)) == MPI_ERR_CONVERSION);
    REQUIRE(class_of(MPI_File_write_all(file, memory.data(), 1, type, MPI_STATUS_IGNORE)) == MPI_ERR_CONVERSION);
  }
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  REQUIRE(count == 2);
  MPI_File file = open_file(words[1]);
  const bool is_layer = hint_of(file, "listio_layer") != "";
  const std::vector<Sample> all = samples(is_layer);
  // MPICH's own file I/O converts in blocking calls only.
  for (const Sample& sample : all) check(file, sample, is_layer ? 4 : 2);
  if (is_layer) {
    CALL(MPI_File_set_atomicity(file, 1));
    check(file, all.front(), 4);
    CALL(MPI_File_set_atomicity(file, 0));
    check_view(file);
    check_refusals(file);
  }
  CALL(MPI_File_close(&file));
  for (Sample sample : all) {
    int integers = 0, addresses = 0, types = 0, combiner = 0;
    MPI_Type_get_envelope(sample.type, &integers, &addresses, &types, &combiner);
    if (combiner != MPI_COMBINER_NAMED) MPI_Type_free(&sample.type);
  }
  MPI_Finalize();
  return 0;
}
