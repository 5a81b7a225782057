#include "repetitions/cache_preparation.hpp"

#include <algorithm>
#include <array>

#include "confinement/errands.hpp"
#include "measure/page_cache.hpp"
#include "ranks/exchange.hpp"
#include "repetitions/case_repetition.hpp"

namespace strider {
namespace {

/// With more than this left in memory after the polite way, all clean pages of the node are dropped.
constexpr double tolerated_share = 0.01;

/// What the ranks found, to be added up.
struct Residue {
  enum Field { cached_bytes, file_bytes, looked_by_mincore, unknown_files, refusals, dropped_all, fields };
  std::array<std::uint64_t, fields> value{};

  std::optional<double> cached_share() const {
    if (value[unknown_files] > 0 || value[file_bytes] == 0) return std::nullopt;
    return static_cast<double>(value[cached_bytes]) / static_cast<double>(value[file_bytes]);
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
        ++mine_.value[Residue::refusals];
      }
  }
  void look(const std::vector<std::string>& paths) {
    each(paths, [&](const PageCache& pages) {
      std::optional<CachedPart> found = pages.look(PageCacheView::cachestat);
      if (!found) {
        found = pages.look(PageCacheView::mincore);
        mine_.value[Residue::looked_by_mincore] = 1;
      }
      if (!found) ++mine_.value[Residue::unknown_files];
      mine_.value[Residue::cached_bytes] += found ? found->cached_bytes : 0;
      mine_.value[Residue::file_bytes] += found ? found->file_bytes : 0;
    });
  }
  void note_dropped_all() { mine_.value[Residue::dropped_all] = 1; }

  /// Of all ranks since the last time.
  Residue share() {
    Residue all = mine_;
    mine_ = {};
    all_reduce(all.value, MPI_SUM, communicator_, {.stall_timeout_s = context_.stall_timeout_s});
    return all;
  }

 private:
  const RunContext& context_;
  MPI_Comm communicator_;
  Residue mine_;
};

Sample::CachePreparation result_of(const char* policy, std::string action, const Residue& findings) {
  Sample::CachePreparation result{policy, std::move(action), findings.cached_share(), ""};
  if (findings.value[Residue::refusals] > 0) result.cached_share.reset();
  if (result.cached_share)
    result.examined_by = findings.value[Residue::looked_by_mincore] > 0 ? "mincore" : "cachestat";
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
    if (preparation.share().value[Residue::dropped_all] > 0) action += ", drop_caches";
    preparation.look(files.read);
    left = preparation.share();
  }
  left.value[Residue::refusals] += synced.value[Residue::refusals];
  if (left.value[Residue::refusals] > 0) action = "attempted: " + action;
  return result_of("cold", action, left);
}

Sample::CachePreparation examine_warm(const RunContext& context, MPI_Comm communicator, const FilesOfRank& files) {
  Preparation preparation(context, communicator);
  preparation.look(files.read);
  return result_of("warm", "read once before", preparation.share());
}

}  // namespace strider
