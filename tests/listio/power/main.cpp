// Cuts the power of a volume's servers after each sync that they do, and looks at what is left.
//
//   strider-listio-power-cut MOUNT SOCKET IMAGES SEED COUNT
//
// MOUNT is a file system that forgets what was not synced (tests/forgetfs), SOCKET its control. A client makes, writes,
// renames, removes and syncs files at random until there are COUNT images of the disk in IMAGES. Then a volume is
// started on each image: a check has to find nothing, or repair all, and each file has to be what was promised. Prints
// a line of JSON; the exit code is 1 if a promise was broken.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <random>
#include <sstream>
#include <stdexcept>

#include "foundation/descriptor.hpp"
#include "foundation/error.hpp"
#include "listio/client/client.hpp"
#include "power/model.hpp"
#include "service.hpp"

namespace strider::listio {
namespace {

constexpr std::uint32_t servers = 3;
constexpr std::uint64_t strip_bytes = 4096;
constexpr std::uint64_t most_file_bytes = 40000;
constexpr std::size_t most_files = 8;

/// One command of forgetfs; its answer.
std::string command(const std::string& socket, const std::string& text) {
  const Descriptor connection(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, socket.c_str(), sizeof address.sun_path - 1);
  if (::connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error("cannot connect to " + socket);
  const std::string line = text + "\n";
  if (::write(connection.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    throw std::runtime_error("cannot write to " + socket);
  std::string answer(4096, 0);
  std::string all;
  for (ssize_t count = 0; (count = ::read(connection.get(), answer.data(), answer.size())) > 0;)
    all.append(answer, 0, static_cast<std::size_t>(count));
  if (!all.ends_with("ok\n")) throw std::runtime_error(text + ": " + all);
  return all;
}

/// What holds for the images from `first` on, until the next moment.
struct Moment {
  std::uint64_t first = 0;
  Model model;
};

/// A client that works at random.
class Workload {
 public:
  Workload(Client& client, std::string socket, std::uint64_t seed)
      : client_(client), socket_(std::move(socket)), random_(seed) {
    for (const char* const directory : {"a", "b", "a/c"}) client_.make_directory(directory);
    client_.sync_names();
    moments_.push_back({images(), {}});
  }

  std::vector<Moment> run(std::uint64_t count) {
    while (images() < count) step();
    return std::move(moments_);
  }

 private:
  Model& model() { return moments_.back().model; }
  std::uint64_t images() const { return std::stoull(command(socket_, "snapshots-made")); }
  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  std::string any_path() {
    static constexpr std::array<const char*, 4> directories{"", "a/", "b/", "a/c/"};
    return directories[below(4)] + ("f" + std::to_string(below(10)));
  }

  void step() {
    const auto named = model().named();
    const std::uint64_t choice = below(100);
    if (named.size() < 2 || (choice < 15 && named.size() < most_files)) return create(any_path());
    const auto& [path, file] = *std::next(named.begin(), static_cast<std::ptrdiff_t>(below(named.size())));
    if (choice < 50) write(path, file);
    else if (choice < 58) truncate(path, file);
    else if (choice < 68) rename(path, any_path());
    else if (choice < 71) rename_directory();
    else if (choice < 78) unlink(path);
    else if (choice < 82) sync_names();
    else sync(path, file);
  }

  void create(const std::string& path) {
    if (model().named().contains(path)) return;
    try {
      model().create(client_.open(path, Creation::exclusive).id, path);
    } catch (const IoError&) {  // its directory has another name
    }
  }
  void write(const std::string& path, FileId file) {
    const std::uint64_t offset = below(most_file_bytes), length = 1 + below(8000);
    Bytes bytes(length);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(1 + below(255));
    model().write(file, offset, bytes);
    client_.write(client_.open(path, Creation::never), bytes, offset);
  }
  void truncate(const std::string& path, FileId file) {
    const std::uint64_t bytes = below(most_file_bytes);
    model().truncate(file, bytes);
    client_.truncate(client_.open(path, Creation::never), bytes);
  }
  void rename(const std::string& from, const std::string& to) {
    if (from == to) return;
    try {
      client_.rename(from, to);
    } catch (const IoError&) {  // a directory is missing
      return;
    }
    model().rename(from, to);
  }
  void rename_directory() {
    const bool is_there = client_.stat("a").kind == EntryKind::directory;
    if (!is_there) return;
    // There and back: other steps find it. Both lead to syncs of the directory above only.
    client_.rename("a", "z");
    model().rename("a", "z");
    client_.rename("z", "a");
    model().rename("z", "a");
  }
  void unlink(const std::string& path) {
    model().unlink(path);
    client_.unlink(path);
  }
  void sync(const std::string& path, FileId file) {
    client_.sync(client_.open(path, Creation::never));
    Model next = model();
    next.sync(file);
    moments_.push_back({images(), std::move(next)});
  }
  void sync_names() {
    client_.sync_names();
    Model next = model();
    next.sync_names();
    moments_.push_back({images(), std::move(next)});
  }

  Client& client_;
  std::string socket_;
  std::mt19937_64 random_;
  std::vector<Moment> moments_;
};

/// All files of a volume by path, with their content; those that cannot be read are in `damaged`.
std::map<std::string, std::pair<FileId, Bytes>> contents(Client& client, std::set<std::string>& damaged) {
  std::map<std::string, std::pair<FileId, Bytes>> found;
  std::vector<std::string> directories{""};
  while (!directories.empty()) {
    const std::string directory = directories.back();
    directories.pop_back();
    for (const auto& [name, kind] : client.read_directory(directory)) {
      const std::string path = directory.empty() ? name : directory + "/" + name;
      if (kind == EntryKind::directory) {
        directories.push_back(path);
        continue;
      }
      try {
        const File file = client.open(path, Creation::never);
        Bytes bytes(client.size(file));
        client.read(file, bytes, 0);
        found[path] = {file.id, std::move(bytes)};
      } catch (const IoError& error) {
        damaged.insert(path + " (" + error.what() + ")");
      }
    }
  }
  return found;
}

struct Seen {
  std::uint64_t images = 0, clean = 0, repaired = 0, repairs = 0;
  std::vector<std::string> mistakes;
};

/// Looks at an image.
void look(const std::string& image, ServerOptions options, const Model& model, Seen& seen) {
  const auto complain = [&](const std::string& text) { seen.mistakes.push_back(image + ": " + text); };
  ++seen.images;
  try {
    options.directory = image;
    const Service service(servers, options, strip_bytes);
    Client client(service.volume(), {});
    const CheckReport report = client.check();
    std::vector<std::string> done;
    if (report.problems.empty()) ++seen.clean;
    else {
      ++seen.repaired;
      seen.repairs += report.repairs.size();
      done = client.repair(report);
      for (const std::string& problem : client.check().problems) complain("after the repair: " + problem);
    }
    std::set<std::string> damaged;
    const auto found = contents(client, damaged);
    const std::size_t before = seen.mistakes.size();
    for (const std::string& mistake : model.mistakes(found, damaged)) complain(mistake);
    if (seen.mistakes.size() == before) return;
    for (const std::string& problem : report.problems) complain("found: " + problem);
    for (const std::string& repair : done) complain("repaired: " + repair);
  } catch (const std::exception& error) {
    complain(error.what());
  }
}

std::string quoted(const std::string& text) {
  std::ostringstream out;
  out << std::quoted(text);
  return out.str();
}

void print(const Seen& seen, std::size_t promises) {
  std::cout << "{\"images\": " << seen.images << ", \"clean\": " << seen.clean << ", \"repaired\": " << seen.repaired
            << ", \"repairs\": " << seen.repairs << ", \"promises\": " << promises << ", \"mistakes\": [";
  for (std::size_t i = 0; i < seen.mistakes.size(); ++i) std::cout << (i > 0 ? ", " : "") << quoted(seen.mistakes[i]);
  std::cout << "]}\n";
}

int run(const std::string& mount, const std::string& socket, const std::string& images, std::uint64_t seed,
        std::uint64_t count) {
  ServerOptions options;
  options.directory = mount + "/volume";
  options.secret = make_secret();
  options.volume = {make_volume_id(), 1};
  std::vector<Moment> moments;
  {
    const Service service(servers, options, strip_bytes);
    Client client(service.volume(), {});
    command(socket, "snapshots " + images);
    moments = Workload(client, socket, seed).run(count);
    command(socket, "snapshots");
  }
  Seen seen;
  auto moment = moments.begin();
  for (std::uint64_t image = 1; image <= count; ++image) {
    while (std::next(moment) != moments.end() && std::next(moment)->first <= image) ++moment;
    if (image < moments.front().first) continue;  // the volume's first names
    for (const char* const kind : {"", "-torn"}) {
      const std::string folder = images + "/" + std::to_string(image) + kind;
      look(folder + "/volume", options, moment->model, seen);
      std::filesystem::remove_all(folder);
    }
  }
  print(seen, moments.size());
  return seen.mistakes.empty() ? 0 : 1;
}

}  // namespace
}  // namespace strider::listio

int main(int count, char** words) {
  if (count != 6) return 2;
  try {
    return strider::listio::run(words[1], words[2], words[3], std::stoull(words[4]), std::stoull(words[5]));
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 3;
  }
}
