#pragma once
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "listio/layout/byte_run.hpp"
#include "listio/mpi/flatten.hpp"

namespace strider::listio::mpi {

/// The view of a file: copies of a file type, one after the other, from a displacement on. Positions count
/// elementary types of the data that is seen.
class View {
 public:
  /// All bytes of the file.
  View();
  View(std::int64_t displacement, std::int64_t etype_bytes, std::shared_ptr<const FlatType> filetype);

  std::int64_t displacement() const { return displacement_; }
  std::int64_t etype_bytes() const { return etype_bytes_; }
  const FlatType& filetype() const { return *filetype_; }

  /// Whether `bytes` of data from position `etypes` on lie in the largest file that there may be.
  bool has_place_for(std::int64_t etypes, std::int64_t bytes) const;
  /// The byte of the file where the data of position `etypes` begins. Without data in the file type: the displacement.
  /// Failure where no file has that byte.
  std::int64_t byte_offset(std::int64_t etypes) const;
  /// The first position whose data is not before `byte` of the file, such as the size of the file for MPI_SEEK_END.
  std::int64_t etypes_at_or_after(std::int64_t byte) const;

 private:
  std::int64_t displacement_ = 0;
  std::int64_t etype_bytes_ = 1;
  std::shared_ptr<const FlatType> filetype_;
};

/// A place in the data of copies of a type.
class Cursor {
 public:
  /// Copies of `type`, which has data and outlives this, from `base` on; at byte `position` of their data.
  Cursor(const FlatType& type, std::int64_t base, std::int64_t position);

  /// Of the next byte.
  std::int64_t address() const;
  /// Bytes that follow it without a gap: at least those of its run.
  std::int64_t left() const;
  /// At most the rest.
  void skip(std::int64_t bytes);

 private:
  const FlatType* type_;
  bool is_dense_;
  std::int64_t base_;  ///< of the copy
  std::size_t run_ = 0;
  std::int64_t inside_ = 0;  ///< of the run; of a dense type, of all copies
};

/// A part of a transfer: byte i of all pieces of memory belongs to byte i of all runs of the file, however they are
/// cut.
struct Batch {
  std::vector<iovec> memory;
  std::vector<ByteRun> runs;
  std::int64_t bytes = 0;
};

/// Walks through memory and a view of a file in step, and returns lists of bounded length for list I/O. It never holds
/// more than a batch: the number of elements is limited by the file alone.
class Walk {
 public:
  /// `count` elements of `memory_type` at `memory`, against the data of `view` from position `etypes` on. Both types
  /// outlive this. Nothing is moved if the file type has no data. `most_pieces` limits each list of a batch.
  Walk(const View& view, std::int64_t etypes, void* memory, const FlatType& memory_type, std::int64_t count,
       std::size_t most_pieces);

  /// Bytes that are not yet in a batch.
  std::int64_t left() const { return left_; }
  /// Replaces `batch` with the next part. False if there is none.
  bool next(Batch& batch);

 private:
  bool add(Batch& batch, std::int64_t address, std::int64_t offset, std::int64_t bytes) const;

  std::size_t most_pieces_;
  std::int64_t left_;
  Cursor memory_, file_;
};

}  // namespace strider::listio::mpi
