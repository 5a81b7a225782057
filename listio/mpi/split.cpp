#include "listio/mpi/split.hpp"

namespace strider::listio::mpi {

Outcome SplitAccess::begin(const std::shared_ptr<OpenFile>& file, const Ask& ask) {
  const Meeting meeting = meet(*file, ask, Agreement::wanted);
  if (meeting.outcome.failed()) return meeting.outcome;
  auto split = std::make_shared<SplitAccess>();
  split->direction_ = ask.direction;
  split->pointer_ = ask.pointer;
  if (meeting.aggregates) {
    split->outcome_ = move_together(*file, meeting, split->moved_);
  } else if (file->is_atomic() || meeting.task.values) {
    split->outcome_ = move(file, meeting.task, split->moved_);
  } else if (meeting.task.bytes > 0) {
    // The shared pointer is known only now: the ranks agree at the end.
    split->outcome_ = outcome_of([&] {
      require_place(meeting.task);
      split->transfer_ = std::make_unique<Transfer>(file, meeting.task);
      split->transfer_->advance();
    });
  }
  const std::scoped_lock lock(file->mutex);
  file->split = std::move(split);
  return {};
}

Outcome SplitAccess::end(OpenFile& file, Direction direction, Pointer pointer, std::int64_t& moved) {
  std::shared_ptr<SplitAccess> split;
  {
    const std::scoped_lock lock(file.mutex);
    if (!file.split || file.split->direction_ != direction || file.split->pointer_ != pointer)
      return {MPI_ERR_OTHER, file.name + ": no split collective access of this kind is active"};
    split = std::move(file.split);
  }
  if (split->transfer_) {
    split->outcome_ = split->transfer_->finish();
    split->moved_ = split->transfer_->bytes_moved();
  }
  moved = split->moved_;
  return file.ranks->agree(split->outcome_);
}

void SplitAccess::abandon(OpenFile& file) {
  std::shared_ptr<SplitAccess> split;
  {
    const std::scoped_lock lock(file.mutex);
    split = std::move(file.split);
  }
  if (split && split->transfer_) split->transfer_->finish();
}

}  // namespace strider::listio::mpi
