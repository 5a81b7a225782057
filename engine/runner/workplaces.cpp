#include "runner/workplaces.hpp"

#include <filesystem>
#include <system_error>

#include "foundation/error.hpp"

namespace strider {
namespace {

StoragePath storage_of(const std::string& directory) {
  std::error_code unknown;
  const auto canonical = std::filesystem::canonical(directory, unknown);
  return find_storage_path(unknown ? directory : canonical.string());
}

FolderIdentity identity_of(const std::string& directory, const std::map<std::string, FolderIdentity>& known) {
  const auto found = known.find(directory);
  return found == known.end() ? FolderIdentity{} : found->second;
}

}  // namespace

Workplaces::Workplace::Workplace(const std::string& directory, const RunOptions& options)
    : folder(directory, options.run, options.marker, identity_of(directory, options.identities)),
      storage(storage_of(directory)) {}

Workplaces::Workplace::Workplace(const std::string& directory, const DataSet& set, const FolderIdentity& identity)
    : folder(directory, set.id, set.id.empty() ? RunFolder::Marker::foreign : RunFolder::Marker::data_set, identity),
      storage(storage_of(directory)) {}

Workplaces::Workplaces(const RunOptions& options)
    : target_(options.directory, options), directories_(options.data_sets), identities_(options.identities) {
  for (const auto& [servers, directory] : options.mounts) mounts_.try_emplace(servers, directory, options);
}

void Workplaces::enter(const Case& test, RunContext& context) {
  if (test.data_set.used()) return enter_data_set(test, context);
  if (test.mount == MountKind::none) return enter_target(context);
  const auto found = mounts_.find(test.mount_servers);
  if (found == mounts_.end())
    throw InputError("mount", "this run has no mount for case " + std::to_string(test.number),
                     "run it with strider run, or name the mount's directory with --mount SERVERS=DIR");
  enter(found->second, context);
}

void Workplaces::enter_data_set(const Case& test, RunContext& context) {
  const std::string& name = test.data_set.name;
  const auto directory = directories_.find(name);
  if (directory == directories_.end() || !test.data_set.known)
    throw InputError("dataset", "this run has no data set " + name + " for case " + std::to_string(test.number),
                     "run it with strider run, or name its directory with --dataset NAME=DIR");
  const FolderIdentity identity = identity_of(directory->second, identities_);
  enter(data_sets_.try_emplace(name, directory->second, test.data_set, identity).first->second, context);
}

void Workplaces::enter(Workplace& place, RunContext& context) {
  context.directory = place.folder.path();
  context.folder = &place.folder;
  context.storage = place.storage;
}

}  // namespace strider
