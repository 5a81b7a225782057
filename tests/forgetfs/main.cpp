// A file system of the tests: it discards unsynced data, and injects faults. All of it is in memory.
//
//   forgetfs MOUNT SOCKET [--write-back | --direct] [--strict]     in the foreground, until MOUNT is unmounted
//
// It takes commands at SOCKET (control.hpp), never through the mount, which may hang. Kept and discarded data:
// docs/decisions/.
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "control.hpp"
#include "store.hpp"

namespace {

using namespace forgetfs;

bool read_options(int count, char** words, Options& options) {
  if (count < 3) return false;
  options.mount = words[1];
  options.socket = words[2];
  for (int i = 3; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--write-back") options.caching = Caching::write_back;
    else if (word == "--direct") options.caching = Caching::none;
    else if (word == "--strict") options.name_sync = NameSync::folder_only;
    else return false;
  }
  return true;
}

int run(const Options& options) {
  // Threads inherit the blocked signals: signals end the session's thread, and the socket's and the parking's know
  // none.
  sigset_t signals, before;
  sigemptyset(&signals);
  for (const int each : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, each);
  pthread_sigmask(SIG_BLOCK, &signals, &before);
  Store store(options);
  const std::string wanted =
      std::string("fsname=forgetfs") + (geteuid() == 0 ? ",allow_other,default_permissions" : "");
  std::string name = "forgetfs", option = "-o";
  std::string value = wanted;
  std::vector<char*> words{name.data(), option.data(), value.data(), nullptr};
  fuse_args arguments = FUSE_ARGS_INIT(3, words.data());
  store.session = fuse_session_new(&arguments, &operations(), sizeof operations(), &store);
  if (store.session == nullptr) return 1;
  int result = 1;
  if (fuse_session_mount(store.session, options.mount.c_str()) == 0) {
    const Control control(store);
    fuse_set_signal_handlers(store.session);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    result = fuse_session_loop(store.session) < 0 ? 1 : 0;
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    fuse_remove_signal_handlers(store.session);
    fuse_session_unmount(store.session);
    store.parking.stop();
  }
  fuse_session_destroy(store.session);
  fuse_opt_free_args(&arguments);
  return result;
}

}  // namespace

int main(int count, char** words) {
  Options options;
  if (!read_options(count, words, options)) {
    std::fputs("usage: forgetfs MOUNT SOCKET [--write-back | --direct] [--strict]\n", stderr);
    return 2;
  }
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  try {
    return run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "forgetfs: %s\n", error.what());
    return 1;
  }
}
