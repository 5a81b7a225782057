#include <algorithm>

#include "patterns/slices.hpp"
#include "phases/hole_map.hpp"
#include "phases/phase_worker.hpp"
#include "phases/size_check.hpp"
#include "phases/tasks.hpp"
#include "plan/coverage.hpp"
#include "plan/plan.hpp"
#include "verify/zeros.hpp"

namespace strider {
namespace {

constexpr std::uint64_t bits_in_memory = std::uint64_t{1} << 26;  ///< of what is known to be written

/// What every byte of a file must hold, part by part: which layer of the record lies on top of it.
class ExpectedFile {
 public:
  ExpectedFile(const Case& test, const Pattern& pattern, const FileAssignments& assignments, const WriteRecord& record,
               std::uint64_t file)
      : test_(test), pattern_(pattern), assignments_(assignments), record_(record) {
    const std::uint64_t unit = unit_of(pattern, assignments.ranks_of(file));
    std::size_t partial = 0;
    for (const WriteRecord::Layer& layer : record.layers()) partial += layer.whole ? 0 : 1;
    for (std::size_t i = 0; i < partial; ++i) sets_.emplace_back(unit, bits_in_memory / partial);
    for (std::uint32_t rank = 0; rank < test.clients; ++rank)
      if (assignments.assignment(rank).file == file) ranks_.push_back(rank);
  }

  std::uint64_t capacity() const { return sets_.empty() ? ~std::uint64_t{0} : sets_[0].capacity(); }
  /// Finds out about the part from `begin` to `end`. False where `go_on` said no.
  bool look_at(std::uint64_t begin, std::uint64_t end, const std::function<bool()>& go_on) {
    for (std::size_t i = 0; i < sets_.size(); ++i) {
      sets_[i].reset(begin, end);
      for (const std::uint32_t rank : ranks_) {
        const Place place = assignments_.assignment(rank).place;
        const Order order = order_of(test_, rank, pattern_.requests(place, Direction::write));
        const WriteRecord::Layer& layer = record_.layers()[i];
        std::optional<Draw> draw;
        if (layer.drawn) draw = draw_of(test_);
        const IssuedRequests issued{order, layer.requests[rank], draw ? &*draw : nullptr};
        if (!add_written(pattern_, place, issued, go_on, sets_[i])) return false;
      }
    }
    return true;
  }

  static constexpr std::size_t untouched = ~std::size_t{0};
  /// Calls `action(layer, begin, end)` for each run of bytes that has the same layer on top, or is untouched.
  template <typename Action>
  void for_each_run(std::uint64_t begin, std::uint64_t end, const Action& action, std::size_t layer = 0) const {
    if (layer == record_.layers().size()) return action(untouched, begin, end);
    if (record_.layers()[layer].whole) return action(layer, begin, end);
    for (std::uint64_t run_end = 0; begin < end; begin = run_end) {
      run_end = sets_[layer].run_end(begin, end);
      if (sets_[layer].has(begin)) action(layer, begin, run_end);
      else for_each_run(begin, run_end, action, layer + 1);
    }
  }

 private:
  const Case& test_;
  const Pattern& pattern_;
  const FileAssignments& assignments_;
  const WriteRecord& record_;
  std::vector<std::uint32_t> ranks_;  ///< of the file
  std::vector<ByteSet> sets_;         ///< of the layers that are not whole; these come first
};

/// A rank that reads its share of a whole file again and compares each byte with what must be there.
class CheckWorker final : public PhaseWorker {
 public:
  CheckWorker(RunContext& context, const TransferTask& task)
      : PhaseWorker(context, task),
        task_(task),
        file_(checked_file(context, task, task.assignments->assignment(acts_as()))),
        cooperation_(plain_cooperation(task)),
        group_(task, FileGroup::opening(cooperation_), file_.assignment, context.stall_timeout_s),
        slices_(*task.pattern),
        share_{(file_.assignment.place.rank + file_.assignment.place.ranks / 2) % file_.assignment.place.ranks,
               file_.assignment.place.ranks},
        expected_(test_, *task.pattern, *task.assignments, *task.record, file_.assignment.file) {
    part_.had_requests = slices_.requests(share_, Direction::read);
    part_.verification.emplace();
    for (const WriteRecord::Layer& layer : task.record->layers())
      examiners_.push_back(examiner(layer.generation, layer.pass));
    if (task.record->prefill()) prefilled_.emplace(examiner(*task.record->prefill()));
  }

 private:
  /// Files of a rank's own are read by the one that reads them in the case; of a shared file each rank reads another
  /// part than its neighbours on its node have most likely written.
  std::uint32_t acts_as() const {
    return readback_rank(test_, static_cast<std::uint32_t>(rank_), task_.name.repetition);
  }
  Examiner examiner(std::uint64_t generation, std::uint64_t pass = 0) const {
    return Examiner(identity_of(context_, test_, file_.assignment.file, generation, pass), task_.known.files,
                    task_.known.bytes, FileData::Sum::none);
  }

  void execute() override {
    guarded([&] { open_ = open_plain(task_, file_, group_, task_.memory); });
    if (cooperation_ != Cooperation::independent && agree(failed() ? Vote::end : Vote::go_on) == Vote::end)
      open_.reset();
    if (open_ == nullptr) return;
    guarded([&] {
      SizeCheck sizes(context_, task_, rank_, part_);
      sizes.compare(*open_, file_);
      sizes.compare_on_mount(file_);
      holes_.emplace(test_.interface->capabilities, file_.path);
      read_all();
    });
    guarded([&] { open_->close(); });
  }
  void catch_up(std::uint64_t) override {}
  MPI_Comm agreeing() const override { return group_.get().communicator; }

  /// What is there of the file's bytes that were written or lie between them; how direct I/O wants it.
  std::uint64_t end_of_reading() const {
    const std::uint64_t there = std::min(open_->size(), task_.record->size_of(file_.assignment.file).least);
    return there / task_.interface->alignment() * task_.interface->alignment();
  }

  void read_all() {
    const std::uint64_t end = end_of_reading(), windows = slices_.requests(share_, Direction::read);
    const auto go_on_with = [this] { return go_on(*tally_); };
    std::uint64_t known_end = 0;
    for (std::uint64_t number = 0; number < windows && go_on(*tally_); ++number) {
      Extent window;
      slices_.fill(share_, {&number, 1}, {&window, 1});
      if (window.file_offset >= end) return;
      window.length = std::min(window.length, end - window.file_offset);
      if (window.file_offset + window.length > known_end) {
        const std::uint64_t most = std::max(window.length, expected_.capacity());
        known_end = most > end - window.file_offset ? end : window.file_offset + most;
        if (!expected_.look_at(window.file_offset, known_end, go_on_with)) return;
      }
      if (holes_->is_hole(window.file_offset, window.file_offset + window.length) && is_untouched(window)) {
        zeros_.accept(window.length);
        ++tally_->requests;
      } else {
        read(window);
      }
    }
  }

  bool is_untouched(const Extent& window) const {
    bool untouched = !prefilled_;
    expected_.for_each_run(window.file_offset, window.file_offset + window.length,
                           [&](std::size_t layer, std::uint64_t, std::uint64_t) {
                             untouched = untouched && layer == ExpectedFile::untouched;
                           });
    return untouched;
  }

  void read(const Extent& window) {
    const auto memory = task_.memory.first(window.length);
    spoil(memory);
    const std::uint64_t begin = context_.timer.now();
    open_->read({{&window, 1}, memory.data(), 0});
    const std::uint64_t end = context_.timer.now();
    tally_->record(end, context_.timer.to_ns(end - begin), window.length);
    expected_.for_each_run(window.file_offset, window.file_offset + window.length,
                           [&](std::size_t layer, std::uint64_t from, std::uint64_t to) {
                             const Extent run{from, from - window.file_offset, to - from};
                             constexpr auto keep = FileData::Then::keep;  // all of it is spoilt before the next read
                             if (layer != ExpectedFile::untouched) examiners_[layer].examine(memory, run, keep);
                             else if (prefilled_) prefilled_->examine(memory, run, keep);
                             else zeros_.examine(memory, run);
                           });
    tally_->prepare_ticks += context_.timer.now() - end;
  }

  void complete(RankPart& part) override {
    for (const Examiner& examiner : examiners_) {
      part.verification->checked_bytes += examiner.checked_bytes();
      add(part, examiner);
    }
    if (prefilled_) {
      part.verification->outside_bytes += prefilled_->checked_bytes();
      add(part, *prefilled_);
    }
    part.verification->outside_bytes += zeros_.checked_bytes();
    part.verification->wrong_bytes += zeros_.wrong_bytes();
    part.verification->mismatches += zeros_.mismatches();
    add_findings(part, zeros_.first_mismatches(), zeros_.mismatches(), *open_, [&](const ByteMismatch& mismatch) {
      return describe_outside(mismatch, rank_, context_.nodes.host, file_.path);
    });
  }
  void add(RankPart& part, const Examiner& examiner) {
    part.verification->wrong_bytes += examiner.wrong_bytes();
    part.verification->mismatches += examiner.mismatches();
    add_findings(part, examiner.first_mismatches(), examiner.mismatches(), *open_, [&](const Mismatch& mismatch) {
      return describe_mismatch(holes_->explain(mismatch), rank_, context_.nodes.host, file_.path);
    });
  }

  const TransferTask& task_;
  CheckedFile file_;
  Cooperation cooperation_;
  FileGroup group_;
  Slices slices_;
  Place share_;  ///< whose of the slices is read
  ExpectedFile expected_;
  std::vector<Examiner> examiners_;    ///< of each layer
  std::optional<Examiner> prefilled_;  ///< of what no layer touches, where the file was prepared
  ZeroExaminer zeros_;                 ///< otherwise
  std::optional<HoleMap> holes_;
  std::unique_ptr<File> open_;
};

}  // namespace

PhaseOutcome run_check_phase(RunContext& context, const TransferTask& task) {
  CheckWorker worker(context, task);
  return run_worker(context, worker);
}

}  // namespace strider
