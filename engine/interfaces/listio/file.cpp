#include "interfaces/listio/file.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <utility>

#include "foundation/error.hpp"
#include "interfaces/windows.hpp"

namespace strider {
namespace {

const char* call_of(Direction direction) {
  return direction == Direction::write ? "listio write_list" : "listio read_list";
}

std::string decimal(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g", value);
  return text.data();
}

void add_registration(Facts& facts, const listio::Calibration& found) {
  facts["register_us_per_page"] = decimal(found.registering.slope) + " ± " + decimal(found.registering.slope_error);
  facts["register_us"] = decimal(found.registering.intercept) + " ± " + decimal(found.registering.intercept_error);
  facts["deregister_us_per_page"] =
      decimal(found.deregistering.slope) + " ± " + decimal(found.deregistering.slope_error);
  facts["deregister_us"] =
      decimal(found.deregistering.intercept) + " ± " + decimal(found.deregistering.intercept_error);
}

}  // namespace

ListioFile::ListioFile(VolumeClient& volume, const std::string& name, const OpenRequest& request,
                       const ListioFileOptions& options)
    : volume_(volume), client_(volume.client), options_(options), holes_(options.hole, options.holes) {
  // All ranks of a shared file make it at the same time.
  const auto creation = request.creation == Creation::create ? listio::Creation::if_missing : listio::Creation::never;
  file_ = client_.open(name, creation, 0600, options.spreading);
  before_ = client_.counters();
  const bool sieves = options.calls == ListioCalls::sieve || options.calls == ListioCalls::sieve_reads;
  if (sieves && !request.shape.contiguous) sieve_.resize(options.sieve_buffer);
  sieves_writes_ = options.calls == ListioCalls::sieve && !request.shape.contiguous;
}

template <typename Call>
auto ListioFile::located(Direction direction, std::span<const Extent> extents, const Call& call) const {
  try {
    return call();
  } catch (const IoError& error) {
    const Extent first = extents.empty() ? Extent{} : extents.front();
    throw IoError({call_of(direction), file_.path, first.file_offset, bytes_of(extents), error.details().error_number},
                  error.what(), error.remedy());
  }
}

/// Other cases use the same client.
void ListioFile::begin(const Request& request) {
  client_.choose(options_.method, options_.threshold_bytes);
  if (!request.extents.empty()) holes_.make(request);
}

void ListioFile::describe(const Request& request) {
  pieces_.clear();
  runs_.clear();
  for (const Extent& extent : request.extents) {
    pieces_.push_back({request.memory + extent.memory_offset, extent.length});
    runs_.push_back({extent.file_offset, extent.length});
  }
}

void ListioFile::count(Direction direction, std::span<const Extent> extents) {
  direction_ = direction;
  ++calls_;
  extents_ += extents.size();
  bytes_ += bytes_of(extents);
}

/// Throws where a read met the end of the file.
void ListioFile::require_all(std::uint64_t moved, Direction direction, std::span<const Extent> extents) {
  if (direction == Direction::write || moved == bytes_of(extents)) return;
  const std::uint64_t end = client_.size(file_);
  for (const Extent& extent : extents) {
    if (extent.file_offset + extent.length <= end) continue;
    const std::uint64_t offset = std::max(extent.file_offset, std::min(end, extent.file_offset + extent.length));
    throw IoError({call_of(direction), file_.path, offset, extent.file_offset + extent.length - offset, 0},
                  "the file ends here");
  }
}

void ListioFile::move_list(Direction direction, const Request& request) {
  describe(request);
  count(direction, request.extents);
  const std::uint64_t moved = located(direction, request.extents, [&] {
    if (direction == Direction::read) return client_.read_list(file_, pieces_, runs_);
    client_.write_list(file_, pieces_, runs_);
    return bytes_of(request.extents);
  });
  require_all(moved, direction, request.extents);
}

void ListioFile::move_each(Direction direction, const Request& request) {
  for (const Extent& extent : request.extents) move_list(direction, {{&extent, 1}, request.memory, request.number});
}

void ListioFile::read_sieved(const Request& request) {
  for_each_window(request, sieve_.size(), [&](const Window& window) {
    const Extent covered{window.begin, 0, window.end - window.begin};
    move_list(Direction::read, {{&covered, 1}, sieve_.data(), request.number});
    for_each_piece(request, window, [&](std::uint64_t in_window, std::uint64_t in_memory, std::uint64_t length) {
      std::memcpy(request.memory + in_memory, sieve_.data() + in_window, length);
    });
  });
}

/// Reads what a window of the file has, changes the pieces and writes all of it back. Others own what is in the holes:
/// no other client may write there meanwhile.
void ListioFile::write_window(const Request& request, const Window& window) {
  const std::uint64_t length = window.end - window.begin;
  const std::span<std::byte> part = std::span(sieve_).first(length);
  if (window.holes) {
    ++calls_;
    std::ranges::fill(part, std::byte{0});  // what is beyond the end of the file stays as it is
    located(Direction::read, request.extents, [&] { return client_.read(file_, part, window.begin); });
  }
  for_each_piece(request, window, [&](std::uint64_t in_window, std::uint64_t in_memory, std::uint64_t piece) {
    std::memcpy(part.data() + in_window, request.memory + in_memory, piece);
  });
  const Extent covered{window.begin, 0, length};
  move_list(Direction::write, {{&covered, 1}, sieve_.data(), request.number});
}

/// After an error, which counts more than what comes of this.
void ListioFile::give_up(listio::LockId lock) noexcept {
  try {
    client_.unlock(lock);
  } catch (const std::exception&) {
    return;  // it was lost with the connection
  }
}

void ListioFile::write_sieved(const Request& request) {
  for_each_window(request, sieve_.size(), [&](const Window& window) {
    const listio::ByteRun range{window.begin, window.end - window.begin};
    const listio::LockId lock = client_.lock(file_, {&range, 1}, listio::LockKind::exclusive);
    try {
      write_window(request, window);
    } catch (...) {
      give_up(lock);
      throw;
    }
    client_.unlock(lock);
  });
}

void ListioFile::write(const Request& request) {
  begin(request);
  if (request.extents.empty()) return;
  if (sieves_writes_) return write_sieved(request);
  if (options_.calls == ListioCalls::list) move_list(Direction::write, request);
  else move_each(Direction::write, request);
}

void ListioFile::read(const Request& request) {
  begin(request);
  if (request.extents.empty()) return;
  if (request.extents.size() > 1 && !sieve_.empty()) read_sieved(request);
  else if (options_.calls == ListioCalls::list) move_list(Direction::read, request);
  else move_each(Direction::read, request);
}

ListioFile::Transfer ListioFile::start(Direction direction, const Request& request, std::uint32_t slot) {
  begin(request);
  describe(request);
  count(direction, request.extents);
  const auto ticket = located(direction, request.extents, [&] {
    return direction == Direction::read ? client_.start_read_list(file_, pieces_, runs_)
                                        : client_.start_write_list(file_, pieces_, runs_);
  });
  return {ticket, slot, direction, {request.extents.begin(), request.extents.end()}};
}

void ListioFile::finish(const Transfer& transfer) {
  const std::uint64_t moved =
      located(transfer.direction, transfer.extents, [&] { return client_.wait(transfer.ticket); });
  require_all(moved, transfer.direction, transfer.extents);
}

Facts ListioFile::facts() const {
  const listio::ClientCounters now = client_.counters();
  Facts facts{{"transport", volume_.transport},
              {"checksums", client_.volume().checksums},
              {"servers", std::to_string(file_.striping.servers())},
              {"strip_bytes", std::to_string(file_.striping.strip_bytes())},
              {"calls", std::to_string(calls_)},
              {"extents", std::to_string(extents_)}};
  const auto add = [&](const char* name, std::uint64_t listio::ClientCounters::* counter) {
    facts[name] = std::to_string(now.*counter - before_.*counter);
  };
  using C = listio::ClientCounters;
  add("requests", &C::requests);
  add("messages", &C::messages);
  add("wire_bytes", &C::wire_bytes);
  add("network_operations", &C::operations);
  add("network_pieces", &C::pieces);
  add("packed_bytes", &C::packed_bytes);
  add("lists_gathered", &C::gathered_lists);
  add("lists_packed", &C::packed_lists);
  add("lists_by_piece", &C::multiple_lists);
  if (options_.method == listio::Method::hybrid && calls_ > 0) {
    const std::uint64_t threshold = options_.threshold_bytes > 0
                                        ? options_.threshold_bytes
                                        : client_.method_costs().crossover_bytes(direction_, bytes_ / calls_);
    facts["gathers_from_bytes"] = threshold > 0 ? std::to_string(threshold) : "never";
  }
  if (now.registrations + now.registration_failures == 0 && !volume_.registration) return facts;
  add("registrations", &C::registrations);
  add("registration_failures", &C::registration_failures);
  add("registered_pages", &C::registered_pages);
  add("hole_pages", &C::hole_pages);
  add("hole_queries", &C::queries);
  add("cache_hits", &C::cache_hits);
  if (now.registration_failures > before_.registration_failures && !client_.registration_problem().empty())
    facts["registration_problem"] = client_.registration_problem();
  facts["registration_us"] = decimal(now.register_us - before_.register_us);
  if (volume_.registration) add_registration(facts, *volume_.registration);
  return facts;
}

std::string ListioFile::server_of(std::uint64_t file_offset) const {
  const std::uint32_t number = file_.striping.locate(file_offset).server;
  return std::to_string(number) + " at " + client_.volume().servers.at(number);
}

ListioQueue::~ListioQueue() {
  for (const ListioFile::Transfer& transfer : in_flight_) try {
      file_.finish(transfer);
    } catch (const IoError&) {  // the phase has failed already
    }
}

/// Waits for the oldest; others are done or not.
std::size_t ListioQueue::complete(std::span<std::uint32_t> slots) {
  std::size_t count = 0;
  while (!in_flight_.empty() && count < slots.size()) {
    if (count > 0 && !file_.is_done(in_flight_.front())) break;
    const ListioFile::Transfer oldest = std::move(in_flight_.front());
    in_flight_.pop_front();
    file_.finish(oldest);
    slots[count++] = oldest.slot;
  }
  return count;
}

void ListioQueue::close() {
  while (!in_flight_.empty()) {
    const ListioFile::Transfer oldest = std::move(in_flight_.front());
    in_flight_.pop_front();
    file_.finish(oldest);
  }
}

}  // namespace strider
