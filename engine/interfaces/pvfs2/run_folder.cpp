#include "interfaces/pvfs2/run_folder.hpp"

#include <array>
#include <vector>

namespace strider {
namespace {

constexpr const char* mark = "user.strider.run";
constexpr std::size_t largest_mark = 4096;

std::string name_in(const std::string& path) { return path.substr(path.rfind('/') + 1); }

class Entries final : public EntryVisitor {
 public:
  void entry(const char* name) override { names.emplace_back(name); }
  std::vector<std::string> names;
};

bool is_marked(const Pvfs2Calls& calls, const std::string& inside, PVFS_object_ref folder) {
  std::array<char, largest_mark> text{};
  const std::int64_t bytes = calls.get_attribute(inside, folder, mark, text);
  return bytes > 0 && std::string_view(text.data(), static_cast<std::size_t>(bytes)) == name_in(inside);
}

/// An entry with all that is below it.
void remove_tree(const Pvfs2Calls& calls, const std::string& path) {
  const auto remove = [&] {
    const int error = -calls.unlink(path.c_str());
    if (error != 0 && error != ENOENT && error != ENOTEMPTY) throw IoError({"PVFS_sys_remove", path, 0, 0, error});
    return error != ENOTEMPTY;
  };
  if (remove()) return;
  Entries found;
  if (const int error = calls.list(path.c_str(), found); error < 0)
    throw IoError({"PVFS_sys_readdir", path, 0, 0, -error});
  for (const std::string& name : found.names) remove_tree(calls, path + "/" + name);
  if (!remove()) throw IoError({"PVFS_sys_remove", path, 0, 0, ENOTEMPTY});
}

}  // namespace

PVFS_object_ref provide_folder(const Pvfs2Calls& calls, const std::string& inside) {
  PVFS_object_ref folder{};
  const Pvfs2Call look{"PVFS_sys_lookup", inside};
  const PVFS_error missing = calls.find(inside, folder);
  if (missing >= 0) return folder;
  if (pvfs2_errno(missing) != -ENOENT) throw look.failed(missing);
  const int made = -calls.mkdir(inside.c_str());
  if (made == ENOENT)
    throw IoError({"PVFS_sys_mkdir", inside, 0, 0, made},
                  "the file system has no directory " + inside.substr(0, inside.rfind('/')) + " for the run's folder",
                  "make it with pvfs2-mkdir, or choose the directory as target that the table of file systems names");
  if (made != 0 && made != EEXIST) throw IoError({"PVFS_sys_mkdir", inside, 0, 0, made});
  if (made == 0)
    if (const int error = -calls.set_attribute(inside, mark, name_in(inside)); error != 0)
      throw IoError({"PVFS_sys_seteattr", inside, 0, 0, error});
  look.require(calls.find(inside, folder));
  return folder;
}

void remove_provided_folder(const Pvfs2Calls& calls, const std::string& inside) {
  PVFS_object_ref folder{};
  const PVFS_error missing = calls.find(inside, folder);
  if (pvfs2_errno(missing) == -ENOENT) return;
  Pvfs2Call{"PVFS_sys_lookup", inside}.require(missing);
  if (is_marked(calls, inside, folder)) remove_tree(calls, inside);
}

}  // namespace strider
