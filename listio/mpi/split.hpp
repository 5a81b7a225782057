#pragma once
#include <cstdint>
#include <memory>

#include "listio/mpi/collective.hpp"

namespace strider::listio::mpi {

/// A split collective access between its begin and its end. Accesses that are not aggregated progress in between.
class SplitAccess {
 public:
  static Outcome begin(const std::shared_ptr<OpenFile>& file, const Ask& ask);
  /// Fails unless one of this direction and pointer was begun.
  static Outcome end(OpenFile& file, Direction direction, Pointer pointer, std::int64_t& moved);
  /// Without an end: before the file is closed.
  static void abandon(OpenFile& file);

 private:
  Direction direction_ = Direction::read;
  Pointer pointer_ = Pointer::given;
  std::unique_ptr<Transfer> transfer_;  ///< none: it is over
  Outcome outcome_;
  std::int64_t moved_ = 0;
};

}  // namespace strider::listio::mpi
