// Requests of every kind, in valid frames, with numbers around every power of two: no memory and no time follows them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <fstream>
#include <sstream>

#include "client_calls.hpp"
#include "listio/protocol/parse.hpp"
#include "random_lists.hpp"
#include "server/server_process.hpp"

namespace strider::listio {
namespace {

using std::chrono::seconds;

/// Of each volume; STRIDER_VALUE_REQUESTS sets another number.
std::uint64_t most_requests() {
  const char* const text = std::getenv("STRIDER_VALUE_REQUESTS");
  return text == nullptr ? 40'000 : std::strtoull(text, nullptr, 10);
}

/// Around a power of two, or the largest number.
std::uint64_t any_number(Dice& dice) {
  const std::uint64_t power = std::uint64_t{1} << dice.roll(0, 63);
  return dice.one_in(40) ? ~std::uint64_t{0} : power + dice.roll(0, 2) - 1;
}

/// One that a file can have, most of the time: a server ends connections for the others.
std::uint64_t any_offset(Dice& dice) {
  const std::uint64_t number = any_number(dice);
  return dice.one_in(200) ? number : number & most_file_bytes;
}

/// Few files have data, as each page of their checksums that is in use stays in memory up to a limit.
FileId any_file(Dice& dice) {
  if (dice.one_in(50)) return std::max<std::uint64_t>(any_number(dice), 1);
  return dice.roll(1, 8);
}

std::string any_path(Dice& dice) {
  const std::vector<std::string> paths{"", "a", "b", "d", "d/a", "d/e", "d/e/f", "no/such"};
  return paths[dice.roll(0, paths.size() - 1)];
}

/// Within a file, or not; runs of a lock do not overlap.
std::vector<ByteRun> any_ranges(Dice& dice) {
  std::vector<ByteRun> ranges;
  std::uint64_t begin = any_offset(dice);
  for (std::uint64_t i = dice.one_in(20) ? dice.roll(1, most_lock_ranges) : dice.roll(1, 3); i > 0; --i) {
    std::uint64_t length = std::max<std::uint64_t>(any_offset(dice) >> dice.roll(0, 63), 1);
    if (!dice.one_in(200)) length = std::min(length, most_file_bytes - std::min(begin, most_file_bytes - 1));
    ranges.push_back({begin, length});
    begin += length + dice.roll(0, 4096);
    if (begin >= most_file_bytes) break;
  }
  return ranges;
}

/// A length that fits into a buffer, most of the time.
std::vector<ByteRun> any_runs(Dice& dice, std::uint64_t buffer_bytes) {
  std::vector<ByteRun> runs;
  const std::uint64_t count = dice.one_in(20) ? dice.roll(1, 128) : dice.roll(1, 3);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t most = buffer_bytes / count;
    ByteRun run{any_offset(dice), std::min(any_number(dice) >> dice.roll(0, 60), most)};
    if (!dice.one_in(200)) {
      run.length = std::max<std::uint64_t>(run.length, 1);
      run.offset = std::min(run.offset, most_file_bytes - run.length);
    }
    runs.push_back(run);
  }
  return runs;
}

LayoutWords any_layout(Dice& dice) {
  return {static_cast<std::uint32_t>(any_number(dice)), static_cast<std::uint32_t>(any_number(dice)), any_number(dice)};
}

/// Every field that a request has.
template <typename Body>
void fill(Dice& dice, Body& body, std::uint64_t buffer_bytes) {
  const auto word = [&] { return static_cast<std::uint32_t>(any_number(dice)); };
  if constexpr (requires { body.file; }) body.file = any_file(dice);
  if constexpr (requires { body.buffer; }) body.buffer = dice.one_in(500) ? word() : 0;
  if constexpr (requires { body.runs; }) body.runs = any_runs(dice, buffer_bytes);
  if constexpr (requires { body.ranges; }) body.ranges = any_ranges(dice);
  if constexpr (requires { body.range; }) body.range = any_ranges(dice).front();
  if constexpr (requires { body.bytes; }) body.bytes = any_offset(dice);
  if constexpr (requires { body.path; }) body.path = any_path(dice);
  if constexpr (requires { body.from; }) body.from = any_path(dice), body.to = any_path(dice);
  if constexpr (requires { body.text; }) body.text = "text";
  if constexpr (requires { body.creation; }) body.creation = static_cast<Creation>(dice.roll(0, 2));
  if constexpr (requires { body.mode; }) body.mode = word() & 07777;
  if constexpr (requires { body.layout; }) body.layout = any_layout(dice);
  if constexpr (requires { body.cookie; }) body.cookie = any_number(dice);
  if constexpr (requires { body.part; }) body.part = static_cast<SyncNamesRequest::Part>(dice.roll(1, 2));
  if constexpr (requires { body.modified_ns; }) body.modified_ns = static_cast<std::int64_t>(any_number(dice));
  if constexpr (requires { body.cell; }) body.cell = any_number(dice);
  if constexpr (requires { body.addend; }) body.addend = static_cast<std::int64_t>(any_number(dice));
  if constexpr (requires { body.value; }) body.value = static_cast<std::int64_t>(any_number(dice));
  if constexpr (requires { body.owner; }) body.owner = any_number(dice);
  if constexpr (requires { body.kind; }) body.kind = static_cast<decltype(body.kind)>(dice.roll(0, 2));
  if constexpr (requires { body.patience_ms; }) body.patience_ms = word();
  if constexpr (requires { body.waiting; }) body.waiting = any_number(dice);
  if constexpr (requires { body.repair; }) body.repair = static_cast<NameRepair>(dice.roll(1, 5));
  if constexpr (requires { body.generation; }) body.generation = any_number(dice);
  if constexpr (requires { body.first; }) body.first = any_offset(dice) / (dice.one_in(100) ? 1 : block_bytes);
  if constexpr (requires { body.blocks; })
    body.blocks = dice.one_in(100) ? word() : static_cast<std::uint32_t>(dice.roll(1, 16));
  if constexpr (requires { body.suspect; }) body.suspect = word();
  if constexpr (requires { body.view; }) body.view = any_number(dice);
  if constexpr (requires { body.fill; }) body.fill = any_number(dice);
  if constexpr (requires { body.server; }) body.server = word();
  if constexpr (requires { body.changed; }) body.changed = dice.one_in(2);
}

template <std::size_t candidate = 0>
Request request_of(Dice& dice, std::size_t index, std::uint64_t buffer_bytes) {
  if constexpr (candidate < std::variant_size_v<Request>) {
    if (index != candidate) return request_of<candidate + 1>(dice, index, buffer_bytes);
    Request request{std::in_place_index<candidate>};
    fill(dice, std::get<candidate>(request), buffer_bytes);
    return request;
  }
  std::abort();
}

Request any_request(Dice& dice, std::uint64_t buffer_bytes) {
  constexpr std::size_t write = 1, truncate = 4;
  const std::size_t index = dice.one_in(3)   ? write
                            : dice.one_in(8) ? truncate
                                             : dice.roll(0, std::variant_size_v<Request> - 1);
  return request_of(dice, index, buffer_bytes);
}

/// A client that knows the secret and says anything. The server may end its connection, but has to answer otherwise.
class AnyClient final : TransportEvents {
 public:
  AnyClient(const Volume& volume, std::uint32_t server) : volume_(volume), server_(server) { connect(); }

  void say(Dice& dice, bool names_targets) {
    if (state_ == State::ended) connect();
    const NumberedRequest request{++number_, any_request(dice, welcome_.buffer_bytes),
                                  names_targets ? any_target(dice) : Target{}};
    transport_->send(peer_, write_message(request));
    if (is_coordination(request.request)) return;  // it may wait for another one's lock
    under_way_.insert(number_);
    wait([this] { return under_way_.size() < 16; });
  }
  void finish() {
    wait([this] { return under_way_.empty(); });
  }
  std::uint64_t replies() const { return replies_; }
  std::uint64_t endings() const { return endings_; }

 private:
  enum class State { greeting, up, ended };

  static Target any_target(Dice& dice) {
    Target target;
    target.copy = dice.one_in(2) ? DataCopy::second : DataCopy::first;
    target.alone = dice.one_in(4);
    target.view = dice.one_in(4) ? 0 : any_number(dice);
    target.fill = dice.one_in(8) ? any_number(dice) : 0;
    return target;
  }
  void connect() {
    transport_ = make_transport("tcp", {});
    peer_ = transport_->connect(volume_.servers[server_], in(seconds(60)));
    state_ = State::greeting;
    number_ = 0;
    under_way_.clear();
    nonce_ = make_nonce();
    transport_->send(peer_, write_message(Hello{protocol_version, server_, nonce_, 0, 30'000, "anything"}));
    wait([this] { return has_buffer_; });
    ASSERT_TRUE(has_buffer_) << "not let in";
  }
  template <typename Condition>
  void wait(const Condition& condition) {
    const Deadline deadline = in(seconds(120));
    while (state_ != State::ended && !condition()) {
      ASSERT_FALSE(has_passed(deadline)) << "no answer to " << under_way_.size() << " requests";
      transport_->progress(*this, until(deadline));
    }
  }
  void end() {
    state_ = State::ended;
    has_buffer_ = false;
    ++endings_;
  }

  void connected(Peer) override {}
  void completed(Peer, std::uint64_t) override {}
  void closed(Peer, const std::string&) override {
    if (state_ != State::ended) end();
  }
  void received(Peer, std::span<const std::byte> message) override {
    const auto parsed = parse_server_message(message);
    const auto* const said = std::get_if<ServerMessage>(&parsed);
    ASSERT_NE(said, nullptr);
    if (const auto* const challenge = std::get_if<Challenge>(said))
      transport_->send(peer_,
                       write_message(Proof{prove(volume_.secret, Role::client, server_, nonce_, challenge->nonce)}));
    if (const auto* const welcome = std::get_if<Welcome>(said)) {
      welcome_ = *welcome;
      transport_->send(peer_, write_message(BufferRequest{1}));
    }
    if (std::holds_alternative<Grant>(*said)) has_buffer_ = true;
    if (std::holds_alternative<Refusal>(*said)) end();
    if (const auto* const reply = std::get_if<Reply>(said)) {
      ++replies_;
      under_way_.erase(reply->number);
    }
  }

  const Volume& volume_;
  const std::uint32_t server_;
  std::unique_ptr<Transport> transport_;
  Peer peer_ = 0;
  State state_ = State::ended;
  Nonce nonce_{};
  Welcome welcome_;
  bool has_buffer_ = false;
  std::uint64_t number_ = 0, replies_ = 0, endings_ = 0;
  std::set<std::uint64_t> under_way_;  ///< that have to be answered
};

std::uint64_t memory_kib(pid_t process, const std::string& field) {
  std::ifstream file("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(field + ":")) return std::stoull(line.substr(field.size() + 1));
  ADD_FAILURE() << "process " << process << " has ended";
  return 0;
}

class ValuesTest : public testing::TestWithParam<std::uint32_t> {};

TEST_P(ValuesTest, NoNumberInARequestEndsAServerOrTakesItsMemory) {
  constexpr std::uint64_t most_kib = 64 * 1024;
  const std::uint32_t copies = GetParam();
  // Small buffers: those of connections that are about to end count too.
  ServerProcesses servers(copies, "tcp", {}, copies, {"--buffer-bytes", "65536"});
  Client client(servers.volume(), patient(seconds(60)));
  const std::vector<std::byte> kept = random_bytes(300'000, 7);
  const File file = client.open("kept", Creation::exclusive);
  client.write(file, kept, 0);
  const std::uint64_t before = memory_kib(servers.process(0), "VmRSS");
  Dice dice(37);
  std::uint64_t replies = 0;
  for (std::uint32_t server = 0; server < copies && !HasFatalFailure(); ++server) {
    AnyClient any(servers.volume(), server);
    for (std::uint64_t i = 0; i < most_requests() / copies && !HasFatalFailure(); ++i) any.say(dice, copies > 1);
    any.finish();
    replies += any.replies();
    EXPECT_LT(any.endings(), most_requests() / copies / 10) << "nearly all of it was refused";
  }
  EXPECT_GT(replies, most_requests() / 2);
  const std::uint64_t most = memory_kib(servers.process(0), "VmHWM");
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // which take memory of their own
  EXPECT_LE(most, before + most_kib);
#endif
  RecordProperty("memory_kib", std::to_string(most - before));
  EXPECT_EQ(contents(client, file), kept);
}

INSTANTIATE_TEST_SUITE_P(Copies, ValuesTest, testing::Values(1, 2));

}  // namespace
}  // namespace strider::listio
