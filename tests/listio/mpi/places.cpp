// Collective calls where only some ranks have a place for their data, or a view with data: places TEST FILE. An error
// of one rank is one of all, and none waits for another forever.
#include <limits>
#include <vector>

#include "program.hpp"

namespace {

constexpr MPI_Offset largest = std::numeric_limits<MPI_Offset>::max();
constexpr const char* aggregations[] = {"disable", "automatic", "enable"};

Info hints(const char* aggregation) { return Info{{"romio_cb_write", aggregation}, {"romio_cb_read", aggregation}}; }

/// Blocks of `bytes`, one every `extent` bytes.
MPI_Datatype blocks(int bytes, MPI_Aint extent) {
  MPI_Datatype block = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
  CALL(MPI_Type_contiguous(bytes, MPI_BYTE, &block));
  CALL(MPI_Type_create_resized(block, 0, extent, &type));
  CALL(MPI_Type_commit(&type));
  MPI_Type_free(&block);
  return type;
}

/// The first rank sees the file by a type of its own, the others see its bytes.
void view_of_first(MPI_File file, int bytes, MPI_Aint extent) {
  MPI_Datatype type = blocks(bytes, extent);
  CALL(MPI_File_set_view(file, 0, MPI_BYTE, rank() == 0 ? type : MPI_BYTE, "native", MPI_INFO_NULL));
  MPI_Type_free(&type);
}

MPI_Offset size_of(MPI_File file) {
  MPI_Offset bytes = -1;
  CALL(MPI_File_get_size(file, &bytes));
  return bytes;
}

/// By the shared pointer, which only the ranks together know.
void ordered(const std::string& name) {
  MPI_File file = open_file(name, creating | MPI_MODE_DELETE_ON_CLOSE);
  MPI_Datatype type = blocks(1, 16);
  CALL(MPI_File_set_view(file, 0, MPI_BYTE, type, "native", MPI_INFO_NULL));
  MPI_Type_free(&type);
  char byte = 'a';
  MPI_Status status;
  const MPI_Offset beyond = (MPI_Offset{1} << 60) + 5;  // 16 times that is 80 in 64 bits
  CALL(MPI_File_seek_shared(file, beyond, MPI_SEEK_SET));
  REQUIRE(class_of(MPI_File_write_ordered(file, &byte, 1, MPI_BYTE, &status)) == MPI_ERR_ARG);
  CALL(MPI_File_seek_shared(file, beyond, MPI_SEEK_SET));
  CALL(MPI_File_write_ordered_begin(file, &byte, 1, MPI_BYTE));
  REQUIRE(class_of(MPI_File_write_ordered_end(file, &byte, &status)) == MPI_ERR_ARG);
  REQUIRE(size_of(file) == 0);
  // The pointer itself has a largest place, and stays there.
  MPI_Offset at = 0;
  CALL(MPI_File_seek_shared(file, largest, MPI_SEEK_SET));
  REQUIRE(class_of(MPI_File_write_ordered(file, &byte, 1, MPI_BYTE, &status)) == MPI_ERR_ARG);
  REQUIRE(class_of(MPI_File_write_ordered_begin(file, &byte, 1, MPI_BYTE)) == MPI_ERR_ARG);
  REQUIRE(class_of(MPI_File_write_shared(file, &byte, 1, MPI_BYTE, &status)) == MPI_ERR_ARG);
  CALL(MPI_File_get_position_shared(file, &at));
  REQUIRE(at == largest);
  // The first rank reads the last byte that there may be, where the file has none.
  CALL(MPI_File_seek_shared(file, (MPI_Offset{1} << 59) - 1, MPI_SEEK_SET));
  CALL(MPI_File_read_ordered_begin(file, &byte, 1, MPI_BYTE));
  const int code = MPI_File_read_ordered_end(file, &byte, &status);
  REQUIRE(class_of(code) == (ranks() > 1 ? MPI_ERR_ARG : MPI_SUCCESS));
  CALL(MPI_File_close(&file));
}

/// The first rank has a view without data.
void empty(const std::string& name) {
  for (const char* const aggregation : aggregations)
    for (const int is_atomic : {0, 1}) {
      MPI_File file = open_file(name, creating | MPI_MODE_DELETE_ON_CLOSE, hints(aggregation));
      CALL(MPI_File_set_atomicity(file, is_atomic));
      view_of_first(file, 0, 0);
      char byte = 'a';
      MPI_Status status;
      CALL(MPI_File_seek(file, rank() == 0 ? largest : rank(), MPI_SEEK_SET));
      REQUIRE(class_of(MPI_File_write_all(file, &byte, 1, MPI_BYTE, &status)) == MPI_ERR_ARG);
      REQUIRE(class_of(MPI_File_write_all_begin(file, &byte, 1, MPI_BYTE)) == MPI_ERR_ARG);
      CALL(MPI_File_seek(file, rank(), MPI_SEEK_SET));
      CALL(MPI_File_write_all(file, &byte, 1, MPI_BYTE, &status));
      REQUIRE(moved(status) == (rank() == 0 ? 0 : 1));
      REQUIRE(size_of(file) == (ranks() > 1 ? ranks() : 0));
      CALL(MPI_File_read_at_all(file, rank(), &byte, 1, MPI_BYTE, &status));
      REQUIRE(moved(status) == (rank() == 0 ? 0 : 1));
      CALL(MPI_File_close(&file));
    }
}

/// The first rank sees bytes more than once: it has positions behind the largest number, in the file.
void overlapping(const std::string& name) {
  MPI_File file = open_file(name);
  const std::vector<char> bytes(100, 'a');
  CALL(MPI_File_write_at_all(file, 0, bytes.data(), 100, MPI_BYTE, MPI_STATUS_IGNORE));
  CALL(MPI_File_close(&file));
  for (const char* const aggregation : aggregations) {
    file = open_file(name, MPI_MODE_RDONLY, hints(aggregation));
    view_of_first(file, 8, 1);
    char byte = 0;
    MPI_Status status;
    CALL(MPI_File_seek(file, rank() == 0 ? largest : 0, MPI_SEEK_SET));
    REQUIRE(class_of(MPI_File_read_all(file, &byte, 1, MPI_BYTE, &status)) == MPI_ERR_ARG);
    CALL(MPI_File_seek(file, 0, MPI_SEEK_SET));
    CALL(MPI_File_read_all(file, &byte, 1, MPI_BYTE, &status));
    REQUIRE(moved(status) == 1 && byte == 'a');
    CALL(MPI_File_close(&file));
  }
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  REQUIRE(count == 3);
  const std::string test = words[1];
  if (test == "ordered") ordered(words[2]);
  else if (test == "empty") empty(words[2]);
  else if (test == "overlapping") overlapping(words[2]);
  else REQUIRE(!"a test of this name");
  MPI_Finalize();
  return 0;
}
