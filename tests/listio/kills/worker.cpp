#include "worker.hpp"

#include <poll.h>
#include <unistd.h>

#include <iostream>
#include <span>
#include <thread>

#include "foundation/json_text.hpp"

namespace strider::listio {
namespace {

constexpr std::uint64_t most_blocks = 256;  // of a client
constexpr std::size_t most_names = 16;
constexpr std::size_t most_mistakes = 20;
constexpr std::size_t words_of_block = block / sizeof(std::uint64_t);

/// A word of a block: identifies the block, its version and the place of the word.
std::uint64_t word_of(std::uint64_t number, std::uint64_t version, std::uint64_t word) {
  if (version == 0) return 0;
  return word == 0 ? version : (number << 40U) ^ (version << 16U) ^ word;
}

std::int64_t now_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

std::uint64_t blocks_of(const std::vector<Piece>& pieces) {
  std::uint64_t blocks = 0;
  for (const Piece& piece : pieces) blocks += piece.count;
  return blocks;
}

template <typename Each>
void for_each_block(const std::vector<Piece>& pieces, const Each& each) {
  std::size_t place = 0;
  for (const Piece& piece : pieces)
    for (std::uint64_t own = piece.first; own < piece.first + piece.count; ++own) each(own, place++);
}

template <typename List, typename Text>
std::string list_text(const List& list, const Text& text) {
  std::string all = "[";
  for (const char* comma = ""; const auto& each : list) {
    all += comma + text(each);
    comma = ", ";
  }
  return all + "]";
}

std::string interval_text(const std::pair<std::int64_t, std::int64_t>& interval) {
  return "[" + std::to_string(interval.first) + ", " + std::to_string(interval.second) + "]";
}

}  // namespace

bool has_input() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return ::poll(&input, 1, 0) != 0;
}

void work(Storage& storage, const Workload& workload) {
  Worker worker(storage, workload);
  std::cout << "ready\n" << std::flush;
  while (!has_input()) worker.step();
  worker.sync_all();
  worker.check_all();
  std::cout << worker.json() << "\n" << std::flush;
}

Worker::Worker(Storage& storage, const Workload& workload)
    : storage_(storage),
      workload_(workload),
      random_(workload.seed * 1000 + workload.places.client),
      possible_(most_blocks, std::set<Version>{0}) {}

void Worker::step() {
  if (random_() % workload_.steps_of_sync == 0) sync();
  else step_alone();
}

void Worker::step_alone() {
  switch (random_() % 16) {
    case 0: change_name(); break;
    case 1: look_at_name(random_() % most_names); break;
    default:
      if (random_() % 2 == 0) write();
      else read();
  }
}

void Worker::sync_all() {
  repeat("the shared file after a sync", [&] { return sync(); });
}

void Worker::check_all() {
  repeat("the shared file", [&] { return succeeds([&] { storage_.reopen(); }); });
  for (std::uint64_t i = 0; i < most_blocks; i += 8)
    repeat("blocks from " + std::to_string(i), [&] { return read_pieces({{i, 8}}); });
  for (std::size_t i = 0; i < most_names; ++i) repeat(name_of(i), [&] { return look_at_name(i); });
  check_syncs();
}

std::string Worker::json() const {
  std::string text = R"({"calls": )" + std::to_string(calls_) + R"(, "failed": )" + std::to_string(failed_) +
                     R"(, "blocks_compared": )" + std::to_string(compared_) + R"(, "longest_ms": )" +
                     std::to_string(longest_.count()) + R"(, "patience_ms": )" +
                     std::to_string(workload_.patience.count()) + R"(, "failed_transfers": )" +
                     std::to_string(failed_transfers_) + R"(, "losses": )" + std::to_string(losses_);
  text += R"(, "mistakes": )" + list_text(mistakes_, json_text);
  text += R"(, "syncs": )" + list_text(syncs_, interval_text);
  text += R"(, "promises": )" + list_text(promises_, interval_text);
  text += R"(, "errors": {)";
  for (const char* comma = ""; const auto& [error, times] : errors_) {
    text += comma + json_text(error) + ": " + list_text(times, [](std::int64_t time) { return std::to_string(time); });
    comma = ", ";
  }
  return text + "}}";
}

/// Whether the call succeeded.
template <typename Call>
bool Worker::succeeds(const Call& call, bool* is_loss) {
  const auto begin = std::chrono::steady_clock::now();
  bool is_done = false;
  ++calls_;
  try {
    call();
    is_done = true;
  } catch (const CallFailed& error) {
    ++failed_;
    if (error.is_loss()) ++losses_;
    if (is_loss != nullptr) *is_loss = error.is_loss();
    errors_[error.what()].insert(now_ms() / 100);
  }
  const auto took = std::chrono::steady_clock::now() - begin;
  longest_ = std::max(longest_, std::chrono::duration_cast<std::chrono::milliseconds>(took));
  return is_done;
}

/// All servers run again: a permanent loss is a mistake.
template <typename Look>
void Worker::repeat(const std::string& what, const Look& look) {
  constexpr int most_attempts = 100;
  for (int i = 0; i < most_attempts; ++i) {
    if (look()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  note_mistake(what + " cannot be read");
}

void Worker::note_mistake(const std::string& text) {
  if (mistakes_.size() < most_mistakes) mistakes_.push_back(text);
}

bool Worker::sync() {
  const std::int64_t begin_ms = now_ms();
  bool is_loss = false;
  const bool is_done = succeeds([&] { storage_.sync(); }, &is_loss);
  if (is_done) syncs_.emplace_back(begin_ms, now_ms());
  if (is_done && unsynced_since_ms_ != 0) promises_.emplace_back(unsynced_since_ms_, begin_ms);
  if (!is_done && !is_loss) return false;
  unsynced_servers_.clear();
  unsynced_since_ms_ = 0;
  return true;
}

/// All servers are connected: what may be lost is reported once.
void Worker::check_syncs() {
  sync();
  write();
  if (!succeeds([&] { storage_.sync(); })) note_mistake("a sync fails, but no server was killed since");
}

// --- blocks ---

std::vector<Piece> Worker::some_pieces() {
  std::set<std::uint64_t> chosen;
  std::vector<Piece> pieces;
  for (std::uint64_t left = 1 + random_() % workload_.most_pieces; left > 0; --left) {
    const std::uint64_t first = random_() % most_blocks;
    std::uint64_t end = first;
    const std::uint64_t wanted = std::min(most_blocks, first + 1 + random_() % workload_.most_blocks_of_piece);
    while (end < wanted && chosen.insert(end).second) ++end;
    if (end > first) pieces.push_back({first, end - first});
  }
  return pieces;
}

void Worker::write() {
  const std::vector<Piece> pieces = some_pieces();
  const Version version = ++last_version_;
  std::vector<std::uint64_t> words(blocks_of(pieces) * words_of_block);
  for_each_block(pieces, [&](std::uint64_t own, std::size_t place) {
    for (std::size_t word = 0; word < words_of_block; ++word)
      words[place * words_of_block + word] = word_of(workload_.places.block_number(own), version, word);
  });
  const bool is_done = succeeds([&] { storage_.write(pieces, std::as_bytes(std::span(words))); });
  if (is_done) note_written(pieces);
  else ++failed_transfers_;
  for_each_block(pieces, [&](std::uint64_t own, std::size_t) {
    if (is_done) possible_[own].clear();
    possible_[own].insert(version);
  });
}

void Worker::note_written(const std::vector<Piece>& pieces) {
  for_each_block(pieces, [&](std::uint64_t own, std::size_t) {
    unsynced_servers_.insert(workload_.places.block_number(own) / workload_.blocks_of_strip % workload_.servers);
  });
  if (unsynced_since_ms_ == 0 && unsynced_servers_.size() == workload_.servers) unsynced_since_ms_ = now_ms();
}

/// Whether they could be read.
bool Worker::read_pieces(const std::vector<Piece>& pieces) {
  std::vector<std::uint64_t> words(blocks_of(pieces) * words_of_block, ~std::uint64_t{0});
  if (!succeeds([&] { storage_.read(pieces, std::as_writable_bytes(std::span(words))); })) {
    ++failed_transfers_;
    return false;
  }
  for_each_block(pieces, [&](std::uint64_t own, std::size_t place) { compare(own, &words[place * words_of_block]); });
  return true;
}

/// Read data is the block's content from now on.
void Worker::compare(std::uint64_t own, const std::uint64_t* words) {
  ++compared_;
  const std::uint64_t number = workload_.places.block_number(own);
  const Version found = words[0];
  bool is_whole = true;
  for (std::size_t word = 0; word < words_of_block; ++word) is_whole &= words[word] == word_of(number, found, word);
  if (!is_whole || !possible_[own].contains(found))
    note_mistake("block " + std::to_string(number) + " has version " + std::to_string(found) +
                 (is_whole ? ", but was last written as " : " in part, last written as ") +
                 std::to_string(*possible_[own].rbegin()));
  possible_[own] = {found};
}

// --- names ---

std::string Worker::name_of(std::size_t name) const {
  return std::to_string(workload_.places.client) + "-" + std::to_string(name);
}

std::set<bool>& Worker::possible_state(std::size_t name) {
  return names_.try_emplace(name, std::set<bool>{false}).first->second;
}

void Worker::change_name() {
  const std::size_t name = random_() % most_names;
  const bool makes = random_() % 2 == 0;
  const bool is_done = succeeds([&] {
    if (makes) storage_.make_file(name_of(name), data_);
    else storage_.remove_file(name_of(name));
  });
  std::set<bool>& possible = possible_state(name);
  if (is_done) possible.clear();
  possible.insert(makes);
}

/// Whether the server could say if it is there.
bool Worker::look_at_name(std::size_t name) {
  bool found = false;
  if (!succeeds([&] { found = storage_.exists(name_of(name)); })) return false;
  std::set<bool>& possible = possible_state(name);
  if (!possible.contains(found))
    note_mistake("file " + name_of(name) + (found ? " is there, but was removed" : " was made, but is gone"));
  possible = {found};
  return true;
}

}  // namespace strider::listio
