#pragma once
#include <mpi.h>

#include <string>

#include "foundation/error.hpp"
#include "foundation/parameter.hpp"
#include "interfaces/interface.hpp"

namespace strider {

/// MPI hints as an object that frees itself.
class Hints {
 public:
  explicit Hints(const TextMap& hints) {
    if (hints.empty()) return;
    MPI_Info_create(&info_);
    for (const auto& [key, value] : hints) {
      // The library itself would end all ranks.
      if (key.size() >= MPI_MAX_INFO_KEY || value.size() >= MPI_MAX_INFO_VAL)
        throw IoError({"MPI_Info_set", key, 0, 0, 0}, "the hint is longer than this MPI library allows",
                      "use a name below " + std::to_string(MPI_MAX_INFO_KEY) + " bytes and a value below " +
                          std::to_string(MPI_MAX_INFO_VAL));
      MPI_Info_set(info_, key.c_str(), value.c_str());
    }
  }
  Hints(const Hints&) = delete;
  Hints& operator=(const Hints&) = delete;
  ~Hints() {
    if (info_ != MPI_INFO_NULL) MPI_Info_free(&info_);
  }
  MPI_Info get() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

/// Adds what an info object holds, as `hint.KEY`.
inline void add_hints(MPI_Info info, Facts& facts) {
  int count = 0;
  MPI_Info_get_nkeys(info, &count);
  for (int i = 0; i < count; ++i) {
    char key[MPI_MAX_INFO_KEY + 1] = {}, value[MPI_MAX_INFO_VAL + 1] = {};
    int found = 0;
    MPI_Info_get_nthkey(info, i, key);
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
    if (found != 0) facts["hint." + std::string(key)] = value;
  }
}

/// The hints in force of an open file, as the library reports them back.
inline Facts hints_in_force(MPI_File file) {
  Facts facts;
  MPI_Info used = MPI_INFO_NULL;
  if (MPI_File_get_info(file, &used) != MPI_SUCCESS || used == MPI_INFO_NULL) return facts;
  add_hints(used, facts);
  MPI_Info_free(&used);
  return facts;
}

}  // namespace strider
