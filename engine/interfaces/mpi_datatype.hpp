#pragma once
#include <mpi.h>

#include <span>
#include <vector>

#include "foundation/extent.hpp"

namespace strider {

enum class Side { file, memory };

inline std::uint64_t offset_of(const Extent& extent, Side side) {
  return side == Side::file ? extent.file_offset : extent.memory_offset;
}

/// The extents follow each other without gaps.
inline bool is_dense(std::span<const Extent> extents, Side side) {
  for (std::size_t i = 1; i < extents.size(); ++i)
    if (offset_of(extents[i], side) != offset_of(extents[i - 1], side) + extents[i - 1].length) return false;
  return true;
}

/// One side of a list of extents as a committed MPI datatype of bytes, at absolute displacements. `byte`: what stands
/// for one.
class ExtentType {
 public:
  ExtentType(std::span<const Extent> extents, Side side, MPI_Datatype byte = MPI_BYTE) {
    std::vector<int> lengths;
    std::vector<MPI_Aint> displacements;
    lengths.reserve(extents.size());
    displacements.reserve(extents.size());
    for (const Extent& extent : extents) {
      lengths.push_back(static_cast<int>(extent.length));
      displacements.push_back(static_cast<MPI_Aint>(offset_of(extent, side)));
    }
    MPI_Type_create_hindexed(static_cast<int>(extents.size()), lengths.data(), displacements.data(), byte, &type_);
    MPI_Type_commit(&type_);
  }
  ExtentType(const ExtentType&) = delete;
  ExtentType& operator=(const ExtentType&) = delete;
  ~ExtentType() { MPI_Type_free(&type_); }
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// A datatype that repeats every `extent_bytes` bytes.
class ResizedType {
 public:
  ResizedType(MPI_Datatype type, std::uint64_t extent_bytes) {
    MPI_Type_create_resized(type, 0, static_cast<MPI_Aint>(extent_bytes), &type_);
    MPI_Type_commit(&type_);
  }
  ResizedType(const ResizedType&) = delete;
  ResizedType& operator=(const ResizedType&) = delete;
  ~ResizedType() { MPI_Type_free(&type_); }
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

}  // namespace strider
