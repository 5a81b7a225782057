#include "listio/mpi/file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

#include "listio/mpi/below.hpp"
#include "listio/mpi/request.hpp"
#include "listio/mpi/split.hpp"
#include "listio/protocol/parse.hpp"

namespace strider::listio::mpi {
namespace {

constexpr std::string_view prefix = "listio:";
constexpr std::uint32_t new_file_mode = 0644;

void check_mode(int mode) {
  const int access = mode & (MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR);
  if (std::popcount(static_cast<unsigned>(access)) != 1)
    throw Failure(MPI_ERR_AMODE, "the mode needs one of MPI_MODE_RDONLY, MPI_MODE_WRONLY and MPI_MODE_RDWR");
  if (access == MPI_MODE_RDONLY && (mode & (MPI_MODE_CREATE | MPI_MODE_EXCL)) != 0)
    throw Failure(MPI_ERR_AMODE, "MPI_MODE_RDONLY cannot be combined with MPI_MODE_CREATE or MPI_MODE_EXCL");
  if (access == MPI_MODE_RDWR && (mode & MPI_MODE_SEQUENTIAL) != 0)
    throw Failure(MPI_ERR_AMODE, "MPI_MODE_RDWR cannot be combined with MPI_MODE_SEQUENTIAL");
}

Creation creation_of(int mode) {
  if ((mode & MPI_MODE_CREATE) == 0) return Creation::never;
  return (mode & MPI_MODE_EXCL) != 0 ? Creation::exclusive : Creation::if_missing;
}

void agree_on(Ranks& ranks, Outcome mine) {
  if (const Outcome all = ranks.agree(std::move(mine)); all.failed()) throw Failure(all.error_class, all.text);
}

/// Findings of the first rank, for all; behind it the hints on which they have to agree.
struct OpenWord {
  enum : std::size_t { failed, id, strip_bytes, servers, first, cell, bytes, hints, end = hints + agreed_hints };
};
using Words = std::array<std::int64_t, OpenWord::end>;

void check_name(const std::string& name) {
  if (!is_path(name))
    throw Failure(MPI_ERR_BAD_FILE,
                  "'" + name + "' is no name in a volume: '..' and names of more than 255 bytes are none");
}

/// By the first rank: makes or finds the file.
void open_first(OpenFile& file, Words& words) {
  check_name(file.name);
  file.file = file.connection->use([&](Client& client) {
    // A hint may be too large for this volume; it must not fail the call.
    Spreading spreading = file.hints.spreading;
    spreading.servers = std::min(spreading.servers, static_cast<std::uint32_t>(client.volume().servers.size()));
    return client.open(file.name, creation_of(file.mode), new_file_mode, spreading);
  });
  words[OpenWord::id] = std::bit_cast<std::int64_t>(file.file.id);
  words[OpenWord::strip_bytes] = static_cast<std::int64_t>(file.file.striping.strip_bytes());
  words[OpenWord::servers] = file.file.striping.servers();
  words[OpenWord::first] = file.file.striping.first();
  if (file.ranks->count() > 1)
    words[OpenWord::cell] = std::bit_cast<std::int64_t>(SharedPointer::make_cell(*file.connection));
  if ((file.mode & MPI_MODE_APPEND) != 0) words[OpenWord::bytes] = file.size();
}

void open_together(OpenFile& file) {
  Ranks& ranks = *file.ranks;
  Words words{};
  std::ranges::copy(words_of(file.hints), words.begin() + OpenWord::hints);
  Outcome outcome;
  if (ranks.is_first()) {
    outcome = outcome_of([&] { open_first(file, words); });
    words[OpenWord::failed] = outcome.error_class;
  }
  ranks.share(words);
  if (words[OpenWord::failed] != MPI_SUCCESS) {
    outcome.add({static_cast<int>(words[OpenWord::failed]), file.name + ": the first rank could not open the file"});
    throw Failure(outcome.error_class, outcome.text);
  }
  take_words(std::span(words).last<agreed_hints>(), file.hints);
  file.file = {file.name, std::bit_cast<FileId>(words[OpenWord::id]),
               Striping(static_cast<std::uint32_t>(words[OpenWord::servers]),
                        static_cast<std::uint64_t>(words[OpenWord::strip_bytes]),
                        static_cast<std::uint32_t>(words[OpenWord::first]))};
  if (ranks.count() > 1) file.shared = {file.connection, std::bit_cast<std::uint64_t>(words[OpenWord::cell])};
  if ((file.mode & MPI_MODE_APPEND) == 0) return;
  file.position = words[OpenWord::bytes];
  if (ranks.is_first()) file.shared.set(words[OpenWord::bytes]);
}

void open_carrier(OpenFile& file) {
  if (below().File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &file.carrier) != MPI_SUCCESS)
    throw Failure(MPI_ERR_OTHER, "the MPI library cannot open /dev/null, which stands for " + file.name);
}

}  // namespace

std::optional<std::string> name_in_volume(const char* file_name) {
  std::string_view name = file_name == nullptr ? "" : file_name;
  if (!name.starts_with(prefix)) return {};
  name.remove_prefix(prefix.size());
  std::string path;
  while (!name.empty()) {
    const std::string_view part = name.substr(0, name.find('/'));
    name.remove_prefix(std::min(part.size() + 1, name.size()));
    if (part.empty() || part == ".") continue;
    if (!path.empty()) path += '/';
    path += part;
  }
  return path;
}

std::shared_ptr<OpenFile> open_file(MPI_Comm communicator, const std::string& name, int mode, MPI_Info info) {
  int is_inter = 0;
  below().Comm_test_inter(communicator, &is_inter);
  if (is_inter != 0) throw Failure(MPI_ERR_COMM, "a file cannot be opened over an intercommunicator");
  auto file = std::make_shared<OpenFile>();
  file->name = name;
  file->mode = mode;
  file->hints = hints_of(info);
  file->view = std::make_shared<const View>();
  file->ranks = std::make_unique<Ranks>(communicator, file->hints.rank_timeout);
  try {
    const std::int64_t mine = mode;
    const auto modes = file->ranks->gather({&mine, 1});
    if (std::ranges::any_of(modes, [mine](std::int64_t other) { return other != mine; }))
      throw Failure(MPI_ERR_NOT_SAME, name + ": the ranks open the file in different modes");
    check_mode(mode);
    agree_on(*file->ranks, outcome_of([&] { file->connection = connection_of(file->hints); }));
    open_together(*file);
    agree_on(*file->ranks, outcome_of([&] { open_carrier(*file); }));
  } catch (...) {
    file->ranks->leave();
    if (file->carrier != MPI_FILE_NULL) below().File_close(&file->carrier);
    throw;
  }
  return file;
}

Outcome close_file(OpenFile& file) {
  finish_all(file);
  SplitAccess::abandon(file);
  const bool deletes = (file.mode & MPI_MODE_DELETE_ON_CLOSE) != 0;
  // No rank may still need what goes now.
  Outcome outcome = file.ranks->agree({});
  if (file.ranks->is_first())
    outcome.add(outcome_of([&] {
      file.shared.free();
      if (deletes) file.connection->use([&](Client& client) { client.unlink(file.name); });
    }));
  if (deletes) outcome = file.ranks->agree(outcome);
  file.ranks->leave();
  return outcome;
}

void delete_file(const std::string& name, MPI_Info info) {
  check_name(name);
  connection_of(hints_of(info))->use([&](Client& client) { client.unlink(name); });
}

namespace {

/// The first rank acts, once all are there; all get its outcome.
template <typename Act>
Outcome by_first(OpenFile& file, const Act& act) {
  Outcome outcome;
  if (file.ranks->is_first()) outcome = outcome_of(act);
  return file.ranks->agree(outcome);
}

/// Failure unless all ranks give the same number, and none has failed before.
Outcome require_same(OpenFile& file, std::int64_t number, const char* what, Outcome mine = {}) {
  try {
    const std::array<std::int64_t, 2> words{mine.error_class, number};
    const auto all = file.ranks->gather(words);
    for (std::size_t at = 0; at < all.size(); at += 2) {
      if (all[at] != MPI_SUCCESS) mine.add({static_cast<int>(all[at]), "the call failed on another rank"});
      if (all[at + 1] != all[1]) mine.add({MPI_ERR_ARG, std::string("the ranks give different ") + what});
    }
  } catch (const Failure& failure) {
    mine.add({failure.error_class(), failure.what()});
  }
  return mine;
}

Outcome check_size(const OpenFile& file, std::int64_t bytes) {
  if ((file.mode & MPI_MODE_RDONLY) != 0)
    return {MPI_ERR_READ_ONLY, file.name + ": the file was opened for reading only"};
  if (bytes < 0) return {MPI_ERR_ARG, "the size is negative: " + std::to_string(bytes)};
  return {};
}

}  // namespace

Outcome set_size(OpenFile& file, std::int64_t bytes) {
  if (Outcome same = require_same(file, bytes, "sizes", check_size(file, bytes)); same.failed()) return same;
  return by_first(file, [&] {
    file.connection->use([&](Client& client) { client.truncate(file.file, static_cast<std::uint64_t>(bytes)); });
  });
}

Outcome preallocate(OpenFile& file, std::int64_t bytes) {
  if (Outcome same = require_same(file, bytes, "sizes", check_size(file, bytes)); same.failed()) return same;
  return by_first(file, [&] {
    file.connection->use([&](Client& client) {
      const auto wanted = static_cast<std::uint64_t>(bytes);
      if (client.size(file.file) < wanted) client.truncate(file.file, wanted);
    });
  });
}

/// Servers have all written data, of any rank: one asks them to sync, when all have come. Then
/// each asks whether they are those that got its data: one that was started again may have lost it. Data that another
/// thread of this rank writes meanwhile count for the next sync.
Outcome sync(OpenFile& file) {
  UnsyncedChanges changes;
  Outcome synced = file.ranks->agree(
      outcome_of([&] { file.connection->use([&](Client& client) { changes = client.take_unsynced(file.file); }); }));
  if (!synced.failed())
    synced = by_first(file, [&] { file.connection->use([&](Client& client) { client.send_sync(file.file); }); });
  const auto end = [&](Client& client) {
    if (synced.failed()) return client.put_back(file.file, changes);
    client.confirm_sync(file.file, changes);
  };
  const Outcome confirmed = outcome_of([&] { file.connection->use(end); });
  return synced.failed() ? synced : file.ranks->agree(confirmed);
}

Outcome set_atomicity(OpenFile& file, bool atomic) {
  Outcome same = require_same(file, atomic ? 1 : 0, "flags");
  const std::scoped_lock lock(file.mutex);
  if (!same.failed()) file.atomic = atomic;
  return same;
}

Outcome set_info(OpenFile& file, MPI_Info info) {
  Hints hints = file.hints;
  apply(info, hints);
  auto words = words_of(hints);
  Outcome outcome = outcome_of([&] { file.ranks->share(words); });
  if (outcome.failed()) return outcome;
  take_words(words, hints);
  const std::scoped_lock lock(file.mutex);
  file.hints = std::move(hints);
  return outcome;
}

}  // namespace strider::listio::mpi
