// Cuts the power of servers of a volume with two copies, and looks at what clients may read afterwards.
//
//   strider-listio-power-cut-copies MOUNT SOCKET IMAGES SEED SERVERS CUTS
//
// MOUNT is a file system that discards unsynced data (tests/forgetfs), SOCKET its control. A client works at
// random, as in main.cpp, while servers stop, are killed or lose their power, come back and are filled. One fill stands
// still when it has had its server be in, and the server loses its power meanwhile. After flushes of any server, CUTS
// of them (0: all), there are images of the disks in IMAGES: all servers lose their power at once, all of them torn, or
// one alone while the others are killed. A volume is started on each image and filled: both copies of each file have to
// be as promised, and a scrub has to find nothing. Prints a line of JSON; the exit code is 1 if a promise was
// broken.
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "foundation/deadline.hpp"
#include "foundation/error.hpp"
#include "listio/client/ask.hpp"
#include "listio/client/client.hpp"
#include "listio/client/driver.hpp"
#include "listio/client/scrub.hpp"
#include "power/forgetful.hpp"
#include "power/look.hpp"
#include "power/workload.hpp"
#include "service.hpp"

namespace strider::listio {
namespace {

constexpr std::uint64_t strip_bytes = 4096;
constexpr std::uint64_t few_bytes = 65536;
constexpr unsigned most_servers = 100;        // at a time: they wait for leases, and each reserves 1 TiB of addresses
constexpr std::uint64_t some_flushes = 8;     // to keep images of one of them
constexpr std::uint64_t least_flushes = 200;  // with which the first part ends, however fast the machine is
constexpr std::chrono::seconds longest_wait{300};

ServerOptions two_copies(const std::string& directory) {
  ServerOptions options;
  options.copies = 2;
  options.buffer_bytes = few_bytes;
  options.directory = directory;
  options.secret = make_secret();
  options.volume = {make_volume_id(), 1};
  return options;
}

// --- a fill that stands still ---

std::atomic<bool> stands_still = false;

void stand_still(int) {
  constexpr timespec pause{0, 1'000'000};
  while (stands_still) ::nanosleep(&pause, nullptr);
}

/// A fill by a client of its own.
class FillInBackground {
 public:
  explicit FillInBackground(const Volume& volume)
      : thread_([this, volume] {
          try {
            Client client(volume, {});
            filled_ = client.fill();
          } catch (...) {
            failure_ = std::current_exception();
          }
          is_over_ = true;
        }) {}
  ~FillInBackground() { go_on(); }
  FillInBackground(const FillInBackground&) = delete;
  FillInBackground& operator=(const FillInBackground&) = delete;

  bool is_over() const { return is_over_; }
  void stop() {
    stands_still = true;
    ::pthread_kill(thread_.native_handle(), SIGUSR1);
  }
  void go_on() { stands_still = false; }
  std::vector<FilledServer> wait() {
    thread_.join();
    if (failure_) std::rethrow_exception(failure_);
    return filled_;
  }

 private:
  std::vector<FilledServer> filled_;
  std::exception_ptr failure_;
  std::atomic<bool> is_over_ = false;
  std::jthread thread_;
};

// --- both copies ---

/// A single data file, as it is in one place.
Bytes data_at(Driver& driver, const Place& place, FileId file) {
  Bytes bytes(ask<DataStat>(driver, "stat", "", DataStatRequest{file}, place).bytes);
  if (bytes.empty()) return bytes;
  const iovec piece{bytes.data(), bytes.size()};
  const ByteRun run{0, bytes.size()};
  driver.run(*driver.prepare(Direction::read, file, place, {&piece, 1}, {&run, 1}));
  return bytes;
}

/// A file, of which each server has to send this copy.
Bytes copy_of(Driver& driver, const File& file, DataCopy copy) {
  std::vector<Bytes> data;
  std::vector<std::uint64_t> sizes;
  for (std::uint32_t server = 0; server < file.striping.servers(); ++server) {
    const std::uint32_t at = copy == DataCopy::first ? server : next_server(server, driver.servers());
    data.push_back(data_at(driver, {at, {copy}}, file.id));
    sizes.push_back(data.back().size());
  }
  Bytes bytes(file.striping.file_bytes(sizes));
  for (std::uint64_t offset = 0; offset < bytes.size(); ++offset) {
    const Location place = file.striping.locate(offset);
    if (place.offset < sizes[place.server]) bytes[offset] = data[place.server][place.offset];
  }
  return bytes;
}

const char* prefix_of(DataCopy copy) { return copy == DataCopy::first ? "first copy: " : "second copy: "; }

// --- the volume while servers go and come ---

class Cycles {
 public:
  Cycles(const Forgetful& forgetful, const ServerOptions& options, std::uint32_t servers, std::uint64_t seed)
      : view_path_(options.directory + "/server-0/view"),
        forgetful_(forgetful),
        servers_(servers),
        service_(servers, options, strip_bytes),
        client_(service_.volume(), {}),
        workload_(client_, forgetful, seed) {}

  /// Servers go, come back, and are filled while a client works.
  void run() {
    steps(5);
    const std::vector<std::uint32_t> gone = some_servers();
    for (const std::uint32_t server : gone) lose(server, any_loss());
    // Sometimes no client calls them before they run again.
    if (workload_.below(4) != 0) {
      sync_all();
      steps(10);
    }
    for (const std::uint32_t server : gone) service_.start(server);
    if (workload_.below(3) == 0) kill_manager();
    FillInBackground fill(service_.volume());
    while (!fill.is_over()) steps(1);
    fill.wait();
    while (forgetful_.boundaries() < least_flushes) steps(1);
    compare("after a fill");
  }

  /// A fill has had its server be in, and stands still before it has ended; the server loses its power.
  void run_with_a_fill_that_stands_still() {
    const std::uint32_t server = 1 + static_cast<std::uint32_t>(workload_.below(servers_ - 1));
    while (workload_.model().named().size() < 2) steps(1);
    lose(server, any_loss());
    sync_all();
    steps(5);
    sync_all();
    wait_until("a server to be out", [&] { return is_out(server); });
    service_.start(server);
    // Long enough to see that the view has changed before the fill hears of it.
    forgetful_.command("fault fsyncdir delay amount=300 name=/server-0");
    FillInBackground fill(service_.volume());
    wait_until("a server to be in", [&] { return fill.is_over() || !is_out(server); });
    fill.stop();
    const auto changed = every_second_file();
    for (const auto& [path, file] : changed) workload_.write(path, file);
    forgetful_.command("clear");
    lose(server, Loss::power);
    for (const auto& [path, file] : changed) workload_.sync(path, file);
    service_.start(server);
    fill.go_on();
    fill.wait();
    compare("after a fill that stood still");
  }

  std::vector<std::string> mistakes() const { return mistakes_; }
  std::vector<Moment> take_moments() { return workload_.take_moments(); }

 private:
  enum class Loss { stop, kill, power };
  Loss any_loss() { return std::array{Loss::stop, Loss::kill, Loss::power, Loss::power}[workload_.below(4)]; }

  /// Server 0 has the names, which have no second copy; neighbours have each other's.
  std::vector<std::uint32_t> some_servers() {
    if (servers_ > 3 && workload_.below(3) == 0) return {1, 3};
    return {1 + static_cast<std::uint32_t>(workload_.below(servers_ - 1))};
  }
  std::map<std::string, FileId> every_second_file() {
    std::map<std::string, FileId> files = workload_.model().named();
    std::erase_if(files, [is_chosen = false](const auto&) mutable {
      is_chosen = !is_chosen;
      return !is_chosen;
    });
    return files;
  }
  void steps(int count) {
    for (int i = 0; i < count; ++i) workload_.step();
  }
  void sync_all() {
    for (const auto& [path, file] : workload_.model().named()) workload_.sync(path, file);
  }

  void lose(std::uint32_t server, Loss loss) {
    // What its threads write when they end is undone.
    if (loss != Loss::stop) forgetful_.command("freeze /volume/server-" + std::to_string(server));
    service_.stop(server);
    if (loss == Loss::kill) forgetful_.command("thaw");
    if (loss == Loss::power) forgetful_.command("thaw cut");
    if (loss == Loss::power) workload_.model().doubt();
  }
  /// All names are synced by its next sync.
  void kill_manager() {
    lose(0, Loss::kill);
    service_.start(0);
    client_.read_directory("");  // connects again: not all steps may be done twice
  }

  template <typename Condition>
  static void wait_until(const char* what, const Condition& is_met) {
    for (const Deadline deadline = in(longest_wait); !is_met();) {
      if (has_passed(deadline)) throw std::runtime_error(std::string("waited too long for ") + what);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  /// As server 0 has it on its disk, maybe not stable yet.
  bool is_out(std::uint32_t server) const {
    std::ifstream file(view_path_);
    std::string word;
    while (file >> word && word != "out") continue;
    for (std::uint32_t number = 0; file >> number;)
      if (number == server) return true;
    return word != "out";  // it is being replaced
  }

  /// All servers run: written data is in both copies, after the last fill.
  void compare(const std::string& when) {
    for (const FilledServer& each : client_.fill())
      if (!each.reason.empty())
        mistakes_.push_back(when + ": server " + std::to_string(each.server) + " is not filled: " + each.reason);
    Driver driver(service_.volume(), {});
    for (const DataCopy copy : {DataCopy::first, DataCopy::second}) {
      std::set<std::string> damaged;
      const Contents found = contents(client_, damaged, [&](const File& file) { return copy_of(driver, file, copy); });
      for (const std::string& path : damaged) mistakes_.push_back(when + ": " + prefix_of(copy) + path);
      for (const std::string& mistake : workload_.model().mistakes_now(found))
        mistakes_.push_back(when + ": " + prefix_of(copy) + mistake);
    }
  }

  const std::string view_path_;
  const Forgetful& forgetful_;
  const std::uint32_t servers_;
  Service service_;
  Client client_;
  Workload workload_;
  std::vector<std::string> mistakes_;
};

// --- images ---

void look(const std::string& image, ServerOptions options, std::uint32_t servers, const Model& model, Seen& seen) {
  options.directory = image + "/volume";
  const Service service(servers, options, strip_bytes);
  Client client(service.volume(), {});
  Driver driver(service.volume(), {});
  for (const FilledServer& each : client.fill())
    if (!each.reason.empty())
      seen.complain(image + ": server " + std::to_string(each.server) + " is not filled: " + each.reason);
  const std::vector<std::string> report = seen.check(client, image);
  for (const DataCopy copy : {DataCopy::first, DataCopy::second}) {
    std::set<std::string> damaged;
    const Contents found = contents(client, damaged, [&](const File& file) { return copy_of(driver, file, copy); });
    seen.compare(image + ": " + prefix_of(copy), model, found, damaged, report);
  }
  const ScrubReport scrubbed = scrub(client, {}, [](const ScrubProgress&) {});
  for (const ScrubFinding& each : scrubbed.findings)
    seen.complain(image + ": server " + std::to_string(each.server) + " has damage of " + each.path + ": " +
                  each.damage);
  for (const FilledServer& each : scrubbed.filled)
    seen.complain(image + ": server " + std::to_string(each.server) + " has to be filled again");
}

int run(const std::string& mount, const std::string& socket, const std::string& images, std::uint64_t seed,
        std::uint32_t servers, std::uint64_t cuts) {
  ::signal(SIGUSR1, stand_still);
  const Forgetful forgetful(socket);
  const ServerOptions options = two_copies(mount + "/volume");
  Seen seen;
  std::vector<Moment> moments;
  std::uint64_t boundaries = 0;
  {
    forgetful.command("snapshots-in-part " + std::to_string(cuts == 0 ? 1 : some_flushes) + " " + images);
    Cycles volume(forgetful, options, servers, seed);
    volume.run();
    volume.run_with_a_fill_that_stands_still();
    for (const std::string& mistake : volume.mistakes()) seen.complain(mistake);
    moments = volume.take_moments();
    boundaries = forgetful.boundaries();
    forgetful.command("snapshots");
  }
  // Images that are not looked at go with the folder.
  const std::uint64_t every =
      cuts == 0 ? 1 : some_flushes * std::max<std::uint64_t>(1, boundaries / some_flushes / cuts);
  look_at_images({.folder = images, .boundaries = boundaries, .every = every, .kinds = {"", "-torn", "-part"}}, moments,
                 most_servers / servers, seen,
                 [&](const std::string& image, const Model& model) { look(image, options, servers, model, seen); });
  seen.print("\"boundaries\": " + std::to_string(boundaries - moments.front().first) +
             ", \"promises\": " + std::to_string(moments.size()) + ", ");
  return seen.is_right() ? 0 : 1;
}

}  // namespace
}  // namespace strider::listio

int main(int count, char** words) {
  if (count != 7) return 2;
  try {
    const auto number = [&](int i) { return std::stoull(words[i]); };
    return strider::listio::run(words[1], words[2], words[3], number(4), static_cast<std::uint32_t>(number(5)),
                                number(6));
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 3;
  }
}
