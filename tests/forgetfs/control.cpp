#include "control.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>
#include <stdexcept>

namespace forgetfs {
namespace {

std::string quoted(const std::string& text) {
  std::string made = "\"";
  for (const char each : text) {
    if (each == '"' || each == '\\') made += '\\';
    made += static_cast<unsigned char>(each) < 0x20 ? '?' : each;
  }
  return made + '"';
}

std::string json(const Event& event) {
  std::ostringstream line;
  line << "{\"op\": " << quoted(event.op) << ", \"path\": " << quoted(event.path) << ", \"offset\": " << event.offset
       << ", \"length\": " << event.length << ", \"flags\": " << event.flags << ", \"process\": " << event.process
       << ", \"fault\": " << quoted(event.fault) << ", \"stable\": " << (event.stable ? "true" : "false") << "}\n";
  return line.str();
}

std::string json(const Fault& fault) {
  return "{\"op\": " + quoted(fault.op) + ", \"kind\": " + quoted(fault.kind) +
         ", \"hits\": " + std::to_string(fault.hits) + "}\n";
}

Fault fault_of(std::istringstream& words) {
  Fault fault;
  words >> fault.op >> fault.kind;
  if (!is_kind(fault.kind)) throw std::invalid_argument("no kind of fault: " + fault.kind);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    const std::string key = word.substr(0, equals), value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (key == "call") fault.call = std::stoull(value);
    else if (key == "range") fault.range = Range{std::stoull(value), std::stoull(value.substr(value.find('-') + 1))};
    else if (key == "amount") fault.amount = std::stoull(value);
    else if (key == "name") fault.name = value;
    else if (key == "file") fault.file = std::stoull(value);
    else if (key == "access") fault.read_only = value == "read-only";
    else throw std::invalid_argument("unknown: " + word);
  }
  return fault;
}

/// Empty if there is none.
std::string rest_of(std::istringstream& words) {
  std::string rest;
  std::getline(words >> std::ws, rest);
  return rest;
}

void freeze(Store& store, const std::string& path) {
  store.frozen = store.tree.keep(path);
  if (store.frozen.empty()) throw std::invalid_argument("no folder " + path);
}

/// Those that act on one thing under the lock.
std::string look_or_change(Store& store, const std::string& verb, std::istringstream& words) {
  const std::scoped_lock lock(store.mutex);
  std::string answer;
  if (verb == "fault") store.faults.add(fault_of(words));
  else if (verb == "persist") store.tree.sync_all();
  else if (verb == "erase") store.events.clear();
  else if (verb == "freeze") freeze(store, rest_of(words));
  else if (verb == "snapshots") store.snapshots = rest_of(words);
  else if (verb == "snapshots-in-part") {
    store.snapshots_in_part = true;
    words >> store.snapshots_every;
    store.snapshots = rest_of(words);
  } else if (verb == "snapshots-made") answer = std::to_string(store.snapshots_made) + "\n";
  else if (verb == "mark") {
    std::string text;
    std::getline(words >> std::ws, text);
    store.events.push_back({"mark", text});
  } else if (verb == "events") {
    for (const Event& event : store.events) answer += json(event);
  } else if (verb == "faults") {
    for (const Fault& fault : store.faults.all()) answer += json(fault);
  } else throw std::invalid_argument("no command: " + verb);
  return answer;
}

std::string obey(Store& store, const std::string& command) {
  std::istringstream words(command);
  std::string verb;
  words >> verb;
  if (verb == "cut" || verb == "tear") {
    std::uint64_t unit = 0, seed = 0;
    words >> unit >> seed;
    if ((verb == "tear") != (unit != 0)) throw std::invalid_argument(verb == "cut" ? "cut" : "tear UNIT SEED");
    cut_power(store, unit, seed);
    return {};
  }
  if (verb == "thaw") {
    std::string how;
    words >> how;
    if (!how.empty() && how != "cut") throw std::invalid_argument("thaw, or thaw cut");
    thaw(store, how == "cut");
    return {};
  }
  if (verb == "clear") {
    {
      const std::scoped_lock lock(store.mutex);
      store.faults.clear();
    }
    store.parking.let_go(EIO);
    return {};
  }
  if (verb == "dump") {
    std::string image, folder;
    words >> image >> std::ws;
    std::getline(words, folder);
    if (!dump(store, image == "disk", folder)) throw std::invalid_argument("cannot write to " + folder);
    return {};
  }
  return look_or_change(store, verb, words);
}

void answer(Store& store, int connection) {
  std::string command;
  for (char byte = 0; ::read(connection, &byte, 1) == 1 && byte != '\n';) command += byte;
  std::string text;
  try {
    text = obey(store, command) + "ok\n";
  } catch (const std::exception& error) {
    text = std::string("error: ") + error.what() + "\n";
  }
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t sent = ::send(connection, text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (sent <= 0) break;
    done += static_cast<std::size_t>(sent);
  }
}

}  // namespace

Control::Control(Store& store) : store_(store), listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{.sun_family = AF_UNIX};
  const std::string& path = store.options.socket;
  if (path.size() >= sizeof address.sun_path) throw std::runtime_error("path of the socket is too long: " + path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  ::unlink(path.c_str());
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_, 16) != 0)
    throw std::runtime_error("cannot listen at " + path + ": " + std::strerror(errno));
  thread_ = std::thread([this] { serve(); });
}

Control::~Control() {
  ::shutdown(listener_, SHUT_RDWR);
  thread_.join();
  ::close(listener_);
  ::unlink(store_.options.socket.c_str());
}

void Control::serve() {
  while (true) {
    const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0 && errno == EINTR) continue;
    if (connection < 0) return;
    answer(store_, connection);
    ::close(connection);
  }
}

}  // namespace forgetfs
