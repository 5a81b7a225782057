#pragma once
// Written against the public headers of OrangeFS 2.10.
extern "C" {
#include <pvfs2.h>

// Of pvfs2-mgmt.h, which is installed without a header that it includes.
PVFS_error PVFS_mgmt_count_servers(PVFS_fs_id system, int types, int* count);
PVFS_error PVFS_mgmt_get_server_array(PVFS_fs_id system, int types, PVFS_BMI_addr_t* addresses, int* count);
const char* PVFS_mgmt_map_addr(PVFS_fs_id system, PVFS_BMI_addr_t address, int* type);
PVFS_error PVFS_mgmt_map_handle(PVFS_fs_id system, PVFS_handle handle, PVFS_BMI_addr_t* address);
PVFS_error PVFS_imgmt_noop(PVFS_fs_id system, const PVFS_credential* credential, PVFS_BMI_addr_t address,
                           PVFS_id_gen_t* id, PVFS_hint hints, void* user);
PVFS_error PVFS_imgmt_get_dfile_array(PVFS_object_ref file, const PVFS_credential* credential, PVFS_handle* handles,
                                      int count, PVFS_id_gen_t* id, PVFS_hint hints, void* user);
}

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "foundation/error.hpp"

namespace strider {

/// A negative errno of the library's own kind of number; 0 where it is none.
int pvfs2_errno(PVFS_error error);

/// A call on a file, for the errors that it may have.
struct Pvfs2Call {
  const char* name;
  const std::string& file;
  std::uint64_t offset = 0, length = 0;

  IoError failed(PVFS_error error) const;
  IoError failed(int error_number, const std::string& message, std::string remedy = "") const {
    return {{name, file, offset, length, error_number}, message, std::move(remedy)};
  }
  /// Throws IoError where there is an error.
  void require(PVFS_error error) const {
    if (error < 0) throw failed(error);
  }
};

/// A server of a file system, by the library's number and by the name in its configuration.
struct Pvfs2Server {
  PVFS_BMI_addr_t address;
  std::string name;
};

/// How long a process keeps names and attributes in its caches, in milliseconds.
struct Pvfs2Caches {
  unsigned names = 0, attributes = 0;
};

/// Reads the table of file systems and reaches their servers, once in a process. Throws IoError.
void begin_pvfs2(const std::string& tab);

/// A file system, with this process's credential. Its calls go through `run`, which gives up where a server is silent.
class Pvfs2Client {
 public:
  explicit Pvfs2Client(std::chrono::milliseconds limit) : limit_(limit) {}
  /// Throws IoError.
  void connect(PVFS_fs_id system);
  static void set_caches(Pvfs2Caches caches);
  /// Whether servers were silent once, so that every call fails.
  static bool has_given_up();

  PVFS_fs_id system() const { return system_; }
  PVFS_object_ref root() const { return root_; }
  const PVFS_credential* credential() const { return &credential_; }
  std::string name_of_server(PVFS_BMI_addr_t address) const;

  /// Hands a call to the library by `post(&id)`, one of its functions that do not wait, and waits for its end; returns
  /// its error. Throws IoError, which names the servers, where they are silent: the library then still has the call, so
  /// that none is handed to it any more.
  template <typename Post>
  PVFS_error run(const Pvfs2Call& call, const Post& post) const {
    require_living(call);
    PVFS_sys_op_id id = ended;
    const PVFS_error posted = post(&id);
    return posted < 0 || id == ended ? std::min(posted, 0) : wait(call, id);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr PVFS_sys_op_id ended = -1;

  static void require_living(const Pvfs2Call& call);
  PVFS_error wait(const Pvfs2Call& call, PVFS_sys_op_id id) const;
  /// Those that give no sign of life within a time.
  std::vector<std::string> silent_servers(std::chrono::milliseconds time) const;
  void ask(std::vector<Pvfs2Server>& servers, Clock::time_point end) const;

  std::chrono::milliseconds limit_;
  PVFS_fs_id system_ = 0;
  PVFS_object_ref root_{};
  PVFS_credential credential_{};
  std::vector<Pvfs2Server> servers_;
};

}  // namespace strider
