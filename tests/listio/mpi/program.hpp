#pragma once
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

// Shared by the test programs of the MPI-IO layer: they do not depend on the layer, and are run with it preloaded.

/// Ends all ranks with a message unless it holds.
#define REQUIRE(condition)                                                                          \
  do {                                                                                              \
    if (!(condition)) {                                                                             \
      std::fprintf(stderr, "%s:%d: rank %d: not so: %s\n", __FILE__, __LINE__, rank(), #condition); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                                 \
    }                                                                                               \
  } while (false)

/// Ends all ranks with a message unless a call of MPI succeeds.
#define CALL(call)                                                                                                 \
  do {                                                                                                             \
    if (const int code_ = (call); code_ != MPI_SUCCESS) {                                                          \
      std::fprintf(stderr, "%s:%d: rank %d: %s: %s\n", __FILE__, __LINE__, rank(), #call, text_of(code_).c_str()); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                                                \
    }                                                                                                              \
  } while (false)

inline int rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
inline int ranks() {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks;
}
inline std::string text_of(int code) {
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  return text;
}
inline int class_of(int code) {
  int error_class = 0;
  MPI_Error_class(code, &error_class);
  return error_class;
}
/// The bytes that a status says were moved.
inline long long moved(const MPI_Status& status) {
  MPI_Count count = 0;
  MPI_Get_elements_x(&status, MPI_BYTE, &count);
  return count;
}

class Info {
 public:
  Info(std::initializer_list<std::pair<const char*, const char*>> hints) {
    MPI_Info_create(&info_);
    for (const auto& [key, value] : hints) MPI_Info_set(info_, key, value);
  }
  ~Info() { MPI_Info_free(&info_); }
  operator MPI_Info() const { return info_; }  // NOLINT: where MPI wants one

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

constexpr int creating = MPI_MODE_CREATE | MPI_MODE_RDWR;
inline MPI_File open_file(const std::string& name, int mode = creating, MPI_Info info = MPI_INFO_NULL,
                          MPI_Comm communicator = MPI_COMM_WORLD) {
  MPI_File file = MPI_FILE_NULL;
  CALL(MPI_File_open(communicator, name.c_str(), mode, info, &file));
  return file;
}
inline std::string hint_of(MPI_File file, const char* key) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_File_get_info(file, &info);
  char value[MPI_MAX_INFO_VAL + 1] = {};
  int found = 0;
  MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
  MPI_Info_free(&info);
  return found != 0 ? value : "";
}
