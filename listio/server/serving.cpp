#include "listio/server/serving.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <new>
#include <system_error>

namespace strider::listio {
namespace {

/// Carries out one request; the reply after the error number goes into `body`.
class Worker {
 public:
  Worker(const ServerStores& stores, const Target& target, std::span<std::byte> buffers, std::uint64_t buffer_bytes)
      : stores_(stores),
        target_(target),
        data_(target.copy == DataCopy::second && stores.copies != nullptr ? *stores.copies->data : *stores.data),
        buffers_(buffers),
        buffer_bytes_(buffer_bytes) {}

  /// Carries out a request on data, or on names.
  Errno carry_out(const Request& request) {
    const auto work = [&] { return std::visit(*this, request); };
    const bool uses_copies = target_.copy == DataCopy::second || target_.alone || target_.fill != 0;
    if (stores_.copies == nullptr) return uses_copies ? EOPNOTSUPP : work();
    const bool changes = is_change(request);
    // A start of a fill waits for all requests with turns, of its own fill as well.
    const bool takes_turn = (changes || target_.fill != 0) && !std::holds_alternative<StartFillRequest>(request);
    if (!takes_turn) return target_.alone ? alone(request, work) : work();
    return stores_.copies->turns.carry_out(target_, changes && file_of(request) != names_number,
                                           [&] { return target_.alone ? alone(request, work) : work(); });
  }

  Errno operator()(const WriteRequest& request) {
    return data_.write(request.file, request.runs, buffer(request.buffer));
  }
  Errno operator()(const ReadRequest& request) {
    auto extent = DataStore::Extent::whole;
    const Errno error = data_.read(request.file, request.runs, buffer(request.buffer), extent);
    if (error != 0 || extent == DataStore::Extent::whole) return error;
    return (*this)(DataStatRequest{request.file});
  }
  Errno operator()(const SyncRequest& request) {
    const Errno error = data_.sync(request.file);
    return error != 0 || stores_.names == nullptr ? error : stores_.names->sync();
  }
  Errno operator()(const DataStatRequest& request) {
    return replying<DataStat>([&](DataStat& stat) { return data_.stat(request.file, stat); });
  }
  Errno operator()(const TruncateRequest& request) { return data_.truncate(request.file, request.bytes); }
  Errno operator()(const RemoveDataRequest& request) { return data_.remove(request.file); }
  Errno operator()(const SetDataTimeRequest& request) { return data_.set_time(request.file, request.modified_ns); }
  Errno operator()(const ListDataRequest& request) {
    return replying<DataPage>([&](DataPage& page) { return data_.list(request.cookie, page); });
  }
  Errno operator()(const VerifyRequest& request) {
    return replying<Verified>([&](Verified& verified) { return data_.verify(request, verified); });
  }
  Errno operator()(const StatusRequest&) {
    body = write_body(stores_.status());
    return 0;
  }
  Errno operator()(const StartFillRequest& request) {
    if (stores_.copies == nullptr) return EOPNOTSUPP;
    return stores_.copies->start(request);
  }
  Errno operator()(const ListMissedRequest& request) {
    if (stores_.copies == nullptr) return EOPNOTSUPP;
    return replying<DataPage>([&](DataPage& page) { return missed().list(request, page); });
  }
  Errno operator()(const TakeMissedRequest& request) {
    if (target_.fill == 0) return EOPNOTSUPP;
    return replying<Missed>([&](Missed& found) {
      missed().take(request.file, found);
      return 0;
    });
  }
  Errno operator()(const ForgetMissedRequest&) { return target_.fill == 0 ? EOPNOTSUPP : missed().forget(); }
  Errno operator()(const MarkMissedRequest& request) {
    return target_.fill == 0 ? EOPNOTSUPP : missed().mark_all(request.file);
  }
  Errno operator()(const LeaseRequest& request) {
    if (stores_.views == nullptr) return EOPNOTSUPP;
    return replying<ServerView>(
        [&](ServerView& view) { return stores_.views->lease(request, std::chrono::steady_clock::now(), view); });
  }
  Errno operator()(const PauseRequest& request) {
    return stores_.views == nullptr ? EOPNOTSUPP : stores_.views->pause(request, std::chrono::steady_clock::now());
  }
  Errno operator()(const AdmitRequest& request) {
    return stores_.views == nullptr ? EOPNOTSUPP : stores_.views->admit(request, std::chrono::steady_clock::now());
  }
  /// The server does those itself.
  Errno operator()(const MakeCellRequest&) { return EOPNOTSUPP; }
  Errno operator()(const AddToCellRequest&) { return EOPNOTSUPP; }
  Errno operator()(const SetCellRequest&) { return EOPNOTSUPP; }
  Errno operator()(const FreeCellRequest&) { return EOPNOTSUPP; }
  Errno operator()(const LockRequest&) { return EOPNOTSUPP; }
  Errno operator()(const FindLockRequest&) { return EOPNOTSUPP; }
  Errno operator()(const CancelLockRequest&) { return EOPNOTSUPP; }
  /// All others are about names.
  template <typename Request>
  Errno operator()(const Request& request) {
    if (stores_.names == nullptr) return EOPNOTSUPP;
    const Errno error = name(request);
    if (error == EUCLEAN) explain(request);
    return error;
  }

  std::vector<std::byte> body;

 private:
  MissedChanges& missed() const {
    return target_.copy == DataCopy::second ? stores_.copies->missed_by_first : stores_.copies->missed;
  }
  /// A change that the other copy misses is marked before, and noted after: also of a change that failed, as it may
  /// have been made in part. A sync is marked too: the server of the other copy may have lost the synced data with its
  /// power.
  template <typename Work>
  Errno alone(const Request& request, const Work& work) {
    if (!is_change(request) && !std::holds_alternative<SyncRequest>(request)) return work();
    const FileId file = *file_of(request);
    if (const Errno error = missed().mark(file); error != 0) return error;
    struct Note {
      MissedChanges& missed;
      FileId file;
      std::vector<ByteRun> runs;
      ~Note() { missed.add(file, runs); }
    };
    const Note note{missed(), file, runs_of(request)};
    return work();
  }
  static std::vector<ByteRun> runs_of(const Request& request) {
    if (const auto* const write = std::get_if<WriteRequest>(&request)) return write->runs;
    if (std::holds_alternative<SyncRequest>(request)) return {};
    return {{0, most_file_bytes}};
  }
  std::span<std::byte> buffer(std::uint32_t number) const {
    return buffers_.subspan(number * buffer_bytes_, buffer_bytes_);
  }
  template <typename Body, typename Action>
  Errno replying(const Action& action) {
    Body result;
    const Errno error = action(result);
    if (error == 0) body = write_body(result);
    return error;
  }

  /// Replies which entry is damaged.
  template <typename Request>
  void explain(const Request& request) {
    std::string damage;
    if constexpr (requires { request.path; }) damage = stores_.names->damage_of(request.path);
    if constexpr (requires { request.from; }) damage = stores_.names->damage_of(request.from);
    if constexpr (requires { request.to; })
      if (damage.empty()) damage = stores_.names->damage_of(request.to);
    if (!damage.empty()) body = write_body(Reason{damage + "; run strider listio check"});
  }

  Errno name(const OpenRequest& request) {
    return replying<Entry>([&](Entry& entry) { return stores_.names->open(request, entry); });
  }
  Errno name(const StatRequest& request) {
    return replying<Entry>([&](Entry& entry) { return stores_.names->stat(request.path, entry); });
  }
  Errno name(const UnlinkRequest& request) {
    return replying<Orphan>([&](Orphan& orphan) { return stores_.names->unlink(request.path, orphan); });
  }
  Errno name(const RenameRequest& request) {
    return replying<Orphan>([&](Orphan& orphan) { return stores_.names->rename(request.from, request.to, orphan); });
  }
  Errno name(const MakeDirectoryRequest& request) { return stores_.names->make_directory(request.path, request.mode); }
  Errno name(const RemoveDirectoryRequest& request) { return stores_.names->remove_directory(request.path); }
  Errno name(const SyncNamesRequest& request) { return stores_.names->sync(request.part); }
  Errno name(const SetEntryRequest& request) { return stores_.names->set(request); }
  Errno name(const MakeLinkRequest& request) { return stores_.names->make_link(request.path, request.text); }
  Errno name(const ReadLinkRequest& request) {
    return replying<LinkText>([&](LinkText& text) { return stores_.names->read_link(request.path, text.text); });
  }
  Errno name(const NamesStateRequest&) {
    return replying<NamesState>([&](NamesState& state) { return stores_.names->state(state); });
  }
  Errno name(const CheckEntryRequest& request) {
    return replying<EntryCheck>([&](EntryCheck& check) { return stores_.names->check_entry(request.path, check); });
  }
  Errno name(const ListCopiesRequest& request) {
    return replying<DataPage>([&](DataPage& page) { return stores_.names->list_copies(request.cookie, page); });
  }
  Errno name(const CheckCopyRequest& request) {
    return replying<CopyCheck>([&](CopyCheck& check) { return stores_.names->check_copy(request.file, check); });
  }
  Errno name(const LocateRequest& request) {
    return replying<LinkText>([&](LinkText& path) { return stores_.names->locate(request, path.text); });
  }
  Errno name(const RepairNameRequest& request) {
    return replying<LinkText>([&](LinkText& now) { return stores_.names->repair(request, now); });
  }
  Errno name(const ListRequest& request) {
    return replying<DirectoryPage>(
        [&](DirectoryPage& page) { return stores_.names->list(request.path, request.cookie, page); });
  }

  const ServerStores& stores_;
  const Target target_;
  DataStore& data_;
  std::span<std::byte> buffers_;
  std::uint64_t buffer_bytes_;
};

/// In the server's log: the first ones, which are enough to know that there is something to be found.
void report(const char* failure) {
  constexpr int most = 1000;
  static std::atomic<int> reported = 0;
  if (reported < most && reported++ < most) std::fprintf(stderr, "strider-listio-server: %s\n", failure);
}

}  // namespace

std::optional<FileId> file_of(const Request& request) {
  return std::visit(
      []<typename Each>(const Each& each) -> std::optional<FileId> {
        if constexpr (std::is_same_v<Each, CheckCopyRequest> || std::is_same_v<Each, RepairNameRequest> ||
                      std::is_same_v<Each, SetEntryRequest> || std::is_same_v<Each, LocateRequest>)
          return names_number;
        else if constexpr (requires { each.file; }) return each.file;
        if constexpr (std::is_same_v<Each, StatusRequest> || std::is_same_v<Each, ListDataRequest> ||
                      std::is_same_v<Each, LeaseRequest> || std::is_same_v<Each, StartFillRequest> ||
                      std::is_same_v<Each, ListMissedRequest> || std::is_same_v<Each, PauseRequest> ||
                      std::is_same_v<Each, ForgetMissedRequest> || std::is_same_v<Each, AdmitRequest>)
          return {};
        return names_number;
      },
      request);
}

bool is_change(const Request& request) {
  if (const auto* const open = std::get_if<OpenRequest>(&request)) return open->creation != Creation::never;
  return std::visit(
      []<typename Each>(const Each&) {
        return std::is_same_v<Each, WriteRequest> || std::is_same_v<Each, TruncateRequest> ||
               std::is_same_v<Each, RemoveDataRequest> || std::is_same_v<Each, SetDataTimeRequest> ||
               std::is_same_v<Each, UnlinkRequest> || std::is_same_v<Each, RenameRequest> ||
               std::is_same_v<Each, MakeDirectoryRequest> || std::is_same_v<Each, RemoveDirectoryRequest> ||
               std::is_same_v<Each, SetEntryRequest> || std::is_same_v<Each, MakeLinkRequest> ||
               std::is_same_v<Each, RepairNameRequest>;
      },
      request);
}

Errno SecondCopies::start(const StartFillRequest& request) {
  const std::uint32_t next = next_server(number, servers), before = previous_server(number, servers);
  if (request.server != number && request.server != next && request.server != before) return EINVAL;
  turns.start(request, request.server == number);
  if (request.server == next) missed.start();
  if (request.server == before) missed_by_first.start();
  return 0;
}

std::vector<std::byte> serve(const ServerStores& stores, const NumberedRequest& request, std::span<std::byte> buffers,
                             std::uint64_t buffer_bytes) {
  Worker worker(stores, request.target, buffers, buffer_bytes);
  Errno error = 0;
  try {
    error = worker.carry_out(request.request);
  } catch (const DamagedData& damage) {
    error = EIO;
    worker.body = write_body(Reason{damage.what()});
    report(damage.what());
  } catch (const std::bad_alloc&) {
    error = ENOMEM;
  } catch (const std::system_error& failure) {
    error = failure.code().value();
  } catch (const std::exception& failure) {
    error = EIO;
    report(failure.what());
  }
  return write_message(Reply{request.number, static_cast<std::uint32_t>(error), worker.body});
}

}  // namespace strider::listio
