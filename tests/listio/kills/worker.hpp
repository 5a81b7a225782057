#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "storage.hpp"

namespace strider::listio {

/// An action of a client.
struct Workload {
  Places places;
  std::uint64_t seed = 1;
  std::uint64_t most_pieces = 8, most_blocks_of_piece = 1;  ///< of a call
  std::uint64_t blocks_of_strip = 16, servers = 4;
  std::uint64_t steps_of_sync = 16;  ///< steps for each that syncs, on average
  std::chrono::milliseconds patience{3000};
};

/// Does random calls on a volume whose servers are harmed meanwhile, and compares. Each block has one writer. A call
/// that fails leaves what it changes in doubt until a later call shows what is there.
class Worker {
 public:
  Worker(Storage& storage, const Workload& workload);

  /// Any call.
  void step();
  /// A call on own blocks or files.
  void step_alone();
  void write();
  void read() { read_pieces(some_pieces()); }
  /// Whether changes are stable, or reported as lost.
  bool sync();
  /// Before the file is opened again: an open file reports lost changes, a closed one cannot.
  void sync_all();
  /// No server is harmed any more: opens the file again, and reads everything. A permanent loss is a mistake.
  void check_all();

  /// Its calls, their errors, and the broken promises.
  std::string json() const;

 private:
  using Version = std::uint64_t;  // of a block: how often it was written, 0 for zeros
  using Times = std::set<std::int64_t>;
  /// In milliseconds of the monotonic clock.
  using Interval = std::pair<std::int64_t, std::int64_t>;

  template <typename Call>
  bool succeeds(const Call& call, bool* is_loss = nullptr);
  template <typename Look>
  void repeat(const std::string& what, const Look& look);
  void note_mistake(const std::string& text);
  void check_syncs();

  std::vector<Piece> some_pieces();
  bool read_pieces(const std::vector<Piece>& pieces);
  void compare(std::uint64_t own, const std::uint64_t* words);
  void note_written(const std::vector<Piece>& pieces);

  std::string name_of(std::size_t name) const;
  std::set<bool>& possible_state(std::size_t name);
  void change_name();
  bool look_at_name(std::size_t name);

  Storage& storage_;
  const Workload workload_;
  std::mt19937_64 random_;
  const std::vector<std::byte> data_{block, std::byte{1}};  ///< of each file of its own
  Version last_version_ = 0;
  std::vector<std::set<Version>> possible_;      ///< versions of each block that may be there
  std::map<std::size_t, std::set<bool>> names_;  ///< whether each may exist
  std::set<std::uint64_t> unsynced_servers_;     ///< that have changes since the last sync
  std::int64_t unsynced_since_ms_ = 0;           ///< when all of them had some, or 0
  std::uint64_t calls_ = 0, failed_ = 0, failed_transfers_ = 0, losses_ = 0, compared_ = 0;
  std::chrono::milliseconds longest_{0};
  std::map<std::string, Times> errors_;  ///< and when they were, in tenths of a second
  std::vector<Interval> syncs_;          ///< that succeeded
  std::vector<Interval> promises_;       ///< from the last change of the last server to the sync that made it stable
  std::vector<std::string> mistakes_;
};

/// Whether there is a line, or the end, of standard input.
bool has_input();
/// Says that it is ready, takes steps until there is input, checks everything, and prints the findings.
void work(Storage& storage, const Workload& workload);

}  // namespace strider::listio
