#include "faults.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <random>
#include <set>

namespace forgetfs {
namespace {

const std::map<std::string, int, std::less<>> errors{
    {"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EDQUOT", EDQUOT}, {"ESTALE", ESTALE}, {"EINTR", EINTR},
    {"EACCES", EACCES}, {"EROFS", EROFS},   {"EAGAIN", EAGAIN}, {"ENOENT", ENOENT}, {"ETIMEDOUT", ETIMEDOUT}};
const std::set<std::string, std::less<>> others{"short", "unfilled", "zero",      "flip",   "swap", "stale", "shift",
                                                "swab",  "dropped",  "lost-tail", "append", "gap",  "delay", "hang"};

/// Where the byte of a place comes from, or goes to.
std::uint64_t moved(const Fault& fault, const Range& range, std::uint64_t place) {
  if (!range.holds(place)) return place;
  if (fault.kind == "shift") return place + fault.amount.value_or(1);
  if (fault.kind == "swab") return place ^ 7;
  const std::uint64_t unit = fault.amount.value_or((range.end - range.begin) / 2);
  const std::uint64_t from_begin = place - range.begin;
  if (from_begin < unit) return place + unit;
  return from_begin < 2 * unit ? place - unit : place;
}

bool moves(const Fault& fault) { return fault.kind == "shift" || fault.kind == "swab" || fault.kind == "swap"; }

/// The bytes that are lost of a transfer.
Range lost(const Fault& fault, const Call& call) {
  Range range = fault.within(call);
  if (fault.kind == "unfilled" && !fault.range) {
    const std::uint64_t length = std::min(fault.amount.value_or(call.length / 4), call.length);
    range.begin = range.end - length;
  }
  return range;
}

Bytes garbage(std::uint64_t length) {
  std::mt19937 random(1);
  Bytes made(length);
  for (char& byte : made) byte = static_cast<char>(random() | 1);
  return made;
}

std::size_t flipped_at(const Fault& fault, const Call& call) {
  return (fault.within(call).begin - call.offset) + (fault.range ? 0 : fault.amount.value_or(0) % call.length);
}

/// Whether a write leaves some bytes as they are; behind the end of the file there are zeros.
bool keeps(const Call& call, const Range& range) {
  if (call.data == nullptr) return false;
  const Bytes& now = call.node->now;
  for (std::uint64_t place = range.begin; place < range.end; ++place)
    if ((*call.data)[place - call.offset] != (place < now.size() ? now[place] : '\0')) return false;
  return true;
}

}  // namespace

bool is_kind(const std::string& word) { return errors.contains(word) || others.contains(word); }

int error_of(const std::string& kind) {
  const auto found = errors.find(kind);
  return found == errors.end() ? 0 : found->second;
}

Range Fault::within(const Call& call) const {
  const Range whole{call.offset, call.offset + call.length};
  if (!range) return whole;
  return {std::max(range->begin, whole.begin), std::min(range->end, whole.end)};
}

void Faults::created(const Node& node) {
  std::set<std::string> names;
  for (const Fault& fault : faults_)
    if (fault.file != 0 && node.path().find(fault.name) != std::string::npos) names.insert(fault.name);
  for (const std::string& name : names) files_[name].push_back(node.number);
}

bool Faults::fits(const Fault& fault, const Call& call) const {
  const bool syncs = fault.op == "sync" && (call.op == "fsync" || call.op == "fdatasync");
  const bool opens = fault.op == "open" && call.op == "create";
  if ((fault.op != call.op && !syncs && !opens) || call.path.find(fault.name) == std::string::npos) return false;
  if (fault.file != 0) {
    const auto files = files_.find(fault.name);
    if (files == files_.end() || files->second.size() < fault.file || call.node == nullptr ||
        files->second[fault.file - 1] != call.node->number)
      return false;
  }
  if (fault.read_only && (call.flags & O_ACCMODE) != O_RDONLY) return false;
  // A gap lies where no call goes: it is damaged beside any.
  if (!fault.range || fault.kind == "gap" || (call.op != "read" && call.op != "write")) return true;
  const Range range = fault.within(call);
  return range.begin < range.end && !keeps(call, range);
}

std::optional<Fault> Faults::choose(const Call& call) {
  for (Fault& fault : faults_) {
    if (!fits(fault, call)) continue;
    if (fault.call != 0 && ++fault.seen != fault.call) continue;
    ++fault.hits;
    return fault;
  }
  return std::nullopt;
}

void damage_read(const Fault& fault, const Call& call, Bytes& data) {
  if (data.empty()) return;
  const Range range = fault.within({call.op, call.node, call.offset, data.size()});
  const Bytes& now = call.node->now;
  const auto from = [](const Bytes& image, std::uint64_t place) { return place < image.size() ? image[place] : '\0'; };
  if (fault.kind == "short") data.resize(std::max<std::size_t>(1, data.size() / 2));
  if (fault.kind == "flip") data[flipped_at(fault, {call.op, call.node, call.offset, data.size()})] ^= 1;
  const Range gone = lost(fault, {call.op, call.node, call.offset, data.size()});
  for (std::uint64_t place = range.begin; place < range.end && place < call.offset + data.size(); ++place) {
    char& byte = data[place - call.offset];
    if (fault.kind == "zero") byte = '\0';
    if (fault.kind == "stale") byte = from(call.node->old, place);
    if ((fault.kind == "unfilled" || fault.kind == "dropped") && gone.holds(place)) byte = '\0';
    if (moves(fault)) byte = from(now, moved(fault, fault.range.value_or(range), place));
  }
}

std::vector<Piece> damage_write(const Fault& fault, const Call& call, const Bytes& data) {
  Bytes changed = data;
  const Range range = fault.within(call);
  if (fault.kind == "flip") changed[flipped_at(fault, call)] ^= 1;
  if (fault.kind == "zero")
    std::fill(changed.begin() + static_cast<std::ptrdiff_t>(range.begin - call.offset),
              changed.begin() + static_cast<std::ptrdiff_t>(range.end - call.offset), '\0');
  const bool loses = fault.kind == "dropped" || fault.kind == "stale" || fault.kind == "unfilled";
  if (!loses && !moves(fault)) return {{call.offset, std::move(changed)}};

  const Range gone = lost(fault, call);
  std::vector<std::pair<std::uint64_t, char>> landing;
  for (std::size_t i = 0; i < changed.size(); ++i) {
    const std::uint64_t place = call.offset + i;
    if (loses && gone.holds(place)) continue;
    landing.emplace_back(moves(fault) ? moved(fault, fault.range.value_or(range), place) : place, changed[i]);
  }
  std::ranges::sort(landing);
  std::vector<Piece> pieces;
  for (const auto& [place, byte] : landing) {
    if (pieces.empty() || pieces.back().offset + pieces.back().data.size() != place) pieces.push_back({place, {}});
    pieces.back().data.push_back(byte);
  }
  return pieces;
}

void damage_file(const Fault& fault, Node& node) {
  const std::uint64_t size = node.now.size();
  if (fault.kind == "lost-tail") node.put({size - std::min(size, fault.amount.value_or(300)), {}, true});
  if (fault.kind == "append") node.put({size, garbage(fault.amount.value_or(777))});
  if (fault.kind == "gap" && fault.range)
    node.put({fault.range->begin, garbage(fault.range->end - fault.range->begin)});
}

}  // namespace forgetfs
