// With connections that are cut, delayed or repeat frames, and disks that are full: lists move the right bytes, or fail
// with an error that names the server. Then each byte is old or new, and a repeat succeeds.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>

#include "faulty_proxy.hpp"
#include "foundation/error.hpp"
#include "listio/protocol/kinds.hpp"
#include "listio/server/small_files.hpp"
#include "random_lists.hpp"
#include "service.hpp"

namespace {

/// System calls of the servers' stores, which are threads of this process, that fail.
struct CallFault {
  std::atomic<int> error = 0;  ///< 0: none
  std::atomic<int> left = 0;   ///< calls that still succeed
  std::atomic<int> hits = 0;

  void arm(int with, int after) {
    hits = 0;
    left = after;
    error = with;
  }
  bool disarm() {
    error = 0;
    return hits > 0;
  }
  bool fails() {
    const int with = error;
    if (with == 0 || left.fetch_sub(1) > 0) return false;
    ++hits;
    errno = with;
    return true;
  }
};
CallFault opening, writing, listing;

}  // namespace

// In the place of the C library's.
extern "C" ssize_t pwritev(int descriptor, const iovec* pieces, int count, off_t offset) {
  if (writing.fails()) return -1;
  return ::syscall(SYS_pwritev, descriptor, pieces, count, offset, 0);
}
extern "C" ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset) {
  if (writing.fails()) return -1;
  return ::syscall(SYS_pwrite64, descriptor, bytes, count, offset);
}
extern "C" int fallocate(int descriptor, int mode, off_t offset, off_t bytes) {
  if (writing.fails()) return -1;
  return static_cast<int>(::syscall(SYS_fallocate, descriptor, mode, offset, bytes));
}
extern "C" dirent* readdir(DIR* stream) {
  static const auto real = reinterpret_cast<dirent* (*)(DIR*)>(::dlsym(RTLD_NEXT, "readdir"));
  return listing.fails() ? nullptr : real(stream);
}
extern "C" int openat(int folder, const char* path, int flags, ...) {
  if (opening.fails()) return -1;
  va_list rest;
  va_start(rest, flags);
  const int mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, int) : 0;
  va_end(rest);
  return static_cast<int>(::syscall(SYS_openat, folder, path, flags, mode));
}

namespace strider::listio {
namespace {

using std::chrono::milliseconds;
using Bytes = std::vector<std::byte>;
using Kind = ProxyFault::Kind;
using Way = ProxyFault::Way;

/// A volume whose clients reach its servers through proxies.
class FaultyService {
 public:
  FaultyService(std::uint32_t servers, const ServerOptions& options) : service_(servers, options) {
    volume_ = service_.volume();
    for (std::string& server : volume_.servers) {
      proxies_.push_back(std::make_unique<FaultyProxy>(server));
      server = proxies_.back()->address();
    }
  }
  const Volume& volume() const { return volume_; }
  FaultyProxy& proxy(std::size_t server) { return *proxies_[server]; }
  std::uint32_t servers() const { return static_cast<std::uint32_t>(proxies_.size()); }

 private:
  Service service_;
  Volume volume_;
  std::vector<std::unique_ptr<FaultyProxy>> proxies_;
};

ServerOptions server_options(std::string_view transport) {
  ServerOptions options;
  options.transport = transport;
  options.buffer_bytes = 8192;
  options.most_runs = 16;
  return options;
}

ClientOptions client_options(Method method) {
  ClientOptions options;
  options.method = method;
  options.threshold_bytes = 300;
  options.patience = milliseconds(30'000);
  return options;
}

/// Whether an action succeeds. If not, its error has to name a server.
bool succeeds(const Volume& volume, const std::function<void()>& action) {
  try {
    action();
    return true;
  } catch (const IoError& error) {
    const std::string text = error.what();
    const auto is_named = [&](const std::string& server) { return text.find(server) != std::string::npos; };
    EXPECT_TRUE(std::ranges::any_of(volume.servers, is_named) && text.find("server ") != std::string::npos) << text;
    return false;
  }
}

// --- random lists ---

/// What happened to the lists of a test.
struct Tally {
  std::map<std::string, std::array<int, 2>> faults;  ///< by name: happened, and failed a call
  int lists = 0;
  void print(const std::string& title) const {
    std::printf("%s: %d lists", title.c_str(), lists);
    for (const auto& [name, counts] : faults) std::printf("; %s %d (%d failed)", name.c_str(), counts[0], counts[1]);
    std::printf("\n");
  }
};

/// A file, its written data, and faults.
class FaultyOracle {
 public:
  static constexpr std::uint64_t file_bytes = 1 << 16, most_list_bytes = 20'000;

  FaultyOracle(FaultyService& service, Client& client, Dice& dice, Tally& tally, int number)
      : service_(service), client_(client), dice_(dice), tally_(tally), content_(4 * file_bytes) {
    const auto servers = static_cast<std::uint32_t>(dice.roll(1, service.servers()));
    const Spreading spreading{dice.roll(1, dice.one_in(2) ? 100 : 20'000), servers, 0};
    file_ = client.open("file-" + std::to_string(number), Creation::exclusive, 0644, spreading);
  }

  void step() {
    ++tally_.lists;
    const std::uint64_t bytes = dice_.roll(1, dice_.one_in(4) ? most_list_bytes : 2000);
    do runs_ = random_runs(dice_, bytes, dice_.roll(1, 3000), dice_.one_in(3) ? 0 : dice_.roll(0, 60));
    while (runs_.back().end() > file_bytes);
    if (dice_.one_in(3)) runs_ = shuffled(dice_, runs_);
    if (dice_.one_in(4))  // runs that overlap
      for (ByteRun& run : runs_) run.offset = dice_.roll(0, bytes);
    memory_.resize(bytes);
    pieces_.clear();
    for (std::uint64_t done = 0; done < bytes;) {
      const std::uint64_t length = std::min(bytes - done, dice_.roll(1, dice_.one_in(2) ? 100 : 5000));
      pieces_.push_back({memory_.data() + done, length});
      done += length;
    }
    arm();
    if (dice_.one_in(2)) write();
    else read();
  }
  void finish() {
    disarm(false);
    EXPECT_EQ(client_.size(file_), end_);
    client_.unlink(file_.path);
  }

 private:
  // --- faults ---

  void arm() {
    proxy_ = &service_.proxy(dice_.roll(0, file_.striping.servers() - 1));
    const Way way = dice_.one_in(2) ? Way::to_server : Way::to_client;
    const std::uint64_t byte = dice_.roll(0, dice_.one_in(2) ? 100 : 2000);
    switch (dice_.roll(0, 7)) {
      case 0: return arm("cut", {Kind::cut, way, byte, {}});
      case 1: return arm("delay", {Kind::delay, way, byte, milliseconds(dice_.roll(1, 5))});
      case 2: return arm("duplicate", {Kind::duplicate, way, dice_.roll(0, 3), {}});
      case 3: name_ = "ENOSPC"; return writing.arm(ENOSPC, static_cast<int>(dice_.roll(0, 6)));
      case 4: name_ = "EMFILE"; return opening.arm(EMFILE, static_cast<int>(dice_.roll(0, 2)));
      default: name_ = "none";
    }
  }
  void arm(const char* name, const ProxyFault& fault) {
    name_ = name;
    proxy_->arm(fault);
  }
  void disarm(bool has_failed) {
    const bool of_connection = proxy_ != nullptr && proxy_->disarm();
    const bool of_calls = static_cast<int>(writing.disarm()) + static_cast<int>(opening.disarm()) > 0;
    if (name_.empty()) return;
    const bool is_of_calls = name_ == "ENOSPC" || name_ == "EMFILE";
    auto& counts = tally_.faults[name_];
    counts[0] += name_ == "none" || (is_of_calls ? of_calls : of_connection) ? 1 : 0;
    counts[1] += has_failed ? 1 : 0;
    name_.clear();
    // The client may hear of it now.
    if (of_connection && !succeeds(service_.volume(), [&] { client_.size(file_); })) client_.size(file_);
  }

  // --- lists ---

  void write() {
    for (std::byte& each : memory_) each = static_cast<std::byte>(dice_.roll(0, 255));
    const auto write_all = [&] { client_.write_list(file_, pieces_, runs_); };
    const bool is_done = succeeds(service_.volume(), write_all);
    disarm(!is_done);
    if (!is_done) {
      expect_old_or_new();
      write_all();
    }
    each_byte([&](std::uint64_t at, std::byte value) { content_[at] = value; });
    for (const ByteRun& run : runs_)
      if (run.length > 0) end_ = std::max(end_, run.end());
    std::ranges::fill(memory_, std::byte{0xa5});
    client_.read_list(file_, pieces_, runs_);
    expect_content();
  }

  void read() {
    std::ranges::fill(memory_, std::byte{0xa5});
    std::uint64_t before_end = 0, found = 0;
    for (const ByteRun& run : runs_)
      if (run.offset < end_) before_end += std::min(run.length, end_ - run.offset);
    const auto read_all = [&] { found = client_.read_list(file_, pieces_, runs_); };
    const bool is_done = succeeds(service_.volume(), read_all);
    disarm(!is_done);
    if (!is_done) read_all();
    EXPECT_EQ(found, before_end);
    expect_content();
  }

  /// Calls `action(offset in the file, its byte of the list)`.
  template <typename Action>
  void each_byte(const Action& action) const {
    std::size_t done = 0;
    for (const ByteRun& run : runs_)
      for (std::uint64_t i = 0; i < run.length; ++i) action(run.offset + i, memory_[done++]);
  }
  void expect_content() const {
    std::size_t wrong = 0;
    // Beyond the end memory stays as it is, unless an earlier attempt has failed.
    const auto is_right = [&](std::uint64_t at, std::byte value) {
      return value == content_[at] || (at >= end_ && value == std::byte{0xa5});
    };
    each_byte([&](std::uint64_t at, std::byte value) { wrong += is_right(at, value) ? 0 : 1; });
    EXPECT_EQ(wrong, 0U) << "bytes";
  }
  void expect_old_or_new() {
    Bytes now(content_.size());
    client_.read(file_, now, 0);
    std::vector<bool> is_known(now.size());
    for (std::size_t at = 0; at < now.size(); ++at) is_known[at] = now[at] == content_[at];
    each_byte([&](std::uint64_t at, std::byte value) { is_known[at] = is_known[at] || now[at] == value; });
    const auto unknown = std::ranges::find(is_known, false);
    ASSERT_TRUE(unknown == is_known.end()) << "byte " << unknown - is_known.begin() << " is neither old nor new";
  }

  FaultyService& service_;
  Client& client_;
  Dice& dice_;
  Tally& tally_;
  File file_;
  FaultyProxy* proxy_ = nullptr;
  std::string name_;
  Bytes content_, memory_;
  std::uint64_t end_ = 0;
  std::vector<ByteRun> runs_;
  std::vector<iovec> pieces_;
};

/// So many, or those of the long version.
int wanted(const char* variable, int few) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? few : std::atoi(text);
}

/// Files behind an unreadable name would be taken for missing ones.
TEST(ListingTest, FailsWhereADirectoryCannotBeRead) {
  const TemporaryFolder place;
  const Descriptor folder(::open(place.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_TRUE(folder);
  ASSERT_EQ(write_file(folder.get(), "one", "", 0600), 0);
  std::vector<std::string> names;
  listing.arm(EIO, 1);
  const Errno error = list_names(folder.get(), names);
  EXPECT_TRUE(listing.disarm());
  EXPECT_EQ(error, EIO);
  names.clear();
  errno = EIO;  // of an earlier call
  EXPECT_EQ(list_names(folder.get(), names), 0);
  EXPECT_EQ(names, std::vector<std::string>{"one"});
}

class FaultyListsTest : public testing::TestWithParam<std::tuple<std::string_view, Method>> {};

TEST_P(FaultyListsTest, MoveTheRightBytesOrFailAndAreRepeated) {
  const auto& [transport, method] = GetParam();
  const int lists = wanted("STRIDER_FAULTY_LISTS", 150);
  FaultyService service(4, server_options(transport));
  Client client(service.volume(), client_options(method));
  client.connect();
  Dice dice(static_cast<std::uint64_t>(method) * 31 + transport.size());
  Tally tally;
  for (int number = 0; tally.lists < lists; ++number) {
    FaultyOracle oracle(service, client, dice, tally, number);
    for (int step = 0; step < 6; ++step) {
      oracle.step();
      if (HasFailure()) FAIL() << "at list " << tally.lists;
    }
    oracle.finish();
  }
  tally.print(std::string(transport) + " " + std::string(name_of(method)));
  for (const char* const name : {"cut", "delay", "duplicate", "ENOSPC", "EMFILE"})
    EXPECT_GT(tally.faults[name][0], 0) << name << " never happened";
}

INSTANTIATE_TEST_SUITE_P(All, FaultyListsTest,
                         testing::Combine(testing::Values("cma", "tcp"),
                                          testing::Values(Method::multiple, Method::pack, Method::gather,
                                                          Method::hybrid)),
                         [](const auto& each) {
                           return std::string(std::get<0>(each.param)) + "_" +
                                  std::string(name_of(std::get<1>(each.param)));
                         });

// --- every position ---

/// The same calls of a new client again and again, each time with another fault.
class EveryPositionTest : public testing::TestWithParam<std::string_view> {
 protected:
  EveryPositionTest() : service_(1, server_options(GetParam())) {
    Client client(service_.volume(), client_options(Method::pack));
    file_ = client.open("file", Creation::exclusive);
  }

  struct Outcome {
    bool failed = false;     ///< a call did
    bool connected = false;  ///< again, after the first time
  };

  /// Reads, writes, and meets the rest of the fault.
  Outcome outcome(const ProxyFault& fault) {
    ++value_;
    const std::uint64_t before = service_.proxy(0).connections();
    Client client(service_.volume(), client_options(Method::gather));
    Bytes memory(bytes), expected(bytes, value());
    service_.proxy(0).arm(fault);
    bool failed = !attempt([&] { transfer(client, memory, false); });
    EXPECT_EQ(memory, Bytes(bytes, old_));
    memory = expected;
    failed |= !attempt([&] { transfer(client, memory, true); });
    old_ = value();
    memory.assign(bytes, std::byte{});
    failed |= !attempt([&] { transfer(client, memory, false); });
    EXPECT_EQ(memory, expected);
    sent_ = service_.proxy(0).bytes(Way::to_server);
    received_ = service_.proxy(0).bytes(Way::to_client);
    for (int i = 0; i < 2; ++i) failed |= !attempt([&] { EXPECT_EQ(client.size(file_), runs_.back().end()); });
    return {failed, service_.proxy(0).connections() > before + 1};
  }
  std::uint64_t bytes_of(Way way) const { return way == Way::to_server ? sent_ : received_; }

  FaultyService service_;

 private:
  static constexpr std::size_t bytes = 120;
  std::byte value() const { return static_cast<std::byte>(value_); }

  void transfer(Client& client, Bytes& memory, bool writes) {
    const iovec pieces[2] = {{memory.data(), 50}, {memory.data() + 50, bytes - 50}};
    if (writes) client.write_list(file_, pieces, runs_);
    else client.read_list(file_, pieces, runs_);
  }
  /// Does it, and once more if it fails. Whether it succeeded at first.
  bool attempt(const std::function<void()>& action) {
    if (succeeds(service_.volume(), action)) return true;
    service_.proxy(0).disarm();
    action();
    return false;
  }

  const std::vector<ByteRun> runs_{{10, 40}, {100, 50}, {5000, 30}};
  File file_;
  unsigned value_ = 0;
  std::byte old_{};
  std::uint64_t sent_ = 0, received_ = 0;
};

TEST_P(EveryPositionTest, OfACutIsSurvived) {
  ASSERT_FALSE(outcome({}).connected);
  std::uint64_t cuts = 0, failures = 0;
  const auto step = static_cast<std::uint64_t>(wanted("STRIDER_FAULT_STEP", 3));
  for (const Way way : {Way::to_server, Way::to_client}) {
    ASSERT_FALSE(outcome({}).connected);
    const std::uint64_t all = bytes_of(way);
    for (std::uint64_t position = 0; position < all; position += step) {
      ++cuts;
      failures += outcome({Kind::cut, way, position, {}}).failed ? 1 : 0;
      if (HasFailure())
        FAIL() << "cut after " << position << " bytes to the " << (way == Way::to_server ? "server" : "client");
    }
  }
  EXPECT_EQ(failures, cuts) << "no cut goes unnoticed";
  std::printf("%zu cuts\n", static_cast<std::size_t>(cuts));
}

TEST_P(EveryPositionTest, OfARepeatedFrameEndsTheConnection) {
  for (const Way way : {Way::to_server, Way::to_client}) {
    ASSERT_FALSE(outcome({}).connected);
    const std::uint64_t all = service_.proxy(0).frames(way);
    for (std::uint64_t number = 0; number + 2 < all; ++number) {  // the last two ask for the size
      const bool connected = outcome({Kind::duplicate, way, number, {}}).connected;
      const auto repeated = service_.proxy(0).repeated();
      ASSERT_TRUE(repeated.has_value());
      // Of a put, the same bytes come to the same place again; a client asks for no more buffers than it may have.
      const bool is_harmless = repeated->kind == Frame::Kind::put ||
                               repeated->message == static_cast<std::uint32_t>(MessageKind::request_buffers);
      EXPECT_EQ(connected, !is_harmless) << "frame " << number << " of kind " << static_cast<int>(repeated->kind)
                                         << " to the " << (way == Way::to_server ? "server" : "client");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryPositionTest, testing::Values("cma", "tcp"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace strider::listio
