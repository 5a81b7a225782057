#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <shared_mutex>
#include <system_error>
#include <unordered_map>

#include "foundation/error.hpp"
#include "listio/server/block_calls.hpp"
#include "listio/server/data_store.hpp"
#include "listio/server/numbered_files.hpp"
#include "listio/server/shards.hpp"
#include "listio/server/small_files.hpp"
#include "listio/server/summed_file.hpp"
#include "listio/server/sums.hpp"

namespace strider::listio {
namespace {

constexpr std::uint64_t batch_blocks = 16384;            // their checksums are moved at once: 64 KiB
constexpr std::uint64_t most_resummed = 65536;           // blocks that one sync sums again: 256 MiB
constexpr std::uint64_t most_resummed_at_end = 1 << 20;  // of a file, when the server stops: 4 GiB
constexpr std::size_t fewest_known = 65536;              // files, before any is forgotten
constexpr std::chrono::seconds longest_end{5};           // less than a server has to finish
constexpr std::uint64_t verified_blocks = 256;           // at once: 1 MiB
constexpr const char* data_stable_mark = "data-stable";  // of a server that ended in order

void require(Errno error) {
  if (error != 0) throw_system_error(error);
}

/// The number of what `action` fails by; DamagedData passes.
template <typename Action>
Errno number_of_failure(const Action& action) {
  try {
    action();
    return 0;
  } catch (const std::system_error& error) {
    return error.code().value();
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

/// Neighbours among calls whose checksums are close together.
struct Batch {
  std::span<BlockCall> calls;
  std::uint64_t first() const { return calls.front().first; }
  std::uint64_t blocks() const { return calls.back().end_block() - first(); }
};

std::vector<Batch> batches_of(std::span<BlockCall> calls) {
  std::vector<Batch> batches;
  for (BlockCall& call : calls) {
    const bool joins = !batches.empty() && call.end_block() - batches.back().first() <= batch_blocks;
    if (!joins) batches.push_back({std::span(&call, 0)});
    batches.back().calls = {batches.back().calls.data(), batches.back().calls.size() + 1};
  }
  return batches;
}

/// The checksums of a call among those of its batch.
std::span<Sum> sums_of(const BlockCall& call, const Batch& batch, std::span<Sum> sums) {
  return sums.subspan(call.first - batch.first(), call.blocks);
}

/// Data files with checksums. Each file has a lock: readers of a file share it, and everything else is done alone.
class CheckedStore final : public DataStore {
 public:
  CheckedStore(int folder, const VolumeState& volume, std::uint32_t number, std::size_t most_sum_pages)
      : volume_(volume),
        number_(number),
        folder_(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
        data_(folder, "data", open_),
        sums_(folder, "sums", open_),
        lost_power_(!take_stable_mark(folder, data_stable_mark) && !data_.is_new()),
        sum_memory_(most_sum_pages) {
    if (lost_power_) add_missing_sums();
  }
  ~CheckedStore() override {
    if (clean_all() && !lost_power_) leave_stable_mark(folder_.get(), data_stable_mark);
  }

  Errno read(FileId file, std::span<const ByteRun> runs, std::span<std::byte> buffer, Extent& extent) override {
    return number_of_failure([&] {
      make_room_for_sums();
      reading(file, [&](SummedFile* summed) {
        each_apart(runs, buffer, [&](std::span<const ByteRun> some, std::span<std::byte> memory) {
          read_apart(file, summed, some, memory, extent);
        });
      });
    });
  }

  Errno write(FileId file, std::span<const ByteRun> runs, std::span<std::byte> buffer) override {
    return number_of_failure([&] {
      make_room_for_sums();
      const auto entry = entry_of(file);
      const std::unique_lock lock(entry->mutex);
      SummedFile& summed = made(*entry, file);
      const OpenPair open = opened(file);
      each_apart(runs, buffer, [&](std::span<const ByteRun> some, std::span<std::byte> memory) {
        write_apart(open, summed, some, memory);
      });
    });
  }

  Errno sync(FileId file) override {
    return number_of_failure([&] {
      const std::optional<std::uint64_t> changes = resum(file, most_resummed);
      require(sync_both(file));
      if (changes && make_clean(file, *changes)) require(sums_.sync_bytes(file));
    });
  }

  Errno stat(FileId file, DataStat& stat) override {
    return number_of_failure([&] {
      stat = {};
      reading(file, [&](const SummedFile* summed) {
        struct stat found{};
        const Errno error = data_.stat(file, found);
        if (error == ENOENT && summed != nullptr) throw DamagedData(text_of({{}, {}, Health::missing}, file));
        if (error != ENOENT) require(error);
        if (error == 0) stat = data_stat_of(found);
      });
    });
  }

  Errno truncate(FileId file, std::uint64_t bytes) override {
    return number_of_failure([&] {
      const auto entry = entry_of(file);
      const std::unique_lock lock(entry->mutex);
      if (bytes == 0 && known(*entry, file) == nullptr) return;
      made(*entry, file).truncate(opened(file), bytes);
    });
  }

  Errno set_time(FileId file, std::int64_t modified_ns) override { return data_.set_time(file, modified_ns); }

  Errno remove(FileId file) override {
    const auto entry = entry_of(file);
    const std::unique_lock lock(entry->mutex);
    entry->summed.reset();
    const Errno error = data_.remove(file);
    return error != 0 ? error : sums_.remove(file);
  }

  Errno list(std::uint64_t cookie, DataPage& page) override {
    return list_shards(
        cookie, page,
        [&](unsigned shard, std::vector<FileId>& files) {
          std::vector<FileId> data, sums;
          if (const Errno error = data_.list(shard, data); error != 0) return error;
          if (const Errno error = sums_.list(shard, sums); error != 0) return error;
          std::ranges::set_union(data, sums, std::back_inserter(files));
          return 0;
        },
        [&](FileId file) {
          return number_of_failure([&] {
            const auto entry = entry_of(file);
            const std::shared_lock lock(entry->mutex);
            const Found found = examine(file);
            page.files.push_back({file, found.data_bytes.value_or(0), found.health, found.recorded_bytes()});
          });
        });
  }

  Errno verify(const VerifyRequest& request, Verified& verified) override {
    return number_of_failure([&] {
      const std::uint64_t end = request.first + request.blocks;
      // The lock is given back in between: others wait for a few milliseconds at most.
      for (std::uint64_t block = request.first; block < end; block += verified_blocks)
        reading(request.file, [&](SummedFile* summed) {
          if (summed == nullptr) return;
          verify(*summed, opened(request.file), block, std::min(verified_blocks, end - block), verified);
        });
    });
  }

  Counters counters() const override { return {moved_.read_bytes, moved_.written_bytes, moved_.calls}; }

 private:
  /// A file, and its state: nothing before it is used first, and of one that was never written.
  struct Entry {
    std::shared_mutex mutex;
    std::optional<SummedFile> summed;
  };

  /// Both files as they are.
  struct Found {
    std::optional<SumsHeader> header;
    std::optional<std::uint64_t> data_bytes;
    Health health = Health::sound;
    bool was_never_stable = false;  ///< the file of checksums, of which only the name is there
    std::uint64_t recorded_bytes() const { return header ? header->bytes : 0; }
  };

  std::shared_ptr<Entry> entry_of(FileId file) {
    const std::lock_guard lock(mutex_);
    if (entries_.size() >= most_known_) make_room();
    std::shared_ptr<Entry>& entry = entries_[file];
    if (!entry) entry = std::make_shared<Entry>();
    return entry;
  }

  /// Forgets clean files that are not in use: their headers have all that is known of them.
  void make_room() {
    std::erase_if(entries_, [](const auto& each) {
      const auto& [file, entry] = each;
      return entry.use_count() == 1 && (!entry->summed || (entry->summed->is_clean() && entry->summed->is_sure()));
    });
    most_known_ = std::max(fewest_known, 2 * entries_.size());
  }

  /// Where the memory for checksums is full, half of it is freed by files that are not in use now.
  void make_room_for_sums() {
    if (!sum_memory_.is_full()) return;
    const std::unique_lock turn(room_mutex_, std::try_to_lock);
    if (!turn) return;
    std::vector<std::pair<FileId, std::shared_ptr<Entry>>> entries;
    {
      const std::lock_guard lock(mutex_);
      entries.assign(entries_.begin(), entries_.end());
    }
    for (const auto& [file, entry] : entries) {
      if (sum_memory_.is_half_free()) return;
      const std::unique_lock lock(entry->mutex, std::try_to_lock);
      if (!lock || !entry->summed || !entry->summed->keeps_sums()) continue;
      attempt([&] {
        entry->summed->flush(opened(file));
        entry->summed->forget();
        return true;
      });
    }
  }

  /// Runs that overlap are done one by one, in the order of the list.
  template <typename Action>
  static void each_apart(std::span<const ByteRun> runs, std::span<std::byte> buffer, const Action& action) {
    if (BlockCalls::are_apart(runs)) return action(runs, buffer);
    std::uint64_t done = 0;
    for (const ByteRun& run : runs) {
      action(std::span(&run, 1), buffer.subspan(done, run.length));
      done += run.length;
    }
  }

  /// With the lock for reading, if no checksum of the file is in doubt; null for a file that was never written.
  template <typename Action>
  void reading(FileId file, const Action& action) {
    const auto entry = entry_of(file);
    {
      const std::shared_lock lock(entry->mutex);
      if (entry->summed && entry->summed->is_sure()) return action(&*entry->summed);
    }
    const std::unique_lock lock(entry->mutex);
    action(known(*entry, file));
  }

  // --- findings ---

  Found examine(FileId file) {
    Found found;
    struct stat data{};
    const Errno error = data_.stat(file, data);
    if (error != ENOENT) require(error);
    if (error == 0) found.data_bytes = data_stat_of(data).bytes;
    OpenFiles::Handle sums;
    const Errno no_sums = sums_.open(file, 0, sums);
    if (no_sums != ENOENT) require(no_sums);
    if (!sums) {
      if (found.data_bytes.value_or(0) > 0) found.health = Health::no_checksums;
      return found;
    }
    std::array<std::byte, SumsHeader::size> bytes{};
    const ssize_t count = ::pread(sums->get(), bytes.data(), bytes.size(), 0);
    if (count < 0) throw_system_error(errno);
    const auto header = std::span(bytes).first(static_cast<std::size_t>(count));
    const bool has_none = std::ranges::all_of(header, [](std::byte byte) { return byte == std::byte{0}; });
    if (has_none && found.data_bytes.value_or(0) == 0) return found;
    found.was_never_stable = has_none && lost_power_;
    // A missing rest of the header was 0.
    found.header = found.was_never_stable ? new_header(file) : read_header(bytes);
    found.health = health_of(found, file);
    return found;
  }

  Health health_of(const Found& found, FileId file) const {
    if (!found.header || found.header->volume != volume_.id || found.header->number != number_ ||
        found.header->file != file)
      return Health::damaged_checksums;
    const bool is_clean = found.header->state == SumsHeader::State::clean;
    if (!found.data_bytes) return is_clean || found.header->bytes > 0 ? Health::missing : Health::sound;
    if (*found.data_bytes < found.header->bytes) return Health::too_short;
    return is_clean && *found.data_bytes > found.header->bytes ? Health::too_long : Health::sound;
  }

  std::string text_of(const Found& found, FileId file) const {
    std::string data = "data file " + data_.name_of(file);
    const std::string bytes = std::to_string(found.recorded_bytes());
    switch (found.health) {
      case Health::missing: return data + " is missing; it had " + bytes + " bytes";
      case Health::too_short:
      case Health::too_long:
        return data + " has " + std::to_string(found.data_bytes.value_or(0)) + " bytes instead of " + bytes;
      case Health::no_checksums: return data + " has no checksums: " + sums_.name_of(file) + " is missing";
      case Health::damaged_checksums:
        return data + " has no checksums: " + sums_.name_of(file) + " is damaged, or of another file";
      case Health::sound: break;
    }
    return data;
  }

  /// Null for a file that was never written. DamagedData if a file is not as long as it was, or has no checksums.
  SummedFile* known(Entry& entry, FileId file) {
    if (entry.summed) return &*entry.summed;
    const Found found = examine(file);
    if (found.health != Health::sound) throw DamagedData(text_of(found, file));
    if (!found.header) return nullptr;
    SummedFile summed(*found.header, found.data_bytes.value_or(0), sum_memory_);
    if (!summed.is_clean()) {
      OpenFiles::Handle data;
      require(data_.open(file, O_CREAT, data));
      if (found.was_never_stable) summed.write_header(opened(file));
      // Checksums of data that were lost with a power failure do not fit the present data.
      const std::uint64_t end = blocks_of(found.data_bytes.value_or(0));
      if (::ftruncate(opened(file).sums->get(), static_cast<off_t>(sum_offset(end))) != 0) throw_system_error(errno);
    }
    return &entry.summed.emplace(std::move(summed));
  }

  SumsHeader new_header(FileId file) const {
    return {volume_.id, number_, file, SumsHeader::State::dirty, volume_.epoch, 0};
  }

  SummedFile& made(Entry& entry, FileId file) {
    if (SummedFile* const summed = known(entry, file)) return *summed;
    OpenPair open{{}, {}, data_, sums_, file, moved_};
    require(sums_.open(file, O_CREAT, open.sums));
    try {
      require(data_.open(file, O_CREAT, open.data));
      return entry.summed.emplace(new_header(file), open, sum_memory_);
    } catch (...) {
      data_.remove(file);
      sums_.remove(file);
      throw;
    }
  }

  OpenPair opened(FileId file) {
    OpenPair open{{}, {}, data_, sums_, file, moved_};
    const Errno error = data_.open(file, 0, open.data);
    if (error == ENOENT) throw DamagedData("data file " + open.name() + " is missing");
    require(error);
    const Errno no_sums = sums_.open(file, 0, open.sums);
    if (no_sums == ENOENT) throw DamagedData(text_of({{}, {}, Health::no_checksums}, file));
    require(no_sums);
    return open;
  }

  // --- reads and writes ---

  void read_apart(FileId file, SummedFile* summed, std::span<const ByteRun> runs, std::span<std::byte> buffer,
                  Extent& extent) {
    if (summed == nullptr) {
      for (const ByteRun& run : runs) {
        std::memset(buffer.data(), 0, run.length);
        buffer = buffer.subspan(run.length);
      }
      extent = Extent::beyond_end;
      return;
    }
    const OpenPair open = opened(file);
    BlockCalls plan(runs, buffer);
    std::vector<Sum> sums;
    std::vector<iovec> pieces;
    for (const Batch& batch : batches_of(plan.calls())) {
      sums.resize(batch.blocks());
      for (const BlockCall& call : batch.calls) summed->resum(open, call.first, call.blocks);
      summed->load(open, batch.first(), sums);
      for (const BlockCall& call : batch.calls) {
        pieces.assign(call.pieces.begin(), call.pieces.end());
        const std::uint64_t begin = call.first * block_bytes, end = begin + open.read(pieces, begin);
        if (end < call.end) extent = Extent::beyond_end;
        compare(open, call.first, call.pieces, sums_of(call, batch, sums));
        moved_.read_bytes += std::min(call.own_bytes, end - std::min(end, call.begin));
      }
    }
  }

  void write_apart(const OpenPair& open, SummedFile& summed, std::span<const ByteRun> runs,
                   std::span<std::byte> buffer) {
    BlockCalls plan(runs, buffer);
    summed.soil(open, ~std::uint64_t{0});
    std::vector<Sum> sums;
    for (const Batch& batch : batches_of(plan.calls())) {
      sums.resize(batch.blocks());
      for (const BlockCall& call : batch.calls)
        for (const PartBlock& part : call.parts) summed.resum(open, part.block, 1);
      const bool has_all = batch.calls.size() == 1 && batch.calls.front().parts.empty();
      if (!has_all) summed.load(open, batch.first(), sums);
      for (const BlockCall& call : batch.calls) complete(open, call, sums_of(call, batch, sums));
      for (const BlockCall& call : batch.calls) summed.reserve(open, call.first, call.blocks);
      write_batch(open, summed, batch, sums);
    }
  }

  /// Reads the missing bytes of a call's blocks, and sums them.
  static void complete(const OpenPair& open, const BlockCall& call, std::span<Sum> sums) {
    for (const PartBlock& part : call.parts) {
      std::array<std::byte, block_bytes> before;
      const iovec whole{before.data(), before.size()};
      iovec left = whole;
      open.read({&left, 1}, part.block * block_bytes);
      compare(open, part.block, {&whole, 1}, {&sums[part.block - call.first], 1});
      std::memcpy(part.bytes, before.data(), before.size());
    }
    sum_blocks(call.pieces, sums);
  }

  void write_batch(const OpenPair& open, SummedFile& summed, const Batch& batch, std::span<const Sum> sums) {
    try {
      for (const BlockCall& call : batch.calls) {
        std::span<iovec> pieces = call.own_pieces();
        const Transferred written = move(::pwritev, *open.data, pieces, call.begin, moved_);
        moved_.written_bytes += std::min(call.own_bytes, written.bytes);
        if (written.error_number != 0 || !pieces.empty())
          throw_system_error(written.error_number != 0 ? written.error_number : EIO);
      }
      summed.store(open, batch.first(), sums);
    } catch (...) {
      for (const BlockCall& call : batch.calls) summed.doubt(open, call.first, call.blocks);
      throw;
    }
    for (const BlockCall& call : batch.calls) summed.settle(call.first, call.blocks);
  }

  /// Adds the findings of some blocks, not more than are verified at once.
  static void verify(SummedFile& summed, const OpenPair& open, std::uint64_t block, std::uint64_t most,
                     Verified& verified) {
    struct stat sums_stat{};
    if (::fstat(open.sums->get(), &sums_stat) != 0) throw_system_error(errno);
    const std::uint64_t sums_end = (data_stat_of(sums_stat).bytes - SumsHeader::size) / sizeof(Sum);
    verified.end_block = std::max(blocks_of(open.data_bytes()), sums_end);
    if (block >= verified.end_block) return;
    const std::uint64_t blocks = std::min(most, verified.end_block - block), offset = block * block_bytes;
    summed.resum(open, block, blocks);
    std::vector<Sum> expected(blocks), sums(blocks);
    summed.load_stored(open, block, expected);
    // The content of the storage counts, not that of the page cache.
    ::posix_fadvise(open.data->get(), static_cast<off_t>(offset), static_cast<off_t>(blocks * block_bytes),
                    POSIX_FADV_DONTNEED);
    std::vector<std::byte> memory(blocks * block_bytes);
    const iovec whole{memory.data(), memory.size()};
    iovec left = whole;
    verified.bytes += open.read({&left, 1}, offset);
    sum_blocks({&whole, 1}, sums);
    for (std::uint64_t i = 0; i < blocks; ++i)
      if (sums[i] != expected[i]) add_damage(verified.damaged, offset + i * block_bytes);
  }

  static void add_damage(std::vector<ByteRun>& damaged, std::uint64_t offset) {
    if (!damaged.empty() && damaged.back().end() == offset) damaged.back().length += block_bytes;
    else damaged.push_back({offset, block_bytes});
  }

  // --- what becomes durable ---

  /// How often a file was changed that is to be made clean: none if it is clean already, is not there, or has more in
  /// doubt than was summed now.
  std::optional<std::uint64_t> resum(FileId file, std::uint64_t most_blocks) {
    const auto entry = entry_of(file);
    const std::unique_lock lock(entry->mutex);
    SummedFile* const summed = known(*entry, file);
    if (summed == nullptr || summed->is_clean()) return {};
    const OpenPair open = opened(file);
    summed->resum_some(open, most_blocks);
    summed->flush(open);
    return summed->is_sure() ? std::optional(summed->changes()) : std::nullopt;
  }

  /// Unless it was changed again.
  bool make_clean(FileId file, std::uint64_t changes) {
    const auto entry = entry_of(file);
    const std::unique_lock lock(entry->mutex);
    if (!entry->summed || entry->summed->is_clean() || entry->summed->changes() != changes) return false;
    entry->summed->make_clean(opened(file), volume_.epoch);
    return true;
  }

  /// Data, checksums, and that both are there. A data file never becomes stable without its checksums: those of another
  /// file of the folder may become so with it.
  Errno sync_both(FileId file) {
    Errno error = data_.sync_bytes(file);
    if (error == 0) error = sums_.sync_bytes(file);
    if (error == 0) error = sums_.sync_name(file);
    return error != 0 ? error : data_.sync_name(file);
  }

  /// A server lost power, or was killed: a data file whose checksums are not there is one that was never synced.
  void add_missing_sums() {
    for (unsigned shard = 0; shard < shards; ++shard) {
      std::vector<FileId> data, sums, missing;
      require(data_.list(shard, data));
      require(sums_.list(shard, sums));
      std::ranges::set_difference(data, sums, std::back_inserter(missing));
      for (const FileId file : missing) {
        OpenFiles::Handle handle;
        require(sums_.open(file, O_CREAT, handle));
      }
    }
  }

  /// A file for which this fails, or for which there is no time, stays dirty. Whether none does.
  bool clean_all() {
    const auto deadline = std::chrono::steady_clock::now() + longest_end;
    bool are_clean = true;
    for (const auto& [file, entry] : entries_) {
      if (!entry->summed || entry->summed->is_clean()) continue;
      if (std::chrono::steady_clock::now() > deadline) return false;
      are_clean &= attempt([&] {
        const auto changes = resum(file, most_resummed_at_end);
        return changes && sync_both(file) == 0 && make_clean(file, *changes) && sums_.sync_bytes(file) == 0;
      });
    }
    return are_clean;
  }
  template <typename Action>
  static bool attempt(const Action& action) noexcept {
    try {
      return action();
    } catch (const std::exception&) {
      return false;
    }
  }

  const VolumeState volume_;
  const std::uint32_t number_;
  const Descriptor folder_;
  std::shared_ptr<OpenFiles> open_ = std::make_shared<OpenFiles>();
  NumberedFiles data_, sums_;
  /// Once a server has not ended in order, a file of checksums without a header is taken for one that was never synced:
  /// not all files are looked at when it starts again.
  const bool lost_power_;
  Moved moved_;
  SumMemory sum_memory_;
  std::mutex room_mutex_;  ///< of the one that makes room
  std::mutex mutex_;
  std::unordered_map<FileId, std::shared_ptr<Entry>> entries_;
  std::size_t most_known_ = fewest_known;
};

}  // namespace

std::unique_ptr<DataStore> make_checked_store(int folder, const VolumeState& volume, std::uint32_t number,
                                              std::size_t most_sum_pages) {
  return std::make_unique<CheckedStore>(folder, volume, number, most_sum_pages);
}

}  // namespace strider::listio
