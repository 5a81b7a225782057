#include "runner/node_report.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <ostream>
#include <sstream>
#include <thread>

#include "foundation/json_text.hpp"
#include "measure/job_limits.hpp"
#include "plan/plan.hpp"
#include "ranks/nodes.hpp"
#include "ranks/processors.hpp"

namespace strider {
namespace {

constexpr const char* marker = ".strider";

/// Variables in which launchers give a process its rank: Hydra and PALS, Open MPI, Slurm, PALS, Flux, JSM.
constexpr std::array rank_variables{"PMI_RANK",    "OMPI_COMM_WORLD_RANK", "PMIX_RANK",         "SLURM_PROCID",
                                    "PALS_RANKID", "FLUX_TASK_RANK",       "JSM_NAMESPACE_RANK"};

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): there is one thread
  return value ? value : "";
}

std::string rank_of_process() {
  for (const char* name : rank_variables)
    if (std::string text = variable(name); !text.empty()) return text;
  return "";
}

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// FNV-1a of this program, which differs between builds.
std::string build() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  std::uint64_t hash = 0xcbf29ce484222325U;
  std::array<char, 1 << 16> buffer{};
  while (file.read(buffer.data(), buffer.size()) || file.gcount() > 0)
    for (std::streamsize i = 0; i < file.gcount(); ++i)
      hash = (hash ^ static_cast<unsigned char>(buffer.at(static_cast<std::size_t>(i)))) * 0x100000001b3U;
  std::ostringstream text;
  text << std::hex << hash;
  return text.str();
}

std::string error_text(int number) { return std::generic_category().message(number); }

/// A limit of this process; -1 for none.
std::int64_t limit_of(int resource) {
  struct rlimit limit{};
  const bool is_known = ::getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) == 0;
  return is_known && limit.rlim_cur <= INT64_MAX ? static_cast<std::int64_t>(limit.rlim_cur) : -1;
}

/// Why the target cannot be measured; empty if it can.
std::string reason_against(const std::string& target, struct statvfs& space) {
  struct stat status{};
  if (::stat(target.c_str(), &status) != 0) return errno == ENOENT ? "missing" : error_text(errno);
  if (!S_ISDIR(status.st_mode)) return "not a directory";
  if (::access(target.c_str(), W_OK | X_OK) != 0) return errno == EROFS ? "read-only" : error_text(errno);
  if (::statvfs(target.c_str(), &space) != 0) return error_text(errno);
  return (space.f_flag & ST_RDONLY) != 0 ? "read-only" : "";
}

using Instant = std::chrono::steady_clock::time_point;

/// Why a file cannot be read; empty if it can be before the end of the time.
std::string reason_against_reading(const std::string& path, Instant end) {
  using namespace std::chrono_literals;
  while (::access(path.c_str(), R_OK) != 0) {
    const int number = errno;
    if (std::chrono::steady_clock::now() >= end) return error_text(number);
    std::this_thread::sleep_for(50ms);
  }
  return "";
}

/// An array of what is missing, with the reason for each.
template <typename Reason>
std::string lacking(const std::vector<std::string>& names, const Reason& reason_of) {
  std::string text;
  for (const std::string& name : names)
    if (const std::string reason = reason_of(name); !reason.empty())
      text +=
          (text.empty() ? "" : ", ") + ("{\"name\": " + json_text(name)) + ", \"reason\": " + json_text(reason) + "}";
  return "[" + text + "]";
}

}  // namespace

void report_node(const NodeQuestion& question, std::ostream& out) {
  // First, as the answer's way is part of the error of the clock.
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  struct statvfs space{};
  const std::string reason = reason_against(question.target, space);
  const Instant end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  const bool has_folder =
      !question.folder.empty() && reason.empty() && reason_against_reading(question.folder + "/" + marker, end).empty();
  std::ostringstream line;
  line << "{\"strider_node\": 1, \"host\": " << json_text(host_name())
       << ", \"node\": " << json_text(variable("SLURMD_NODENAME")) << ", \"rank\": " << json_text(rank_of_process())
       << ", \"engine\": " << json_text(question.version) << ", \"build\": " << json_text(build())
       << ", \"time_ns\": " << std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()
       << ", \"memory_available_bytes\": " << available_memory_bytes()
       << ", \"open_files\": " << limit_of(RLIMIT_NOFILE) << ", \"file_bytes\": " << limit_of(RLIMIT_FSIZE)
       << ", \"boot\": " << json_text(first_line("/proc/sys/kernel/random/boot_id"))
       << ", \"cpus\": " << usable_processors(find_processors().allowed)
       << ", \"target\": {\"reason\": " << json_text(reason)
       << ", \"free_bytes\": " << std::uint64_t{space.f_bavail} * space.f_frsize
       << ", \"free_inodes\": " << (space.f_files == 0 ? -1 : static_cast<std::int64_t>(space.f_favail))
       << ", \"file_system_id\": " << space.f_fsid << "}, \"folder\": " << (has_folder ? "true" : "false")
       << ", \"interfaces\": " << lacking(question.interfaces, reason_against_interface) << ", \"files\": "
       << lacking(question.files, [end](const auto& path) { return reason_against_reading(path, end); }) << "}\n";
  out << line.str() << std::flush;
}

}  // namespace strider
