#include "reports/outside.hpp"

#include <cerrno>
#include <filesystem>

#include "foundation/mount_table.hpp"

namespace strider {
namespace {

/// Where a file really is; libraries put the name of a driver before its path ("ufs:/target/file").
std::filesystem::path place_of(const std::string& file) {
  const std::size_t begin = file.find('/');
  std::error_code unknown;
  return begin == std::string::npos ? "" : std::filesystem::weakly_canonical(file.substr(begin), unknown);
}

}  // namespace

IoError explained(const IoError& error, const RunContext& context) {
  const IoError::What& what = error.details();
  const bool denied = what.error_number == EACCES || what.error_number == EPERM || what.error_number == EXDEV;
  const std::string said = error.what();
  constexpr const char* known = "outside of the folder of this run";
  if (!context.confined || !denied || said.starts_with(known)) return error;
  std::error_code unknown;
  const std::filesystem::path place = place_of(what.file);
  const auto folder = std::filesystem::weakly_canonical(context.directory, unknown);
  if (place.empty() || is_below(place.string(), folder.string())) return error;
  return IoError(what, std::string(known) + ": " + place.string() + " is not below it (" + said + ")",
                 "choose that directory as target, remove the link that leads there, or run with --confine off");
}

}  // namespace strider
