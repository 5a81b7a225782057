#include "interfaces/pvfs2/client.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <thread>

#include "foundation/descriptor.hpp"
#include "interfaces/connect_limit.hpp"
#include "interfaces/pvfs2/patience.hpp"

namespace strider {
namespace {

constexpr int poll_ms = 10;
constexpr std::chrono::milliseconds pause{1000};   ///< the library writes three lines for each question
constexpr std::chrono::milliseconds moment{1000};  ///< in which a server that works has answered

/// Why no call is handed to the library any more; empty as long as it works.
std::string& given_up() {
  static std::string reason;
  return reason;
}

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

IoError silence(const Pvfs2Call& call, const std::string& servers, int error_number) {
  return call.failed(
      error_number, "no answer from " + servers,
      "start the server again (pvfs2-server), check the network to it, or raise pvfs2.timeout if it is overloaded");
}

/// The end of a call, if it comes within a moment.
std::optional<PVFS_error> result_of(PVFS_sys_op_id id) {
  int count = 1;
  PVFS_error result = 0;
  const PVFS_error error = PVFS_sys_testsome(&id, &count, nullptr, &result, poll_ms);
  if (error < 0) return error;
  if (count == 0) return {};
  return result;
}

/// The servers in the table of file systems, for when none of them can be reached; empty where there is no table.
std::string servers_in_table() {
  const PVFS_util_tab* table = PVFS_util_parse_pvfstab(nullptr);
  std::vector<std::string> names;
  for (int i = 0; table != nullptr && i < table->mntent_count; ++i) {
    const PVFS_sys_mntent& entry = table->mntent_array[i];
    names.insert(names.end(), entry.pvfs_config_servers, entry.pvfs_config_servers + entry.num_pvfs_config_servers);
  }
  return list_of(names);
}

/// Makes the folder for temporary files the working directory for a while. The library writes the configuration of a
/// file system to a file before it reads it: in /tmp, which a confined rank may not, else in the working directory.
class InTemporaryFolder {
 public:
  InTemporaryFolder() : before_(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)) {
    const char* temporary = std::getenv("TMPDIR");
    if (before_ && temporary != nullptr) went_ = ::chdir(temporary) == 0;
  }
  InTemporaryFolder(const InTemporaryFolder&) = delete;
  InTemporaryFolder& operator=(const InTemporaryFolder&) = delete;
  ~InTemporaryFolder() {
    if (went_ && ::fchdir(before_.get()) != 0) std::abort();  // all relative paths would lead elsewhere
  }

 private:
  Descriptor before_;
  bool went_ = false;
};

/// The library, from the first case that needs it until the process ends.
class Library {
 public:
  explicit Library(const std::string& tab) {
    if (!tab.empty()) ::setenv("PVFS2TAB_FILE", tab.c_str(), 1);
    const std::string servers = servers_in_table();
    const InTemporaryFolder working;
    const auto begun = result_within(connect_limit, [] { return PVFS_util_init_defaults(); });
    if (begun && *begun >= 0) return;
    throw IoError({"PVFS_util_init_defaults", tab, 0, 0, begun ? -pvfs2_errno(*begun) : ETIMEDOUT},
                  servers.empty() ? "there is no table of file systems" : "no answer from " + servers,
                  "set pvfs2.tab to a table like /etc/pvfs2tab, with a server that this host can reach");
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (given_up().empty()) result_within(connect_limit, [] { return PVFS_sys_finalize(); });
  }
};

}  // namespace

int pvfs2_errno(PVFS_error error) { return error < 0 ? -std::abs(PVFS_get_errno_mapping(error)) : 0; }

IoError Pvfs2Call::failed(PVFS_error error) const {
  std::array<char, 256> text{};
  PVFS_strerror_r(error, text.data(), static_cast<int>(text.size()));
  return failed(-pvfs2_errno(error), text.data());
}

void begin_pvfs2(const std::string& tab) {
  given_up();  // outlives the library
  static const Library library(tab);
}

void Pvfs2Client::connect(PVFS_fs_id system) {
  system_ = system;
  std::string top("/");
  Pvfs2Call{"PVFS_util_gen_credential_defaults", top}.require(PVFS_util_gen_credential_defaults(&credential_));
  // Of the root the library knows the number without asking.
  PVFS_sysresp_lookup found{};
  Pvfs2Call{"PVFS_sys_lookup", top}.require(
      PVFS_sys_lookup(system, top.data(), &credential_, &found, PVFS2_LOOKUP_LINK_NO_FOLLOW, PVFS_HINT_NULL));
  root_ = found.ref;
  constexpr int data_servers = 1, metadata_servers = 2, all = data_servers | metadata_servers;
  int count = 0;
  Pvfs2Call{"PVFS_mgmt_count_servers", top}.require(PVFS_mgmt_count_servers(system, all, &count));
  std::vector<PVFS_BMI_addr_t> addresses(static_cast<std::size_t>(count));
  Pvfs2Call{"PVFS_mgmt_get_server_array", top}.require(
      PVFS_mgmt_get_server_array(system, all, addresses.data(), &count));
  servers_.clear();
  for (const PVFS_BMI_addr_t address : addresses) servers_.push_back({address, name_of_server(address)});
}

void Pvfs2Client::set_caches(Pvfs2Caches caches) {
  const std::string none;
  const Pvfs2Call call{"PVFS_sys_set_info", none};
  call.require(PVFS_sys_set_info(PVFS_SYS_NCACHE_TIMEOUT_MSECS, caches.names));
  call.require(PVFS_sys_set_info(PVFS_SYS_ACACHE_TIMEOUT_MSECS, caches.attributes));
}

bool Pvfs2Client::has_given_up() { return !given_up().empty(); }

std::string Pvfs2Client::name_of_server(PVFS_BMI_addr_t address) const {
  int type = 0;
  const char* name = PVFS_mgmt_map_addr(system_, address, &type);
  return name == nullptr ? "an unknown server" : name;
}

void Pvfs2Client::require_living(const Pvfs2Call& call) {
  if (has_given_up()) throw silence(call, given_up() + " to an earlier call", ETIMEDOUT);
}

PVFS_error Pvfs2Client::wait(const Pvfs2Call& call, PVFS_sys_op_id id) const {
  const Pvfs2Wait waited = wait_patiently(
      limit_, [id] { return result_of(id); }, [this](std::chrono::milliseconds time) { return silent_servers(time); });
  if (!waited.result) {
    given_up() = list_of(waited.silent);
    throw silence(call, given_up(), ETIMEDOUT);
  }
  const PVFS_error error = *waited.result;
  if (error >= 0 || PVFS_ERROR_CLASS(-error) != PVFS_ERROR_BMI) return error;
  // What failed between client and server says nothing of which server it was.
  const std::vector<std::string> silent = silent_servers(std::min(limit_, moment));
  if (!silent.empty()) throw silence(call, list_of(silent), -pvfs2_errno(error));
  return error;
}

std::vector<std::string> Pvfs2Client::silent_servers(std::chrono::milliseconds time) const {
  std::vector<Pvfs2Server> silent = servers_;
  for (const auto end = Clock::now() + time;;) {
    ask(silent, end);
    if (silent.empty() || Clock::now() >= end) break;
    std::this_thread::sleep_until(
        std::min(end, Clock::now() + pause));  // one that refuses connections may be about to start
  }
  std::vector<std::string> names;
  for (const Pvfs2Server& server : silent) names.push_back(server.name);
  return names;
}

/// Asks servers for a sign of life, all at once; those that give one go.
void Pvfs2Client::ask(std::vector<Pvfs2Server>& servers, Clock::time_point end) const {
  struct Question {
    PVFS_id_gen_t id = ended;
    std::optional<PVFS_error> answer;
  };
  std::vector<Question> questions(servers.size());
  for (std::size_t i = 0; i < servers.size(); ++i) {
    const PVFS_error posted =
        PVFS_imgmt_noop(system_, &credential_, servers[i].address, &questions[i].id, PVFS_HINT_NULL, nullptr);
    if (posted < 0 || questions[i].id == ended) questions[i].answer = posted;
  }
  for (bool waits = true; waits && Clock::now() < end;) {
    waits = false;
    for (Question& question : questions) {
      if (!question.answer) question.answer = result_of(question.id);
      waits = waits || !question.answer;
    }
  }
  std::vector<Pvfs2Server> silent;
  for (std::size_t i = 0; i < servers.size(); ++i)
    if (questions[i].answer.value_or(-1) < 0) silent.push_back(servers[i]);
  servers = std::move(silent);
}

}  // namespace strider
