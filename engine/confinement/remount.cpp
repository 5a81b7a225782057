#include "confinement/remount.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "foundation/clock.hpp"
#include "foundation/error.hpp"

namespace strider {
namespace {

/// A process in a group of its own, without input, whose output goes to the error stream.
class Command {
 public:
  explicit Command(const std::vector<std::string>& words) : program_(words.front()) {
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    ::posix_spawnattr_init(&attributes);
    sigset_t ignored;
    ::sigemptyset(&ignored);
    ::sigaddset(&ignored, SIGXFSZ);
    ::sigaddset(&ignored, SIGCHLD);
    ::posix_spawnattr_setsigdefault(&attributes, &ignored);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    const int error = ::posix_spawnp(&process_, program_.c_str(), &files, &attributes, arguments.data(), ::environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&files);
    if (error != 0) throw IoError({"posix_spawn", program_, 0, 0, error});
  }

  /// Whether it has ended by `deadline_ns` of the monotonic clock.
  bool ends_by(std::uint64_t deadline_ns) {
    constexpr std::chrono::milliseconds pause{5};
    pid_t ended = 0;
    while ((ended = ::waitpid(process_, &status_, WNOHANG)) == 0) {
      if (monotonic_ns() >= deadline_ns) return false;
      std::this_thread::sleep_for(pause);
    }
    if (ended < 0) fail("ended with an unknown status");
    return true;
  }
  /// One that hangs in the kernel does not even die of this, and is not waited for.
  void kill() {
    constexpr std::uint64_t patience_ns = 2'000'000'000;
    ::kill(-process_, SIGKILL);
    ends_by(monotonic_ns() + patience_ns);
  }
  [[noreturn]] void fail(const std::string& how) const {
    throw IoError({"remount", program_, 0, 0, 0}, "the remount command " + how,
                  "run the command by hand; its output is in engine.log");
  }
  void check() const {
    if (WIFSIGNALED(status_)) fail("was killed by signal " + std::to_string(WTERMSIG(status_)));
    if (WEXITSTATUS(status_) != 0) fail("ended with exit status " + std::to_string(WEXITSTATUS(status_)));
  }

 private:
  std::string program_;
  pid_t process_ = 0;
  int status_ = 0;
};

}  // namespace

void remount(const std::vector<std::string>& command, double deadline_s) {
  const std::uint64_t deadline_ns = monotonic_ns() + static_cast<std::uint64_t>(deadline_s * 1e9);
  Command process(command);
  if (!process.ends_by(deadline_ns)) {
    process.kill();
    char limit[32] = {};
    std::snprintf(limit, sizeof limit, "%g", deadline_s);
    process.fail("took longer than " + std::string(limit) + " s");
  }
  process.check();
}

}  // namespace strider
