#include "repetitions/cache_preparation.hpp"

#include <algorithm>
#include <tuple>

#include "confinement/errands.hpp"
#include "measure/page_cache.hpp"
#include "repetitions/case_repetition.hpp"
#include "reports/reduction.hpp"

namespace strider {
namespace {

/// With more than this left in memory after the polite way, all clean pages of the node are dropped.
constexpr double tolerated_share = 0.01;

/// What the ranks found.
struct Residue {
  std::uint64_t cached_bytes = 0, file_bytes = 0;
  std::uint64_t looked_by_mincore = 0, dropped_all = 0;  ///< number of ranks
  std::uint64_t unknown_files = 0, refusals = 0;

  static constexpr auto figures() {
    return std::tuple{summed(&Residue::cached_bytes),      summed(&Residue::file_bytes),
                      summed(&Residue::looked_by_mincore), summed(&Residue::dropped_all),
                      summed(&Residue::unknown_files),     summed(&Residue::refusals)};
  }
  std::optional<double> cached_share() const {
    if (unknown_files > 0 || file_bytes == 0) return std::nullopt;
    return static_cast<double>(cached_bytes) / static_cast<double>(file_bytes);
  }
};

/// Ranks work on their files and learn together what came of it.
class Preparation {
 public:
  Preparation(const RunContext& context, MPI_Comm communicator) : context_(context), communicator_(communicator) {}

  /// `action` on each file. A file that cannot be reached through the kernel is none that it has in memory, maybe.
  template <typename Action>
  void each(const std::vector<std::string>& paths, const Action& action) {
    for (const std::string& path : paths) try {
        PageCache pages(path, context_.folder);
        action(pages);
      } catch (const IoError&) {
        ++mine_.refusals;
      }
  }
  void look(const std::vector<std::string>& paths) {
    each(paths, [&](const PageCache& pages) {
      std::optional<CachedPart> found = pages.look(PageCacheView::cachestat);
      if (!found) {
        found = pages.look(PageCacheView::mincore);
        mine_.looked_by_mincore = 1;
      }
      if (!found) ++mine_.unknown_files;
      mine_.cached_bytes += found ? found->cached_bytes : 0;
      mine_.file_bytes += found ? found->file_bytes : 0;
    });
  }
  void note_dropped_all() { mine_.dropped_all = 1; }

  /// Of all ranks since the last time.
  Residue share() {
    Residue all = mine_;
    mine_ = {};
    Reduction(all).to_all(communicator_, {.stall_timeout_s = context_.stall_timeout_s});
    return all;
  }

 private:
  const RunContext& context_;
  MPI_Comm communicator_;
  Residue mine_;
};

Sample::CachePreparation result_of(const char* policy, std::string action, const Residue& findings) {
  Sample::CachePreparation result{policy, std::move(action), findings.cached_share(), ""};
  if (findings.refusals > 0) result.cached_share.reset();
  if (result.cached_share) result.examined_by = findings.looked_by_mincore > 0 ? "mincore" : "cachestat";
  return result;
}

bool drop_pages_of_node(const RunContext& context) {
  const ErrandResult result = ask_errand(context.errands, Errand::drop_caches);
  return result.state == ErrandResult::State::no_process ? drop_all_pages() : result.state == ErrandResult::State::done;
}

bool some_left(const Residue& findings) {
  const std::optional<double> share = findings.cached_share();
  return share && *share > tolerated_share;
}

}  // namespace

FilesOfRank::FilesOfRank(const Case& test, const FileAssignments& assignments, const NumberRuns& node_of,
                         std::uint32_t rank, std::uint64_t repetition, const std::string& directory) {
  const auto own_file = [&](std::uint32_t r) { return assignments.assignment(r).file; };
  const auto read_file = [&](std::uint32_t r) {
    return assignments.assignment(readback_rank(test, r, repetition)).file;
  };
  const NumberRuns here = node_of.places_of(node_of[rank]);
  const auto take = [&](const auto& file_of, std::vector<std::string>& paths) {
    for (const std::uint32_t lower : here) {
      if (lower == rank) break;
      if (file_of(lower) == file_of(rank)) return;
    }
    paths.push_back(directory + "/" + file_name(test, file_of(rank)));
  };
  take(own_file, own);
  take(read_file, read);
}

Sample::CachePreparation make_cold(const RunContext& context, MPI_Comm communicator, const FilesOfRank& files) {
  Preparation preparation(context, communicator);
  std::string action = "fsync, posix_fadvise";
  // No node can drop what another one still has to write, so all write first.
  preparation.each(files.own, [](PageCache& pages) { pages.sync(), pages.drop(); });
  const Residue synced = preparation.share();
  preparation.each(files.read, [](PageCache& pages) { pages.drop(); });
  preparation.look(files.read);
  Residue left = preparation.share();
  if (some_left(left)) {
    if (context.nodes.counts && drop_pages_of_node(context)) preparation.note_dropped_all();
    if (preparation.share().dropped_all > 0) action += ", drop_caches";
    preparation.look(files.read);
    left = preparation.share();
  }
  left.refusals += synced.refusals;
  if (left.refusals > 0) action = "attempted: " + action;
  return result_of("cold", action, left);
}

Sample::CachePreparation examine_warm(const RunContext& context, MPI_Comm communicator, const FilesOfRank& files) {
  Preparation preparation(context, communicator);
  preparation.look(files.read);
  return result_of("warm", "read once before", preparation.share());
}

}  // namespace strider
