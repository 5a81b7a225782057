#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "foundation/run_folder.hpp"
#include "measure/storage_path.hpp"
#include "plan/case.hpp"
#include "reports/phase.hpp"
#include "runner/runner.hpp"

namespace strider {

/// Where the cases of a run have their files: in the run's folder in the target, in its folder on a mount, or in the
/// directory of a data set.
class Workplaces {
 public:
  explicit Workplaces(const RunOptions& options);

  /// From now on the context is that of the target.
  void enter_target(RunContext& context) { enter(target_, context); }
  /// From now on the context is that of a case. Throws InputError where the run has no such mount or data set.
  void enter(const Case& test, RunContext& context);
  /// Lets go of the target, so that its file system can be unmounted.
  void release_target() { target_.folder.release(); }

 private:
  struct Workplace {
    Workplace(const std::string& directory, const RunOptions& options);
    Workplace(const std::string& directory, const DataSet& set, const FolderIdentity& identity);
    RunFolder folder;
    StoragePath storage;
  };
  static void enter(Workplace& place, RunContext& context);
  void enter_data_set(const Case& test, RunContext& context);

  Workplace target_;
  std::map<std::uint32_t, Workplace> mounts_;       ///< by the number of servers that their files use
  std::map<std::string, std::string> directories_;  ///< of data sets
  std::map<std::string, FolderIdentity> identities_;
  std::map<std::string, Workplace> data_sets_;  ///< that cases have used
};

}  // namespace strider
