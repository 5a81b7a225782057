#pragma once
#include <string>

#include "interfaces/pvfs2/calls.hpp"

namespace strider {

/// The folder of a run in the file system. Where OrangeFS is mounted on the target, it is there already; else the first
/// rank makes it and marks it as the run's. All ranks may ask at once. Throws IoError.
PVFS_object_ref provide_folder(const Pvfs2Calls& calls, const std::string& inside);

/// Removes a folder with that mark, and what is left in it; another one stays as it is. Throws IoError.
void remove_provided_folder(const Pvfs2Calls& calls, const std::string& inside);

}  // namespace strider
