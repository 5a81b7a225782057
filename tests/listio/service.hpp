#pragma once
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "listio/client/client.hpp"
#include "listio/server/server.hpp"
#include "test_host.hpp"

namespace strider::listio {

/// A folder that goes when the test does; in memory where that is possible.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string text =
        (std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : "/tmp") + std::string("/strider-listio-XXXXXX");
    if (::mkdtemp(text.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = text;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// A volume whose servers are threads of this process.
class Service {
 public:
  /// A new volume in a temporary folder. With a directory in the options it is the volume of the options, which is
  /// there or is to be made there.
  explicit Service(std::uint32_t servers, ServerOptions options = {}, std::uint64_t strip_bytes = 65536) {
    if (options.directory.empty()) {
      options.directory = temporary_.emplace().path();
      options.secret = make_secret();
      options.volume = {make_volume_id(), 1};
    }
    options.servers = servers;
    options.listen = own_host(options.transport) + ":0";
    folder_ = options.directory;
    volume_.state = options.volume;
    volume_.secret = options.secret;
    volume_.transport = options.transport;
    volume_.strip_bytes = strip_bytes;
    volume_.copies = options.copies;
    volume_.checksums = name_of(options.checksums);
    try {
      for (options.number = 0; options.number < servers; ++options.number) {
        options_.push_back(options);
        start(options.number);
      }
    } catch (...) {
      stop_all();
      throw;
    }
  }
  ~Service() { stop_all(); }
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// At the address that it had, if it ran before.
  void start(std::uint32_t number) {
    if (number == servers_.size()) {
      servers_.emplace_back();
      threads_.emplace_back();
      volume_.servers.emplace_back();
    }
    servers_[number] = std::make_unique<Server>(options_[number]);
    volume_.servers[number] = options_[number].listen = servers_[number]->address();
    threads_[number] = std::thread([server = servers_[number].get()] { server->run(); });
  }
  void stop(std::uint32_t number) {
    if (!servers_[number]) return;
    servers_[number]->stop();
    threads_[number].join();
    servers_[number].reset();
  }
  void stop_all() {
    for (std::uint32_t number = 0; number < servers_.size(); ++number) stop(number);
  }
  const Volume& volume() const { return volume_; }
  const std::string& folder() const { return folder_; }
  /// Of a data file (`part`: data, second/data) or its checksums (sums, second/sums).
  std::string path_of(std::uint32_t server, const std::string& part, FileId file) const {
    const std::string digits = digits_of(file);
    return folder_ + "/server-" + std::to_string(server) + "/" + part + "/" + digits.substr(14) + "/" + digits;
  }

 private:
  std::optional<TemporaryFolder> temporary_;
  std::string folder_;
  Volume volume_;
  std::vector<ServerOptions> options_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::vector<std::thread> threads_;
};

}  // namespace strider::listio
