// strider-listio-server: one I/O server of a volume. See docs/listio.md.
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "foundation/error.hpp"
#include "listio/server/background.hpp"
#include "listio/server/server.hpp"

namespace strider::listio {
namespace {

constexpr const char* usage =
    R"(strider-listio-server: one I/O server of a list-I/O volume.

  --directory DIR         keep all data in DIR/server-NUMBER
  --number N              number of this server (0: the manager, which keeps the names)
  --servers N             number of servers of the volume
  --volume ID             id of the volume, 32 hexadecimal digits; other folders and volume files are refused (zeros)
  --epoch N               number of this start of the volume; the folder has to be of the start before, or of this (0)
  --secret-file FILE      64 hexadecimal digits, known to all servers and clients; - for standard input
  --listen HOST:PORT      address to which clients connect (127.0.0.1:0)
  --transport NAME        transport of the data; libfabric with its provider: ofi:tcp (cma, which also serves tcp)
  --registration DOMAIN   register communication buffers: none, uring, mlock, model (none)
  --store files|nothing   nothing: discard data, to measure transport only (files)
  --checksums crc32c|off  checksums and lengths of data files, verified at each read; a folder with the other is refused
                          (crc32c)
  --copies 1|2            2: keep a copy of each data file of the server before this one too (1)
  --replaced N            how often the folder was replaced by an empty one; one of before is refused (0)
  --rate BYTES            upper limit of bytes per second, read and written together; 0: no limit (0)
  --threads N             threads that read and write files (4)
  --buffer-bytes BYTES    size of one communication buffer (1048576)
  --buffers N             buffers that a client has at most (2)
  --memory-bytes BYTES    upper limit for the buffers that all clients have at a time (268435456)
  --most-runs N           most runs of one request (128)
  --most-clients N        most clients at a time; the hard limit of open files may allow fewer (16384)
  --until signal|input-ends
                          input-ends: stop also at the end of standard input, for example when the parent process ends
  --folder any|existing   existing: refuse a directory in which this server has kept nothing yet (any)
  --action serve|detach|stop
                          detach: return when ready, and go on in the background, with messages in DIR/server-NUMBER.log;
                          stop: end the one that was detached, print "stopped" or "none ran" (serve)

Prints one line when it is ready:  ready {"number": 0, "address": "127.0.0.1:40123", "pid": 4711}
and serves until SIGTERM or SIGINT. Exit codes: 0 stopped by a signal, 2 bad options, 3 could not run.
)";

template <typename Number>
void read_number(const std::string& key, const std::string& text, Number& number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size())
    throw InputError(key, key + ": '" + text + "' is not a number", "write digits");
}

Secret read_secret(const std::string& path) {
  std::string text;
  if (path == "-") {
    std::cin >> text;
  } else {
    std::ifstream file(path);
    if (!file) throw InputError("--secret-file", path + ": " + std::strerror(errno), "name the volume's secret file");
    file >> text;
  }
  return secret_of(text);
}

/// What ends a server.
enum class Until { signal, input_ends };

/// The action of the program: serve here, serve in the background, or end what serves there.
enum class Action { serve, detach, stop };

struct ProgramOptions {
  ServerOptions server;
  Until until = Until::signal;
  Action action = Action::serve;
};

Action read_action(const std::string& text) {
  if (text == "serve") return Action::serve;
  if (text == "detach") return Action::detach;
  if (text == "stop") return Action::stop;
  throw InputError("--action", "--action: '" + text + "'", "choose serve, detach or stop");
}

using Take = std::function<void(const std::string& text)>;

std::map<std::string, Take> options_of(ProgramOptions& program) {
  ServerOptions& options = program.server;
  const auto number = [](const char* key, auto& field) {
    return Take([key, &field](const std::string& text) { read_number(key, text, field); });
  };
  const auto word = [](std::string& field) { return Take([&field](const std::string& text) { field = text; }); };
  return {
      {"--directory", word(options.directory)},
      {"--number", number("--number", options.number)},
      {"--servers", number("--servers", options.servers)},
      {"--volume", [&](const std::string& text) { options.volume.id = volume_id_of(text); }},
      {"--epoch", number("--epoch", options.volume.epoch)},
      {"--secret-file", [&](const std::string& text) { options.secret = read_secret(text); }},
      {"--listen", word(options.listen)},
      {"--transport", word(options.transport)},
      {"--registration", word(options.registration)},
      {"--store",
       [&](const std::string& text) {
         if (text != "files" && text != "nothing")
           throw InputError("--store", "--store: '" + text + "'", "choose files or nothing");
         options.keeping = text == "files" ? Keeping::files : Keeping::nothing;
       }},
      {"--checksums",
       [&](const std::string& text) {
         if (text != "crc32c" && text != "off")
           throw InputError("--checksums", "--checksums: '" + text + "'", "choose crc32c or off");
         options.checksums = text == "crc32c" ? Checksums::crc32c : Checksums::off;
       }},
      {"--copies", number("--copies", options.copies)},
      {"--replaced", number("--replaced", options.replaced)},
      {"--rate", number("--rate", options.bytes_per_s)},
      {"--threads", number("--threads", options.threads)},
      {"--buffer-bytes", number("--buffer-bytes", options.buffer_bytes)},
      {"--buffers", number("--buffers", options.buffers)},
      {"--memory-bytes", number("--memory-bytes", options.memory_bytes)},
      {"--most-runs", number("--most-runs", options.most_runs)},
      {"--most-clients", number("--most-clients", options.most_clients)},
      {"--until",
       [&](const std::string& text) {
         if (text != "signal" && text != "input-ends")
           throw InputError("--until", "--until: '" + text + "'", "choose signal or input-ends");
         program.until = text == "signal" ? Until::signal : Until::input_ends;
       }},
      {"--folder",
       [&](const std::string& text) {
         if (text != "any" && text != "existing")
           throw InputError("--folder", "--folder: '" + text + "'", "choose any or existing");
         options.folder = text == "any" ? Folder::any : Folder::existing;
       }},
      {"--action", [&](const std::string& text) { program.action = read_action(text); }},
  };
}

ProgramOptions read_options(const std::vector<std::string>& words) {
  ProgramOptions options;
  const std::map<std::string, Take> known = options_of(options);
  bool has_secret = false;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const auto found = known.find(words[i]);
    if (found == known.end() || i + 1 == words.size())
      throw InputError(words[i], found == known.end() ? "unknown option " + words[i] : words[i] + " lacks its value",
                       "see --help");
    has_secret |= words[i] == "--secret-file";
    found->second(words[i + 1]);
  }
  if (options.server.directory.empty() || (!has_secret && options.action != Action::stop))
    throw InputError("", "--directory and --secret-file are required", "see --help");
  return options;
}

/// Makes the end of standard input a signal. The thread may wait for ever: it is not waited for.
void stop_with_input() {
  std::thread([] {
    char ignored[256];
    while (::read(STDIN_FILENO, ignored, sizeof ignored) > 0) continue;
    ::kill(::getpid(), SIGTERM);
  }).detach();
}

void print_ready(const Server& server, const ServerOptions& options) {
  std::printf("ready {\"number\": %u, \"address\": \"%s\", \"pid\": %d}\n", options.number, server.address().c_str(),
              static_cast<int>(::getpid()));
  if (std::fflush(stdout) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot report that the server is ready");
}

/// Each client and each open file needs a descriptor; shells allow 1024 where the system allows more.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// Serves until it is asked to stop. `ready` is called before.
void serve(const ProgramOptions& program, const std::function<void()>& ready = [] {}) {
  const ServerOptions& options = program.server;
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGTERM);
  ::sigaddset(&signals, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // before there are threads, which inherit it
  raise_descriptor_limit();
  Server server(options);
  if (program.action == Action::detach) write_process(options.directory, options.number);
  print_ready(server, options);
  ready();
  if (program.until == Until::input_ends) stop_with_input();
  std::thread waiter([&] {
    int signal = 0;
    ::sigwait(&signals, &signal);
    server.stop();
  });
  try {
    server.run();
  } catch (...) {
    ::pthread_kill(waiter.native_handle(), SIGTERM);
    waiter.join();
    throw;
  }
  waiter.join();
}

/// The exit status, after a message where something is wrong.
int report(const std::function<int()>& work) {
  try {
    return work();
  } catch (const InputError& error) {
    std::fprintf(stderr, "strider-listio-server: %s\n  %s\n", error.what(), error.remedy().c_str());
    return 2;
  } catch (const IoError& error) {
    std::fprintf(stderr, "strider-listio-server: %s\n  %s\n", error.what(), error.remedy().c_str());
    return 3;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "strider-listio-server: %s\n", error.what());
    return 3;
  }
}

int detach(const ProgramOptions& program) {
  const ServerOptions& options = program.server;
  if (::mkdir(options.directory.c_str(), 0700) != 0 && errno != EEXIST)
    throw InputError("--directory", options.directory + ": " + std::strerror(errno),
                     "name a directory that exists or can be created");
  return run_in_background(options.directory + "/server-" + std::to_string(options.number) + ".log",
                           [&](const std::function<void()>& ready) {
                             return report([&] {
                               serve(program, ready);
                               return 0;
                             });
                           });
}

int act(const ProgramOptions& program) {
  switch (program.action) {
    case Action::serve: serve(program); return 0;
    case Action::detach: return detach(program);
    case Action::stop: break;
  }
  const Stopped found = stop_process(program.server.directory, program.server.number);
  std::puts(found == Stopped::one ? "stopped" : "none ran");
  return 0;
}

int run(const std::vector<std::string>& words) {
  if (words.size() == 1 && words.front() == "--help") {
    std::fputs(usage, stdout);
    std::fputs("Transports of this build:", stdout);
    for (const std::string_view name : transport_names())
      std::printf(" %.*s", static_cast<int>(name.size()), name.data());
    std::fputs("\n", stdout);
    return 0;
  }
  return report([&] { return act(read_options(words)); });
}

}  // namespace
}  // namespace strider::listio

int main(int count, char** words) { return strider::listio::run({words + 1, words + count}); }
