#include "listio/server/background.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "foundation/descriptor.hpp"
#include "foundation/error.hpp"

namespace strider::listio {
namespace {

constexpr int ready_ms = 20'000;
constexpr int finish_ms = 10'000;

/// A process that cannot be mistaken for a later one with the same number.
struct Identity {
  pid_t process = 0;
  std::uint64_t start_ticks = 0;  ///< field 22 of /proc/PID/stat
  std::string boot;               ///< which start of the machine
};

std::string process_file(const std::string& directory, std::uint32_t number) {
  return directory + "/server-" + std::to_string(number) + "/process";
}

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  return id;
}

/// When a process was started; 0 if there is none.
std::uint64_t start_ticks(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t name_end = text.rfind(')');  // the name may hold anything, parentheses too
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 22; ++field) fields >> skipped;
  std::uint64_t ticks = 0;
  fields >> ticks;
  return ticks;
}

/// Refuses a file by which another user could have processes of this one stopped.
void require_own(const std::string& path) {
  const std::string folder = path.substr(0, path.rfind('/')), volume = folder.substr(0, folder.rfind('/'));
  for (const std::string& each : {volume, folder, path}) {
    struct stat found{};
    if (::fstatat(AT_FDCWD, each.c_str(), &found, each == path ? AT_SYMLINK_NOFOLLOW : 0) != 0) continue;
    const bool is_own = found.st_uid == ::geteuid() || found.st_uid == 0;
    if (!is_own || (found.st_mode & S_IWOTH) != 0 || S_ISLNK(found.st_mode))
      throw InputError("--directory", each + ": another user can have written it", "use a volume of your own");
  }
}

bool is_locked(const std::string& label) {
  const Descriptor file(::open(label.c_str(), O_RDWR | O_CLOEXEC));
  return file && ::flock(file.get(), LOCK_EX | LOCK_NB) != 0;
}

/// Waits until a descriptor can be read or has been hung up. False if that takes too long.
bool wait_for(const Descriptor& descriptor, int limit_ms) {
  pollfd polled{descriptor.get(), POLLIN, 0};
  return ::poll(&polled, 1, limit_ms) > 0;
}

/// Detaches from the terminal or connection that started the process.
void let_go(const Descriptor& log, const Descriptor& ready) {
  const Descriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!nothing || ::dup2(nothing.get(), STDIN_FILENO) < 0 || ::dup2(nothing.get(), STDOUT_FILENO) < 0 ||
      ::dup2(log.get(), STDERR_FILENO) < 0 || ::write(ready.get(), "r", 1) != 1)
    throw_system_error("detaching from the terminal");
}

int wait_until_ready(pid_t child, const Descriptor& readiness) {
  char byte = 0;
  const bool came = wait_for(readiness, ready_ms);
  if (came && ::read(readiness.get(), &byte, 1) == 1) return 0;
  if (!came) {
    std::fprintf(stderr, "strider-listio-server: not ready within %d s\n", ready_ms / 1000);
    ::kill(child, SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

}  // namespace

int run_in_background(const std::string& log, const std::function<int(const std::function<void()>& ready)>& serve) {
  const Descriptor messages(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!messages)
    throw InputError("--directory", log + ": " + std::generic_category().message(errno),
                     "name a directory in which you may write");
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw_system_error("pipe2");
  const Descriptor readiness(ends[0]);
  Descriptor ready(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) throw_system_error("fork");
  if (child != 0) {
    ready = Descriptor();
    return wait_until_ready(child, readiness);
  }
  ::setsid();
  return serve([&] { let_go(messages, ready); });
}

void write_process(const std::string& directory, std::uint32_t number) {
  const std::string path = process_file(directory, number);
  std::ofstream file(path, std::ios::trunc);
  file << ::getpid() << ' ' << start_ticks(::getpid()) << ' ' << boot_id() << '\n';
  file.close();
  if (!file) throw InputError("--directory", path + ": cannot be written", "check free space and permissions");
}

Stopped stop_process(const std::string& directory, std::uint32_t number) {
  const std::string path = process_file(directory, number);
  require_own(path);
  std::ifstream file(path);
  Identity found;
  file >> found.process >> found.start_ticks >> found.boot;
  const bool is_ours = file && found.boot == boot_id();
  const Descriptor process(is_ours ? static_cast<int>(::syscall(SYS_pidfd_open, found.process, 0)) : -1);
  // Asked after the descriptor is there: from then on the number cannot come to mean another process.
  if (!process || start_ticks(found.process) != found.start_ticks) {
    if (is_locked(directory + "/server-" + std::to_string(number) + "/label"))
      throw std::runtime_error(
          path + ": a server that was not started on this host uses this folder; stop it on its own host");
    return Stopped::none_ran;
  }
  for (const int signal : {SIGTERM, SIGKILL}) {
    if (::syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0) != 0 && errno != ESRCH)
      throw_system_error("pidfd_send_signal");
    if (wait_for(process, finish_ms)) {
      ::unlink(path.c_str());
      return Stopped::one;
    }
  }
  throw std::runtime_error("process " + std::to_string(found.process) + " does not end, even after SIGKILL");
}

}  // namespace strider::listio
