// A client of a volume whose servers are killed and started again meanwhile (tests/system/test_listio_kills.py).
//
//   strider-listio-kills VOLUME_FILE CLIENT CLIENTS SEED PATIENCE_MS
//
// Until a line is read from standard input, writes, reads and syncs lists of blocks of a file that all clients share,
// and makes and removes files of its own, each with a block. Each block has one writer, and each call that fails leaves
// what it changes in doubt until a later call shows what is there. Then reads everything, and prints a line of JSON:
// what was done, which servers errors named, and which promises were broken.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "foundation/error.hpp"
#include "foundation/json_text.hpp"
#include "listio/client/client.hpp"

namespace strider::listio {
namespace {

constexpr std::uint64_t block = 4096;
constexpr std::uint64_t most_blocks = 256;  // of a client
constexpr std::size_t most_names = 16;
using Version = std::uint64_t;  // of a block: how often it was written, 0 for zeros

/// A word of a block: tells the block, its version and the place of the word.
std::uint64_t word_of(std::uint64_t number, Version version, std::uint64_t word) {
  if (version == 0) return 0;
  return word == 0 ? version : (number << 40U) ^ (version << 16U) ^ word;
}

class Worker {
 public:
  Worker(const std::string& volume, std::uint64_t client, std::uint64_t clients, std::uint64_t seed,
         std::chrono::milliseconds patience)
      : client_(read_volume(volume), options(patience)),
        patience_(patience),
        number_(client),
        clients_(clients),
        random_(seed * 1000 + client),
        possible_(most_blocks, std::set<Version>{0}) {
    file_ = client_.open("shared", Creation::if_missing);
  }

  void step() {
    switch (random_() % 16) {
      case 0: succeeds([&] { client_.sync(file_); }); break;
      case 1: change_name(); break;
      case 2: look_at_name(random_() % most_names); break;
      default:
        if (random_() % 2 == 0) write();
        else read(some_blocks());
    }
  }

  void check_all() {
    std::vector<std::uint64_t> all(most_blocks);
    for (std::uint64_t i = 0; i < most_blocks; ++i) all[i] = i;
    for (std::size_t i = 0; i < all.size(); i += 8)
      repeat("blocks from " + std::to_string(i), [&] { return read(std::span(all).subspan(i, 8)); });
    for (std::size_t i = 0; i < most_names; ++i) repeat(name_of(i), [&] { return look_at_name(i); });
    check_syncs();
  }

  std::string json() const {
    std::string text = R"({"calls": )" + std::to_string(calls_) + R"(, "failed": )" + std::to_string(failed_) +
                       R"(, "blocks_compared": )" + std::to_string(compared_) + R"(, "longest_ms": )" +
                       std::to_string(longest_.count()) + R"(, "patience_ms": )" + std::to_string(patience_.count()) +
                       R"(, "failed_transfers": )" + std::to_string(failed_transfers_);
    const auto add = [&](const char* key, const auto& texts) {
      text += std::string(", \"") + key + "\": [";
      for (const char* comma = ""; const std::string& each : texts) {
        text += comma + json_text(each);
        comma = ", ";
      }
      text += "]";
    };
    add("mistakes", mistakes_);
    text += R"(, "losses": )" + std::to_string(losses_) + R"(, "errors": {)";
    for (const char* comma = ""; const auto& [error, times] : errors_) {
      text += comma + json_text(error) + ": [";
      for (const char* between = ""; const std::int64_t time : times) {
        text += between + std::to_string(time);
        between = ", ";
      }
      text += "]";
      comma = ", ";
    }
    return text + "}}";
  }

 private:
  static ClientOptions options(std::chrono::milliseconds patience) {
    ClientOptions options;
    options.patience = patience;
    return options;
  }
  static std::int64_t tenths_now() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count() / 100;
  }
  /// Whether the call succeeded. A call that fails has to say which server it was.
  template <typename Call>
  bool succeeds(const Call& call) {
    const auto begin = std::chrono::steady_clock::now();
    bool is_done = false;
    ++calls_;
    try {
      call();
      is_done = true;
    } catch (const IoError& error) {
      ++failed_;
      if (dynamic_cast<const LostChanges*>(&error) != nullptr) ++losses_;
      errors_["errno " + std::to_string(error.details().error_number) + ": " + error.what()].insert(tenths_now());
    }
    const auto took = std::chrono::steady_clock::now() - begin;
    longest_ = std::max(longest_, std::chrono::duration_cast<std::chrono::milliseconds>(took));
    return is_done;
  }
  /// All servers run again: what is lost for good is a mistake.
  template <typename Look>
  void repeat(const std::string& what, const Look& look) {
    constexpr int most_attempts = 100;
    for (int i = 0; i < most_attempts; ++i) {
      if (look()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    mistakes_.push_back(what + " cannot be read");
  }

  /// No server is killed any more, and all are connected: what may be lost is reported once.
  void check_syncs() {
    succeeds([&] { client_.sync(file_); });
    write();
    if (!succeeds([&] { client_.sync(file_); })) mistakes_.emplace_back("a sync fails, but no server was killed since");
  }

  // --- blocks ---

  /// Neighbours belong to other clients.
  ByteRun run_of(std::uint64_t own) const { return {(own * clients_ + number_) * block, block}; }
  std::vector<std::uint64_t> some_blocks() {
    std::set<std::uint64_t> chosen;
    for (std::uint64_t count = 1 + random_() % 8; count > 0; --count) chosen.insert(random_() % most_blocks);
    std::vector<std::uint64_t> blocks(chosen.begin(), chosen.end());
    std::shuffle(blocks.begin(), blocks.end(), random_);
    return blocks;
  }
  /// Memory for blocks, and where they lie.
  struct List {
    std::vector<std::uint64_t> words;
    std::vector<iovec> memory;
    std::vector<ByteRun> runs;
  };
  List list_of(std::span<const std::uint64_t> blocks) const {
    List list;
    list.words.resize(blocks.size() * block / sizeof(std::uint64_t), ~std::uint64_t{0});
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      list.memory.push_back({&list.words[i * block / sizeof(std::uint64_t)], block});
      list.runs.push_back(run_of(blocks[i]));
    }
    return list;
  }

  void write() {
    const std::vector<std::uint64_t> blocks = some_blocks();
    List list = list_of(blocks);
    const Version version = ++last_version_;
    constexpr std::size_t words = block / sizeof(std::uint64_t);
    for (std::size_t i = 0; i < blocks.size(); ++i)
      for (std::size_t word = 0; word < words; ++word)
        list.words[i * words + word] = word_of(run_of(blocks[i]).offset / block, version, word);
    const bool is_done = succeeds([&] { client_.write_list(file_, list.memory, list.runs); });
    if (!is_done) ++failed_transfers_;
    for (const std::uint64_t each : blocks) {
      if (is_done) possible_[each].clear();
      possible_[each].insert(version);
    }
  }

  /// Whether they could be read.
  bool read(std::span<const std::uint64_t> blocks) {
    List list = list_of(blocks);
    if (!succeeds([&] { client_.read_list(file_, list.memory, list.runs); })) {
      ++failed_transfers_;
      return false;
    }
    constexpr std::size_t words = block / sizeof(std::uint64_t);
    for (std::size_t i = 0; i < blocks.size(); ++i) compare(blocks[i], std::span(list.words).subspan(i * words, words));
    return true;
  }
  /// What was read is what the block has from now on.
  void compare(std::uint64_t own, std::span<const std::uint64_t> words) {
    ++compared_;
    const std::uint64_t number = run_of(own).offset / block;
    const Version found = words[0];
    bool is_whole = true;
    for (std::size_t word = 0; word < words.size(); ++word) is_whole &= words[word] == word_of(number, found, word);
    const bool is_right = is_whole && possible_[own].contains(found);
    if (!is_right && mistakes_.size() < 20)
      mistakes_.push_back("block " + std::to_string(number) + " has version " + std::to_string(found) +
                          (is_whole ? ", but was last written as " : " in part, last written as ") +
                          std::to_string(*possible_[own].rbegin()));
    possible_[own] = {found};
  }

  // --- names ---

  std::string name_of(std::size_t name) const { return std::to_string(number_) + "-" + std::to_string(name); }
  void change_name() {
    const std::size_t name = random_() % most_names;
    const bool makes = random_() % 2 == 0;
    std::set<bool>& possible = names_[name];
    if (possible.empty()) possible = {false};
    const bool is_done = succeeds([&] {
      if (makes) client_.write(client_.open(name_of(name), Creation::if_missing), data_, 0);
      else if (exists(name)) client_.unlink(name_of(name));
    });
    if (is_done) possible.clear();
    possible.insert(makes);
  }
  bool exists(std::size_t name) {
    try {
      client_.stat(name_of(name));
      return true;
    } catch (const IoError& error) {
      if (error.details().error_number == ENOENT) return false;
      throw;
    }
  }
  /// Whether the server could say if it is there.
  bool look_at_name(std::size_t name) {
    bool found = false;
    if (!succeeds([&] { found = exists(name); })) return false;
    std::set<bool>& possible = names_[name];
    if (possible.empty()) possible = {false};
    if (!possible.contains(found) && mistakes_.size() < 20)
      mistakes_.push_back("file " + name_of(name) + (found ? " is there, but was removed" : " was made, but is gone"));
    possible = {found};
    return true;
  }

  Client client_;
  std::chrono::milliseconds patience_;
  std::uint64_t number_, clients_;
  std::mt19937_64 random_;
  File file_;
  const std::vector<std::byte> data_{block, std::byte{1}};  ///< of each file of its own
  Version last_version_ = 0;
  std::vector<std::set<Version>> possible_;      ///< versions of each block that may be there
  std::map<std::size_t, std::set<bool>> names_;  ///< whether each may exist
  std::uint64_t calls_ = 0, failed_ = 0, failed_transfers_ = 0, losses_ = 0, compared_ = 0;
  std::chrono::milliseconds longest_{0};
  std::map<std::string, std::set<std::int64_t>> errors_;  ///< and when they were, in tenths of a second
  std::vector<std::string> mistakes_;
};

bool has_input() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return ::poll(&input, 1, 0) != 0;
}

}  // namespace
}  // namespace strider::listio

int main(int count, char** words) try {
  if (count != 6) {
    std::fputs("usage: strider-listio-kills VOLUME_FILE CLIENT CLIENTS SEED PATIENCE_MS\n", stderr);
    return 2;
  }
  strider::listio::Worker worker(words[1], std::stoull(words[2]), std::stoull(words[3]), std::stoull(words[4]),
                                 std::chrono::milliseconds(std::stoull(words[5])));
  std::cout << "ready" << std::endl;
  while (!strider::listio::has_input()) worker.step();
  worker.check_all();
  std::cout << worker.json() << std::endl;
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "strider-listio-kills: %s\n", error.what());
  return 1;
}
