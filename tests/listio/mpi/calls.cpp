// Calls of MPI-IO, by one or more ranks: calls TEST FILE. Ends with 0 and says nothing if all is as MPI says.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <numeric>

#include "program.hpp"

#define EXPECT_CLASS(call, expected)                                                           \
  do {                                                                                         \
    if (const int code_ = (call); class_of(code_) != (expected)) {                             \
      std::fprintf(stderr, "%s:%d: %s: not %s but %s\n", __FILE__, __LINE__, #call, #expected, \
                   text_of(code_).c_str());                                                    \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                            \
    }                                                                                          \
  } while (false)

namespace {

using Ints = std::vector<int>;

Ints numbers(int count, int first) {
  Ints all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), first);
  return all;
}
int bytes_of(const Ints& all) { return static_cast<int>(all.size()); }

/// Every ranks-th block of `block` ints. That of a rank begins `begin_of` bytes later.
MPI_Datatype interleaved(int block, int blocks) {
  MPI_Datatype vector = MPI_DATATYPE_NULL, view = MPI_DATATYPE_NULL;
  MPI_Type_vector(blocks, block, block * ranks(), MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, static_cast<MPI_Aint>(sizeof(int)) * block * blocks * ranks(), &view);
  MPI_Type_commit(&view);
  MPI_Type_free(&vector);
  return view;
}

MPI_Offset begin_of(int block) { return static_cast<MPI_Offset>(sizeof(int)) * block * rank(); }

void whole(const std::string& name) {
  MPI_File file = open_file(name);
  REQUIRE(hint_of(file, "listio_layer") != "");
  const Ints mine = numbers(1000, rank() * 1000);
  const MPI_Offset own = static_cast<MPI_Offset>(sizeof(int)) * 1000 * rank();
  MPI_Status status;
  CALL(MPI_File_write_at(file, own, mine.data(), bytes_of(mine), MPI_INT, &status));
  REQUIRE(moved(status) == 4000);
  CALL(MPI_File_sync(file));
  MPI_Offset bytes = 0;
  CALL(MPI_File_get_size(file, &bytes));
  REQUIRE(bytes == 4000 * ranks());
  Ints all(static_cast<std::size_t>(1000 * ranks()));
  CALL(MPI_File_read_at_all(file, 0, all.data(), bytes_of(all), MPI_INT, &status));
  REQUIRE(moved(status) == bytes);
  REQUIRE(all == numbers(1000 * ranks(), 0));
  int mode = 0;
  CALL(MPI_File_get_amode(file, &mode));
  REQUIRE(mode == creating);
  MPI_Group group = MPI_GROUP_NULL;
  CALL(MPI_File_get_group(file, &group));
  int members = 0;
  MPI_Group_size(group, &members);
  REQUIRE(members == ranks());
  MPI_Group_free(&group);
  CALL(MPI_File_close(&file));
  REQUIRE(file == MPI_FILE_NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() == 0) CALL(MPI_File_delete(name.c_str(), MPI_INFO_NULL));
}

void pointers(const std::string& name) {
  MPI_File file = open_file(name);
  const MPI_Datatype view = interleaved(3, 4);
  CALL(MPI_File_set_view(file, 40 + begin_of(3), MPI_INT, view, "native", MPI_INFO_NULL));
  const Ints mine = numbers(30, rank() * 100);
  CALL(MPI_File_write(file, mine.data(), 24, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Offset at = 0, byte = 0;
  CALL(MPI_File_get_position(file, &at));
  REQUIRE(at == 24);
  CALL(MPI_File_write(file, mine.data() + 24, 6, MPI_INT, MPI_STATUS_IGNORE));
  CALL(MPI_File_get_byte_offset(file, 4, &byte));
  REQUIRE(byte == 40 + begin_of(3) + 12 * ranks() + 4);
  CALL(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  CALL(MPI_File_seek(file, -6, MPI_SEEK_CUR));
  Ints found(6);
  MPI_Status status;
  CALL(MPI_File_read(file, found.data(), 6, MPI_INT, &status));
  REQUIRE(moved(status) == 24);
  CALL(MPI_File_seek(file, 0, MPI_SEEK_END));
  CALL(MPI_File_get_position(file, &at));
  REQUIRE(at == 30);
  CALL(MPI_File_seek(file, 28, MPI_SEEK_SET));
  CALL(MPI_File_read(file, found.data(), 6, MPI_INT, &status));
  REQUIRE(moved(status) == 8);
  int items = 0;
  MPI_Get_count(&status, MPI_INT, &items);
  REQUIRE(items == 2);
  REQUIRE(class_of(MPI_File_seek(file, -1, MPI_SEEK_SET)) == MPI_ERR_ARG);
  MPI_Offset displacement = 0;
  MPI_Datatype etype = MPI_DATATYPE_NULL, filetype = MPI_DATATYPE_NULL;
  char representation[MPI_MAX_DATAREP_STRING] = {};
  CALL(MPI_File_get_view(file, &displacement, &etype, &filetype, representation));
  REQUIRE(displacement == 40 + begin_of(3) && etype == MPI_INT && std::strcmp(representation, "native") == 0);
  MPI_Type_free(&filetype);
  MPI_Datatype copy = view;
  MPI_Type_free(&copy);
  CALL(MPI_File_close(&file));
}

/// Collective writes and reads through interleaved views, with and without aggregation.
void collective(const std::string& name) {
  for (const char* const aggregation : {"disable", "enable", "automatic"}) {
    const Info info{{"romio_cb_write", aggregation}, {"romio_cb_read", aggregation}, {"cb_buffer_size", "100000"}};
    MPI_File file = open_file(name + aggregation, creating | MPI_MODE_DELETE_ON_CLOSE, info);
    MPI_Datatype view = interleaved(10, 100);
    CALL(MPI_File_set_view(file, 12 + begin_of(10), MPI_INT, view, "native", MPI_INFO_NULL));
    const int count = rank() == 1 ? 0 : 60'000;
    const Ints mine = numbers(60'000, rank() * 1'000'000);
    MPI_Status status;
    CALL(MPI_File_write_all(file, mine.data(), count, MPI_INT, &status));
    REQUIRE(moved(status) == 4LL * count);
    Ints found(60'000, -1);
    CALL(MPI_File_read_at_all(file, 0, found.data(), count, MPI_INT, &status));
    REQUIRE(moved(status) == 4LL * count);
    REQUIRE(std::equal(found.begin(), found.begin() + count, mine.begin()));
    // Across the end. Of two ranks the second has written nothing, and the file ends before its last block.
    CALL(MPI_File_read_at_all(file, 59'990, found.data(), 20, MPI_INT, &status));
    REQUIRE(moved(status) == (ranks() == 2 && rank() == 1 ? 0 : 40));
    MPI_Datatype bytes = MPI_BYTE;
    CALL(MPI_File_set_view(file, 0, bytes, bytes, "native", MPI_INFO_NULL));
    int head[3] = {1, 1, 1};
    CALL(MPI_File_read_at(file, 0, head, 12, MPI_BYTE, &status));
    REQUIRE(moved(status) == 12 && head[0] == 0 && head[2] == 0);
    CALL(MPI_File_close(&file));
    MPI_Type_free(&view);
    REQUIRE(class_of(MPI_File_open(MPI_COMM_WORLD, (name + aggregation).c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL,
                                   &file)) == MPI_ERR_NO_SUCH_FILE);
  }
}

void nonblocking(const std::string& name) {
  MPI_File file = open_file(name);
  constexpr int count = 50;
  const Ints mine = numbers(count * 100, rank() * 100'000);
  const MPI_Offset own = static_cast<MPI_Offset>(sizeof(int)) * count * 100 * rank();
  std::vector<MPI_Request> requests(count + 2, MPI_REQUEST_NULL);
  std::vector<MPI_Status> statuses(count + 2);
  for (int i = 0; i < count; ++i)
    CALL(MPI_File_iwrite_at(file, own + 400 * i, &mine[static_cast<std::size_t>(100 * i)], 100, MPI_INT,
                            &requests[static_cast<std::size_t>(i)]));
  // Beside messages.
  const int right = (rank() + 1) % ranks(), left = (rank() + ranks() - 1) % ranks();
  int sent = rank(), received = -1;
  MPI_Irecv(&received, 1, MPI_INT, left, 7, MPI_COMM_WORLD, &requests[count]);
  MPI_Isend(&sent, 1, MPI_INT, right, 7, MPI_COMM_WORLD, &requests[count + 1]);
  CALL(MPI_Waitall(count + 2, requests.data(), statuses.data()));
  REQUIRE(received == left);
  for (int i = 0; i < count; ++i) REQUIRE(moved(statuses[static_cast<std::size_t>(i)]) == 400);
  CALL(MPI_File_seek(file, own, MPI_SEEK_SET));
  Ints found(count * 100);
  MPI_Request request = MPI_REQUEST_NULL;
  CALL(MPI_File_iread(file, found.data(), count * 100, MPI_INT, &request));
  MPI_Offset at = 0;
  CALL(MPI_File_get_position(file, &at));
  REQUIRE(at == own + 4 * count * 100);
  int done = 0;
  MPI_Status status;
  while (done == 0) CALL(MPI_Test(&request, &done, &status));
  REQUIRE(moved(status) == 4LL * count * 100 && found == mine);
  CALL(MPI_File_iread_at_all(file, own, found.data(), 100, MPI_INT, &request));
  MPI_Cancel(&request);
  CALL(MPI_Wait(&request, &status));
  int cancelled = 1;
  MPI_Test_cancelled(&status, &cancelled);
  REQUIRE(cancelled == 0 && moved(status) == 400);
  // A request that is let go of is finished by the close at the latest.
  CALL(MPI_File_iwrite_at(file, own, mine.data() + 100, 100, MPI_INT, &request));
  MPI_Request_free(&request);
  CALL(MPI_File_close(&file));
  file = open_file(name, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE);
  CALL(MPI_File_read_at(file, own, found.data(), 100, MPI_INT, &status));
  REQUIRE(std::equal(found.begin(), found.begin() + 100, mine.begin() + 100));
  CALL(MPI_File_close(&file));
}

void split(const std::string& name) {
  for (const char* const aggregation : {"disable", "enable"}) {
    const Info info{{"romio_cb_write", aggregation}, {"romio_cb_read", aggregation}};
    MPI_File file = open_file(name + aggregation, creating | MPI_MODE_DELETE_ON_CLOSE, info);
    MPI_Datatype view = interleaved(5, 20);
    CALL(MPI_File_set_view(file, begin_of(5), MPI_INT, view, "native", MPI_INFO_NULL));
    const Ints mine = numbers(1000, rank() * 10'000);
    MPI_Status status;
    CALL(MPI_File_write_all_begin(file, mine.data(), 500, MPI_INT));
    REQUIRE(class_of(MPI_File_write_all(file, mine.data(), 1, MPI_INT, &status)) == MPI_ERR_OTHER);
    REQUIRE(class_of(MPI_File_read_all_end(file, nullptr, &status)) == MPI_ERR_OTHER);
    CALL(MPI_File_write_all_end(file, mine.data(), &status));
    REQUIRE(moved(status) == 2000);
    CALL(MPI_File_write_at_all_begin(file, 500, mine.data() + 500, 500, MPI_INT));
    CALL(MPI_File_write_at_all_end(file, mine.data() + 500, &status));
    Ints found(1000);
    CALL(MPI_File_read_at_all_begin(file, 0, found.data(), 1000, MPI_INT));
    CALL(MPI_File_read_at_all_end(file, found.data(), &status));
    REQUIRE(moved(status) == 4000 && found == mine);
    CALL(MPI_File_close(&file));
    MPI_Type_free(&view);
  }
}

void shared(const std::string& name) {
  MPI_File file = open_file(name);
  CALL(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  const int each = 100;
  for (int i = 0; i < each; ++i) {
    const int number = rank() * each + i;
    CALL(MPI_File_write_shared(file, &number, 1, MPI_INT, MPI_STATUS_IGNORE));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Offset at = 0;
  CALL(MPI_File_get_position_shared(file, &at));
  REQUIRE(at == each * ranks());
  Ints all(static_cast<std::size_t>(each * ranks()));
  CALL(MPI_File_read_at_all(file, 0, all.data(), bytes_of(all), MPI_INT, MPI_STATUS_IGNORE));
  std::sort(all.begin(), all.end());
  REQUIRE(all == numbers(each * ranks(), 0));
  // In the order of the ranks, of which rank r gives r + 1 numbers.
  CALL(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  const Ints mine(static_cast<std::size_t>(rank() + 1), rank());
  for (int round = 0; round < 2; ++round)
    CALL(MPI_File_write_ordered(file, mine.data(), bytes_of(mine), MPI_INT, MPI_STATUS_IGNORE));
  Ints ordered;
  for (int round = 0; round < 2; ++round)
    for (int who = 0; who < ranks(); ++who) ordered.insert(ordered.end(), static_cast<std::size_t>(who + 1), who);
  Ints found(ordered.size());
  CALL(MPI_File_read_at_all(file, 0, found.data(), bytes_of(found), MPI_INT, MPI_STATUS_IGNORE));
  REQUIRE(found == ordered);
  CALL(MPI_File_seek_shared(file, -1, MPI_SEEK_END));
  CALL(MPI_File_get_position_shared(file, &at));
  REQUIRE(at == std::max<MPI_Offset>(each * ranks(), static_cast<MPI_Offset>(ordered.size())) - 1);
  CALL(MPI_File_close(&file));
  file = open_file(name, MPI_MODE_RDWR | MPI_MODE_APPEND | MPI_MODE_DELETE_ON_CLOSE);
  CALL(MPI_File_get_position_shared(file, &at));
  REQUIRE(at == 4 * each * ranks());
  CALL(MPI_File_get_position(file, &at));
  REQUIRE(at == 4 * each * ranks());
  CALL(MPI_File_close(&file));
}

/// Overlapping writes in atomic mode: each is there as a whole, or not at all.
void atomic(const std::string& name) {
  MPI_File file = open_file(name, creating | MPI_MODE_DELETE_ON_CLOSE);
  CALL(MPI_File_set_atomicity(file, 1));
  int flag = 0;
  CALL(MPI_File_get_atomicity(file, &flag));
  REQUIRE(flag == 1);
  constexpr int length = 200'000;
  std::vector<char> mine(length), found(length);
  if (rank() == 0) CALL(MPI_File_write_at(file, 0, mine.data(), length, MPI_CHAR, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  for (int round = 0; round < 30; ++round) {
    std::fill(mine.begin(), mine.end(), static_cast<char>(rank() * 30 + round));
    CALL(MPI_File_write_at(file, 0, mine.data(), length, MPI_CHAR, MPI_STATUS_IGNORE));
    CALL(MPI_File_read_at(file, 0, found.data(), length, MPI_CHAR, MPI_STATUS_IGNORE));
    REQUIRE(std::all_of(found.begin(), found.end(), [&](char each) { return each == found[0]; }));
  }
  CALL(MPI_File_close(&file));
}

void forgive(MPI_File*, int* code, ...) { *code = MPI_SUCCESS; }

/// Decreasing, negative and overlapping places of a file type.
void wrong_views(MPI_File file) {
  const std::vector<std::array<int, 2>> all{{3, 0}, {-2, 2}, {0, 1}};
  for (const auto& places : all) {
    const std::array<int, 2> lengths{places[1] == 1 ? 3 : 1, 1};
    MPI_Datatype view = MPI_DATATYPE_NULL;
    MPI_Type_indexed(2, lengths.data(), places.data(), MPI_INT, &view);
    MPI_Type_commit(&view);
    EXPECT_CLASS(MPI_File_set_view(file, 0, MPI_INT, view, "native", MPI_INFO_NULL), MPI_ERR_IO);
    MPI_Type_free(&view);
  }
}

int handled = 0;
MPI_File handled_file = MPI_FILE_NULL;
void handle(MPI_File* file, int* code, ...) {
  handled = *code;
  handled_file = *file;
}

void errors(const std::string& name) {
  MPI_File file = MPI_FILE_NULL;
  const auto opened = [&](const std::string& which, int mode) {
    return MPI_File_open(MPI_COMM_WORLD, which.c_str(), mode, MPI_INFO_NULL, &file);
  };
  EXPECT_CLASS(opened(name, MPI_MODE_RDONLY), MPI_ERR_NO_SUCH_FILE);
  REQUIRE(text_of(MPI_ERR_NO_SUCH_FILE).find(name.substr(name.find(':') + 1)) != std::string::npos || rank() > 0);
  EXPECT_CLASS(opened(name, MPI_MODE_RDONLY | MPI_MODE_CREATE), MPI_ERR_AMODE);
  EXPECT_CLASS(opened(name, MPI_MODE_RDONLY | MPI_MODE_WRONLY), MPI_ERR_AMODE);
  EXPECT_CLASS(opened(name, MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL | MPI_MODE_CREATE), MPI_ERR_AMODE);
  EXPECT_CLASS(opened(name, 0), MPI_ERR_AMODE);
  if (ranks() > 1) EXPECT_CLASS(opened(name, rank() == 0 ? creating : creating | MPI_MODE_APPEND), MPI_ERR_NOT_SAME);
  EXPECT_CLASS(MPI_File_delete(name.c_str(), MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
  EXPECT_CLASS(opened("listio:no/such/directory", creating), MPI_ERR_NO_SUCH_FILE);
  CALL(opened(name, creating | MPI_MODE_EXCL));
  CALL(MPI_File_close(&file));
  CALL(opened("listio:.//" + name.substr(name.find(':') + 1), creating));
  MPI_File other = MPI_FILE_NULL;
  for (const std::string& wrong : {std::string("../x"), std::string("a/../b"), std::string(300, 'n')}) {
    const std::string path = "listio:" + wrong;
    EXPECT_CLASS(MPI_File_open(MPI_COMM_WORLD, path.c_str(), creating, MPI_INFO_NULL, &other), MPI_ERR_BAD_FILE);
    EXPECT_CLASS(MPI_File_delete(path.c_str(), MPI_INFO_NULL), MPI_ERR_BAD_FILE);
  }
  int number = 0;
  MPI_Status status;
  EXPECT_CLASS(MPI_File_write_at(file, -1, &number, 1, MPI_INT, &status), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_File_write_at(file, 0, &number, -1, MPI_INT, &status), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_File_write_at(file, 0, &number, 1, MPI_DATATYPE_NULL, &status), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "internal", MPI_INFO_NULL), MPI_ERR_UNSUPPORTED_DATAREP);
  EXPECT_CLASS(MPI_File_set_view(file, -5, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
  wrong_views(file);
  EXPECT_CLASS(MPI_File_set_size(file, -1), MPI_ERR_ARG);
  // One rank is wrong in a collective call: none waits, all know.
  const int last = ranks() - 1;
  EXPECT_CLASS(MPI_File_write_at_all(file, 0, &number, rank() == last ? -1 : 1, MPI_INT, &status), MPI_ERR_COUNT);
  if (ranks() > 1) EXPECT_CLASS(MPI_File_set_size(file, rank()), MPI_ERR_ARG);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_File_create_errhandler(handle, &handler);
  MPI_File_set_errhandler(file, handler);
  EXPECT_CLASS(MPI_File_read_at(file, -1, &number, 1, MPI_INT, &status), MPI_ERR_ARG);
  REQUIRE(class_of(handled) == MPI_ERR_ARG && handled_file == file);
  CALL(MPI_File_close(&file));
  EXPECT_CLASS(opened(name, creating | MPI_MODE_EXCL), MPI_ERR_FILE_EXISTS);
  MPI_File_set_errhandler(MPI_FILE_NULL, handler);
  handled = 0;
  EXPECT_CLASS(opened(name + "none", MPI_MODE_RDONLY), MPI_ERR_NO_SUCH_FILE);
  REQUIRE(class_of(handled) == MPI_ERR_NO_SUCH_FILE);
  MPI_Errhandler_free(&handler);
  // The caller gets the code that the handler leaves.
  MPI_File_create_errhandler(forgive, &handler);
  MPI_File_set_errhandler(MPI_FILE_NULL, handler);
  CALL(opened(name + "none", MPI_MODE_RDONLY));
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&handler);
  CALL(opened(name, MPI_MODE_RDONLY));
  EXPECT_CLASS(MPI_File_write_at(file, 0, &number, 1, MPI_INT, &status), MPI_ERR_READ_ONLY);
  EXPECT_CLASS(MPI_File_set_size(file, 1), MPI_ERR_READ_ONLY);
  CALL(MPI_File_close(&file));
  CALL(opened(name, MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE));
  EXPECT_CLASS(MPI_File_read_at(file, 0, &number, 1, MPI_INT, &status), MPI_ERR_ACCESS);
  CALL(MPI_File_close(&file));
}

void hints(const std::string& name) {
  const Info given{{"listio_method", "pack"},         {"listio_threshold", "4096"},
                   {"listio_registration", "pigeon"}, {"listio_timeout", "20"},
                   {"listio_rank_timeout", "40"},     {"romio_cb_write", "disable"},
                   {"romio_cb_read", "enable"},       {"cb_nodes", "1"},
                   {"cb_buffer_size", "123456"},      {"striping_unit", "5000"},
                   {"striping_factor", "2"},          {"nobody_knows", "this"}};
  MPI_File file = open_file(name, creating | MPI_MODE_DELETE_ON_CLOSE, given);
  const auto is = [&](const char* key, const char* value) {
    if (hint_of(file, key) != value) std::fprintf(stderr, "hint %s is %s\n", key, hint_of(file, key).c_str());
    return hint_of(file, key) == value;
  };
  REQUIRE(is("listio_method", "pack") && is("listio_threshold", "4096") && is("listio_registration", "none"));
  REQUIRE(is("listio_timeout", "20") && is("listio_rank_timeout", "40"));
  REQUIRE(is("romio_cb_write", "disable") && is("romio_cb_read", "enable") && is("cb_nodes", "1"));
  REQUIRE(is("cb_buffer_size", "123456") && is("striping_unit", "5000") && is("striping_factor", "2"));
  REQUIRE(is("nobody_knows", "") && hint_of(file, "listio_progress") != "" && hint_of(file, "listio_transport") != "");
  // What ranks have to agree on is as the first one says.
  const Info later{
      {"listio_method", "gather"}, {"cb_buffer_size", rank() == 0 ? "222222" : "333333"}, {"striping_unit", "7000"}};
  CALL(MPI_File_set_info(file, later));
  REQUIRE(is("listio_method", "gather") && is("cb_buffer_size", "222222") && is("striping_unit", "5000"));
  const Info view{{"romio_cb_write", rank() == 0 ? "enable" : "automatic"}};
  CALL(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", view));
  REQUIRE(is("romio_cb_write", "enable"));
  CALL(MPI_File_close(&file));
  file = open_file(name, creating | MPI_MODE_DELETE_ON_CLOSE);
  REQUIRE(is("listio_method", "hybrid") && is("listio_timeout", "30") && is("listio_rank_timeout", "300"));
  REQUIRE(is("romio_cb_write", "automatic") && is("cb_buffer_size", "4194304") && is("striping_unit", "10000"));
  CALL(MPI_File_close(&file));
  // More servers than there are.
  file = open_file(name, creating | MPI_MODE_DELETE_ON_CLOSE, Info{{"striping_factor", "1000"}});
  REQUIRE(is("striping_factor", "3"));
  CALL(MPI_File_close(&file));
}

/// Sizes, reads beyond the end, files without offsets.
void edges(const std::string& name) {
  MPI_File file = open_file(name, creating);
  MPI_Offset bytes = 0, at = 0;
  CALL(MPI_File_preallocate(file, 50'000));
  CALL(MPI_File_get_size(file, &bytes));
  REQUIRE(bytes == 50'000);
  CALL(MPI_File_preallocate(file, 20'000));
  CALL(MPI_File_set_size(file, 40'000));
  CALL(MPI_File_get_size(file, &bytes));
  REQUIRE(bytes == 40'000);
  std::vector<char> found(100, 'x');
  MPI_Status status;
  CALL(MPI_File_seek(file, 39'990, MPI_SEEK_SET));
  CALL(MPI_File_read(file, found.data(), 100, MPI_CHAR, &status));
  const auto is_as_it_was = [&](long bytes_there) {
    return std::all_of(found.begin(), found.begin() + bytes_there, [](char each) { return each == 0; }) &&
           std::all_of(found.begin() + bytes_there, found.end(), [](char each) { return each == 'x'; });
  };
  REQUIRE(moved(status) == 10 && is_as_it_was(10));
  CALL(MPI_File_get_position(file, &at));
  REQUIRE(at == 40'090);
  for (const char* const aggregation : {"enable", "disable"}) {
    CALL(MPI_File_set_info(file, Info{{"romio_cb_read", aggregation}}));
    for (const long there : {10L, 0L}) {
      std::fill(found.begin(), found.end(), 'x');
      CALL(MPI_File_read_at_all(file, 40'000 - there, found.data(), 100, MPI_CHAR, &status));
      REQUIRE(moved(status) == there && is_as_it_was(there));
    }
  }
  CALL(MPI_File_read_at(file, 0, nullptr, 0, MPI_CHAR, &status));
  REQUIRE(moved(status) == 0);
  CALL(MPI_File_close(&file));
  file = open_file(name, MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL | MPI_MODE_DELETE_ON_CLOSE);
  const int number = rank();
  EXPECT_CLASS(MPI_File_write_at(file, 0, &number, 1, MPI_INT, &status), MPI_ERR_UNSUPPORTED_OPERATION);
  EXPECT_CLASS(MPI_File_seek(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
  EXPECT_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
  CALL(MPI_File_write_ordered(file, &number, 1, MPI_INT, &status));
  CALL(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  CALL(MPI_File_get_byte_offset(file, 0, &at));
  REQUIRE(at == 4 * ranks());
  CALL(MPI_File_close(&file));
}

/// Names of other file systems are not the layer's.
void elsewhere(const std::string& name) {
  MPI_File file = open_file(name, creating | MPI_MODE_DELETE_ON_CLOSE);
  REQUIRE(hint_of(file, "listio_layer") == "");
  const int number = rank();
  CALL(MPI_File_write_ordered(file, &number, 1, MPI_INT, MPI_STATUS_IGNORE));
  int found = -1;
  CALL(MPI_File_read_at_all(file, 4 * rank(), &found, 1, MPI_INT, MPI_STATUS_IGNORE));
  REQUIRE(found == rank());
  CALL(MPI_File_close(&file));
}

/// A process that was forked has no volume; that does not end its parent's.
void forked(const std::string& name) {
  MPI_File file = open_file(name, creating | MPI_MODE_DELETE_ON_CLOSE);
  int number = 7;
  const pid_t child = ::fork();
  if (child == 0)
    std::_Exit(class_of(MPI_File_write_at(file, 0, &number, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_OTHER ? 0 : 1);
  int status = 1;
  ::waitpid(child, &status, 0);
  REQUIRE(status == 0);
  CALL(MPI_File_write_at(file, 0, &number, 1, MPI_INT, MPI_STATUS_IGNORE));
  CALL(MPI_File_close(&file));
}

/// Until the test has started a server again.
void wait_for_restart() {
  if (rank() == 0) {
    std::puts("written");
    std::fflush(stdout);
    for (int i = 0; i < 1200 && ::access(std::getenv("STRIDER_TEST_GO"), F_OK) != 0; ++i) ::usleep(50000);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Ranks from `first_writer` write. Says "written" then; a server is started again until the file STRIDER_TEST_GO
/// exists: the next sync fails on all ranks, the one after it does not when all have written again.
void sync_restarted(const std::string& name, int first_writer) {
  MPI_File file = open_file(name, creating | MPI_MODE_DELETE_ON_CLOSE);
  CALL(MPI_File_sync(file));
  const Ints mine = numbers(100000, 0);
  const bool writes = rank() >= first_writer;
  const auto write = [&] {
    const MPI_Offset begin = (ranks() - 1 - rank()) * MPI_Offset{400000};
    if (writes) CALL(MPI_File_write_at(file, begin, mine.data(), bytes_of(mine), MPI_INT, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
  };
  write();
  wait_for_restart();
  // The first call of each rank on its lost connection is repeated.
  MPI_Offset bytes = 0;
  CALL(MPI_File_get_size(file, &bytes));
  REQUIRE(bytes == 400000 * (ranks() - first_writer));
  const int code = MPI_File_sync(file);
  REQUIRE(code != MPI_SUCCESS);
  REQUIRE(!writes || text_of(code).find("was started again") != std::string::npos);
  write();
  CALL(MPI_File_sync(file));
  CALL(MPI_File_close(&file));
}
void restarted(const std::string& name) { sync_restarted(name, ranks() - 1); }
void all_restarted(const std::string& name) { sync_restarted(name, 0); }

/// Server 0 is started again, and has lost the shared file pointer.
void pointer_lost(const std::string& name) {
  MPI_File file = open_file(name);
  const Ints mine = numbers(10, 0);
  CALL(MPI_File_write_shared(file, mine.data(), bytes_of(mine), MPI_INT, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  wait_for_restart();
  // The first call of each rank on its lost connection is repeated.
  MPI_Offset bytes = 0;
  CALL(MPI_File_get_size(file, &bytes));
  Ints found(10);
  const int code = MPI_File_read_shared(file, found.data(), bytes_of(found), MPI_INT, MPI_STATUS_IGNORE);
  REQUIRE(class_of(code) == MPI_ERR_IO && text_of(code).find("shared file pointer is lost") != std::string::npos);
  REQUIRE(class_of(MPI_File_seek_shared(file, 0, MPI_SEEK_SET)) == MPI_ERR_IO);
  REQUIRE(class_of(MPI_File_write_ordered(file, mine.data(), bytes_of(mine), MPI_INT, MPI_STATUS_IGNORE)) ==
          MPI_ERR_IO);
  CALL(MPI_File_close(&file));
  file = open_file(name);
  CALL(MPI_File_read_shared(file, found.data(), bytes_of(found), MPI_INT, MPI_STATUS_IGNORE));
  REQUIRE(found == mine);
  CALL(MPI_File_close(&file));
}

/// The action of the file's close on server 0 cannot succeed, and need not.
void closed_late(const std::string& name) {
  MPI_File file = open_file(name);
  MPI_Barrier(MPI_COMM_WORLD);
  wait_for_restart();
  CALL(MPI_File_close(&file));
}

/// The file stays open when MPI ends.
void forgotten(const std::string& name) { open_file(name, creating); }

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  const std::map<std::string, void (*)(const std::string&)> tests{{"whole", whole},
                                                                  {"pointers", pointers},
                                                                  {"collective", collective},
                                                                  {"nonblocking", nonblocking},
                                                                  {"split", split},
                                                                  {"shared", shared},
                                                                  {"atomic", atomic},
                                                                  {"errors", errors},
                                                                  {"elsewhere", elsewhere},
                                                                  {"forgotten", forgotten},
                                                                  {"hints", hints},
                                                                  {"edges", edges},
                                                                  {"forked", forked},
                                                                  {"restarted", restarted},
                                                                  {"all restarted", all_restarted},
                                                                  {"pointer lost", pointer_lost},
                                                                  {"closed late", closed_late}};
  const auto test = count == 3 ? tests.find(words[1]) : tests.end();
  if (test == tests.end()) {
    std::fprintf(stderr, "calls TEST FILE\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  test->second(words[2]);
  MPI_Finalize();
  return 0;
}
