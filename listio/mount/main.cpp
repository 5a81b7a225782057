// strider-listio-mount: a list-I/O volume as a directory. See docs/listio.md.
#define FUSE_USE_VERSION 314
#include <fuse3/fuse_lowlevel.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "foundation/error.hpp"
#include "listio/mount/answer.hpp"
#include "listio/mount/file_system.hpp"

namespace strider::listio {
namespace {

constexpr const char* usage =
    R"(strider-listio-mount: mounts a list-I/O volume on a directory, by FUSE.

  strider-listio-mount VOLUME DIR [--cache] [--allow-other] [--servers N] [--patience SECONDS]
                       [--until signal|input-ends]

VOLUME is the file that was written when the volume was started, DIR an empty directory.

  --cache         let the kernel keep what was read until a file is opened again; without it, every read and write goes
                  to the servers
  --allow-other   let other users use the mount
  --servers N     stripe new files over N servers; 0: all (0)
  --patience SECONDS
                  wait so long for a server that does not answer or was lost (30)
  --until signal|input-ends
                  input-ends: unmount also at the end of standard input, for example when the parent process ends

Prints one line when it is ready:  ready {"pid": 4711}
and serves until SIGTERM, SIGINT or `fusermount3 -u DIR`. Exit codes: 0 unmounted, 2 bad arguments, 3 could not be done.
)";

constexpr std::uint32_t most_patience_s = 86400;

/// What ends a mount.
enum class Until { signal, input_ends };

struct Arguments {
  std::filesystem::path volume, directory;
  Caching caching = Caching::none;
  bool allows_others = false;
  std::uint32_t servers = 0;  ///< over which new files are striped; 0: all
  std::uint32_t patience_s = 30;
  Until until = Until::signal;
};

bool read_value(const std::string& option, const std::string& text, Arguments& found) {
  if (option == "--until") {
    found.until = text == "signal" ? Until::signal : Until::input_ends;
    return text == "signal" || text == "input-ends";
  }
  std::uint32_t& number = option == "--patience" ? found.patience_s : found.servers;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (found.patience_s == 0 || found.patience_s > most_patience_s) return false;
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

bool read_arguments(const std::vector<std::string>& words, Arguments& found) {
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--cache") found.caching = Caching::until_open;
    else if (word == "--allow-other") found.allows_others = true;
    else if (word == "--servers" || word == "--patience" || word == "--until") {
      if (i + 1 == words.size() || !read_value(word, words[++i], found)) return false;
    } else if (word.starts_with("--")) return false;
    else paths.push_back(word);
  }
  if (paths.size() != 2) return false;
  found.volume = std::filesystem::absolute(paths[0]);
  found.directory = paths[1];
  return true;
}

/// Makes the end of standard input a signal for the thread that serves. It may wait for ever: it is not waited for.
void stop_with_input() {
  std::thread([server = ::pthread_self()] {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    char ignored[256];
    while (::read(STDIN_FILENO, ignored, sizeof ignored) > 0) continue;
    // More than once: a signal that comes just before the server waits for a request does not wake it.
    while (::pthread_kill(server, SIGTERM) == 0) std::this_thread::sleep_for(std::chrono::seconds(1));
  }).detach();
}

/// Waits for a request, and does pending work of locks and removals. Returns whether a request has come.
bool request_comes(fuse_session* session, FileSystem& system) {
  constexpr int poll_ms = 5;
  pollfd requests{fuse_session_fd(session), POLLIN, 0};
  const bool comes = ::poll(&requests, 1, poll_ms) > 0;
  if (system.locks.are_waiting()) system.locks.progress();
  try {
    if (!comes && system.client.removals_are_waiting()) system.client.finish_removals();
  } catch (const std::exception& error) {
    log_failure("unlink", error.what());
  }
  return comes;
}

/// Serves requests as fuse_session_loop does, without a sleep in the kernel while a lock is waited for or data are to
/// be removed.
int loop(fuse_session* session, FileSystem& system) {
  fuse_buf buffer{};  // NOLINT(bugprone-invalid-enum-default-initialization): no flags
  int result = 0;
  while (fuse_session_exited(session) == 0) {
    const bool has_work = system.locks.are_waiting() || system.client.removals_are_waiting();
    if (has_work && !request_comes(session, system)) continue;
    result = fuse_session_receive_buf(session, &buffer);
    if (result == -EINTR) continue;
    if (result <= 0) break;
    fuse_session_process_buf(session, &buffer);
  }
  std::free(buffer.mem);
  return result;
}

/// One thread: a client is for one thread, and with one client of the mount it is the fastest (docs/listio.md).
int serve(FileSystem& system, const Arguments& arguments) {
  std::string name = "strider-listio-mount", option = "-o";
  std::string value = "subtype=strider-listio,default_permissions,auto_unmount,fsname=" +
                      std::to_string(system.client.volume().servers.size()) + "-servers";
  if (arguments.allows_others) value += ",allow_other";
  std::vector<char*> words{name.data(), option.data(), value.data(), nullptr};
  fuse_args list = FUSE_ARGS_INIT(3, words.data());
  fuse_session* const session =
      fuse_session_new(&list, &FileSystem::operations(), sizeof FileSystem::operations(), &system);
  fuse_opt_free_args(&list);
  if (session == nullptr) return 3;
  int result = 3;
  if (fuse_set_signal_handlers(session) == 0) {
    if (fuse_session_mount(session, arguments.directory.c_str()) == 0) {
      std::printf("ready {\"pid\": %d}\n", ::getpid());
      std::fflush(stdout);
      if (arguments.until == Until::input_ends) stop_with_input();
      result = loop(session, system) < 0 ? 3 : 0;
      fuse_session_unmount(session);
    }
    fuse_remove_signal_handlers(session);
  }
  fuse_session_destroy(session);
  return result;
}

int run(const std::vector<std::string>& words) {
  Arguments arguments;
  if (!read_arguments(words, arguments)) {
    std::fputs(usage, stderr);
    return 2;
  }
  try {
    ClientOptions options;
    options.repeats = true;
    options.patience = std::chrono::seconds(arguments.patience_s);
    Client client(read_volume(arguments.volume), options);
    client.connect();
    const std::size_t servers = client.volume().servers.size();
    if (arguments.servers > servers)
      throw InputError("--servers",
                       "--servers " + std::to_string(arguments.servers) + ": the volume has " + std::to_string(servers),
                       "name at most as many");
    Spreading spreading;
    spreading.servers = arguments.servers;
    FileSystem system(client, {arguments.caching, arguments.volume.parent_path(), spreading});
    return serve(system, arguments);
  } catch (const InputError& error) {
    std::fprintf(stderr, "%s: %s\n", error.what(), error.remedy().c_str());
    return 2;
  } catch (const IoError& error) {
    std::fprintf(stderr, "%s: %s\n", error.what(), error.remedy().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  return 3;
}

}  // namespace
}  // namespace strider::listio

int main(int count, char** words) { return strider::listio::run({words + 1, words + count}); }
