#pragma once
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "listio/client/client.hpp"
#include "service.hpp"

namespace strider::listio {

/// Servers of a volume as processes, so that they can be killed.
class ServerProcesses {
 public:
  /// With `descriptors`, the limits of open files that each server begins with, and further options of server 0.
  ServerProcesses(std::uint32_t servers, std::string transport, std::optional<rlimit> descriptors = {},
                  std::uint32_t copies = 1, std::vector<std::string> options_of_first = {})
      : descriptors_(descriptors), options_of_first_(std::move(options_of_first)) {
    volume_.secret = make_secret();
    volume_.state = {make_volume_id(), 1};
    volume_.transport = std::move(transport);
    volume_.copies = copies;
    std::ofstream(secret_path()) << to_hex(volume_.secret) << "\n";
    volume_.servers.assign(servers, own_host(volume_.transport) + ":0");
    processes_.assign(servers, 0);
    for (std::uint32_t number = 0; number < servers; ++number) start(number);
  }
  ~ServerProcesses() {
    for (std::uint32_t number = 0; number < processes_.size(); ++number)
      for (const int signal : {SIGCONT, SIGTERM}) kill(number, signal);
  }
  ServerProcesses(const ServerProcesses&) = delete;
  ServerProcesses& operator=(const ServerProcesses&) = delete;

  /// With a descriptor as standard input, the server ends when that does.
  void start(std::uint32_t number, int input = -1) {
    int output[2];
    if (::pipe2(output, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    std::vector<std::string> words{STRIDER_LISTIO_SERVER,
                                   "--directory",
                                   folder_.path(),
                                   "--number",
                                   std::to_string(number),
                                   "--servers",
                                   std::to_string(processes_.size()),
                                   "--volume",
                                   to_hex(volume_.state.id),
                                   "--epoch",
                                   std::to_string(volume_.state.epoch),
                                   "--secret-file",
                                   secret_path(),
                                   "--listen",
                                   volume_.servers[number],
                                   "--transport",
                                   volume_.transport,
                                   "--copies",
                                   std::to_string(volume_.copies)};
    if (number == 0) words.insert(words.end(), options_of_first_.begin(), options_of_first_.end());
    if (input >= 0) words.insert(words.end(), {"--until", "input-ends"});
    std::vector<char*> pointers;
    for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
    pointers.push_back(nullptr);
    processes_[number] = ::fork();
    if (processes_[number] == 0) {
      ::dup2(output[1], 1);
      if (input >= 0) ::dup2(input, 0);
      if (descriptors_ && ::setrlimit(RLIMIT_NOFILE, &*descriptors_) != 0) ::_exit(126);
      ::execv(pointers[0], pointers.data());
      ::_exit(127);
    }
    ::close(output[1]);
    const std::unique_ptr<FILE, int (*)(FILE*)> reader(::fdopen(output[0], "r"), ::fclose);
    char address[128] = "";
    if (std::fscanf(reader.get(), "ready {\"number\": %*u, \"address\": \"%127[^\"]", address) != 1)
      throw std::runtime_error("the server is not ready");
    volume_.servers[number] = address;
  }
  void kill(std::uint32_t number, int signal) {
    if (processes_[number] == 0) return;
    ::kill(processes_[number], signal);
    if (signal == SIGSTOP || signal == SIGCONT) return;
    ::waitpid(processes_[number], nullptr, 0);
    processes_[number] = 0;
  }
  /// Waits until a server has ended by itself.
  void wait(std::uint32_t number) {
    ::waitpid(processes_[number], nullptr, 0);
    processes_[number] = 0;
  }
  const Volume& volume() const { return volume_; }
  pid_t process(std::uint32_t number) const { return processes_[number]; }

 private:
  std::string secret_path() const { return folder_.path() + "/secret"; }

  const std::optional<rlimit> descriptors_;
  const std::vector<std::string> options_of_first_;
  TemporaryFolder folder_;
  Volume volume_;
  std::vector<pid_t> processes_;
};

}  // namespace strider::listio
