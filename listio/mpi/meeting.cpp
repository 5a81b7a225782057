#include <algorithm>
#include <array>

#include "listio/mpi/collective.hpp"

namespace strider::listio::mpi {
namespace {

/// Where the words of a rank are.
struct MeetingWord {
  enum : std::size_t { error_class, etypes, low, high, bytes, runs, ascends, end };
};

Aggregation aggregation_hint(const OpenFile& file, Direction direction) {
  return direction == Direction::write ? file.hints.writes : file.hints.reads;
}

/// In atomic mode each rank locks its own accesses. With external32 each converts its own data.
bool may_aggregate(OpenFile& file, Direction direction) {
  return file.ranks->count() > 1 && aggregation_hint(file, direction) != Aggregation::never && !file.is_atomic() &&
         !file.is_external32();
}

std::int64_t position_of(OpenFile& file, const Ask& ask) {
  if (ask.pointer == Pointer::given) return ask.offset;
  const std::scoped_lock lock(file.mutex);
  return file.position;
}

std::array<std::int64_t, MeetingWord::end> words_of(const Ask& ask, const Meeting& meeting) {
  std::array<std::int64_t, MeetingWord::end> mine{};
  mine[MeetingWord::error_class] = meeting.outcome.error_class;
  mine[MeetingWord::ascends] = 1;
  if (meeting.outcome.failed()) return mine;
  const Task& task = meeting.task;
  mine[MeetingWord::etypes] = task.etypes;
  if (ask.pointer == Pointer::shared) return mine;
  const ByteRun hull = task.hull();
  mine[MeetingWord::low] = static_cast<std::int64_t>(hull.offset);
  mine[MeetingWord::high] = static_cast<std::int64_t>(hull.end());
  mine[MeetingWord::bytes] = task.bytes;
  mine[MeetingWord::runs] = task.runs();
  mine[MeetingWord::ascends] = task.ascends() ? 1 : 0;
  return mine;
}

/// The shared pointer, in the order of the ranks.
void place_in_order(OpenFile& file, const std::vector<std::int64_t>& all, Meeting& meeting) {
  Ranks& ranks = *file.ranks;
  std::int64_t before = 0, total = 0;
  for (int rank = 0; rank < ranks.count(); ++rank) {
    if (rank == ranks.rank()) before = total;
    total += all[static_cast<std::size_t>(rank) * MeetingWord::end + MeetingWord::etypes];
  }
  std::array<std::int64_t, 2> start{};
  if (ranks.is_first()) {
    meeting.outcome = outcome_of([&] { start[1] = file.shared.fetch_add(total); });
    start[0] = meeting.outcome.error_class;
  }
  ranks.share(start);
  if (start[0] != MPI_SUCCESS)
    meeting.outcome.add({static_cast<int>(start[0]), "the shared file pointer cannot be moved"});
  meeting.task.position = start[1] + before;
}

/// The result of the words of all ranks.
void conclude(OpenFile& file, const Ask& ask, const std::vector<std::int64_t>& all, Meeting& meeting) {
  int worst = MPI_SUCCESS;
  bool all_ascend = true;
  for (std::size_t at = 0; at < all.size(); at += MeetingWord::end) {
    worst = std::max(worst, static_cast<int>(all[at + MeetingWord::error_class]));
    all_ascend &= all[at + MeetingWord::ascends] != 0;
    meeting.parts.push_back({all[at + MeetingWord::low], all[at + MeetingWord::high], all[at + MeetingWord::bytes],
                             all[at + MeetingWord::runs]});
  }
  if (worst != MPI_SUCCESS) return meeting.outcome.add({worst, "the call failed on another rank"});
  if (ask.pointer == Pointer::shared) return place_in_order(file, all, meeting);
  place(file, ask, meeting.task);
  if (!may_aggregate(file, ask.direction) || !all_ascend) return;
  meeting.aggregates = aggregates(aggregation_hint(file, ask.direction), ask.direction, meeting.parts);
}

}  // namespace

Meeting meet(OpenFile& file, const Ask& ask, Agreement agreement) {
  Meeting meeting;
  meeting.outcome = outcome_of([&] {
    meeting.task = check(file, ask, Participation::collective);
    if (ask.pointer == Pointer::shared) return;
    meeting.task.position = position_of(file, ask);
    require_place(meeting.task);
  });
  meeting.has_met =
      agreement == Agreement::wanted || ask.pointer == Pointer::shared || may_aggregate(file, ask.direction);
  if (!meeting.has_met) {
    if (!meeting.outcome.failed()) meeting.outcome = outcome_of([&] { place(file, ask, meeting.task); });
    return meeting;
  }
  try {
    conclude(file, ask, file.ranks->gather(words_of(ask, meeting)), meeting);
  } catch (const Failure& failure) {
    meeting.outcome.add({failure.error_class(), failure.what()});
  }
  return meeting;
}

Outcome access_together(const std::shared_ptr<OpenFile>& file, const Ask& ask, std::int64_t& moved) {
  moved = 0;
  const Meeting meeting = meet(*file, ask, Agreement::if_needed);
  if (meeting.has_met && meeting.outcome.failed()) return meeting.outcome;
  Outcome outcome = meeting.outcome;
  if (meeting.aggregates) outcome = move_together(*file, meeting, moved);
  else if (!outcome.failed()) outcome = move(file, meeting.task, moved);
  return file->ranks->agree(outcome);
}

}  // namespace strider::listio::mpi
