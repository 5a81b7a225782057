#include "verify/classify.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "verify/explanation.hpp"

namespace strider {
namespace {

// Bounds of the work for one piece.
constexpr unsigned most_searches = 2048;  ///< for what explains wrong bytes; what is left is sampled
constexpr unsigned samples = 256, searches_in_sample = 8;
constexpr std::uint64_t sample_bytes = 512;
constexpr std::uint64_t scanned_finely = 4096;  ///< foreign bytes, before only one place in 512 is looked at
constexpr std::uint64_t sector = 512;
constexpr std::uint64_t packet_scan_bytes =
    4096;  ///< in which a mark must lie that says where data in IOR's form belongs

// What is known of the data of a case.
constexpr std::uint64_t files_tried = 4096, generations_tried = 64, repetitions_tried = 1024;

/// An explanation is believed if chance would bring it about once in 2^12 times.
constexpr int believed_bits = 12;
/// Bytes that are compared to choose an explanation.
constexpr std::uint64_t window = 64;
/// Wrong bits that may have been flipped, of 8 bytes; random ones are 32 ± 4.
constexpr int most_flipped_bits = 8;

std::uint64_t word_at(const std::byte* from) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, sizeof word);
  return word;
}

bool near(std::uint64_t shift) { return shift < Classifier::shift_limit || -shift < Classifier::shift_limit; }

}  // namespace

/// The examination of one piece, from its first wrong byte on.
class Classifier::Examination {
 public:
  Examination(Classifier& classifier, const Piece& piece) : known_(classifier), piece_(piece) {}

  Diagnosis run() {
    std::uint64_t position = piece_.next_wrong(0, piece_.size());
    has_right_word_ = position >= 8;
    position = explain_all(position, piece_.size(), most_searches);
    if (position < piece_.size()) sample(position);
    if (has_right_word_)
      for (Damage& damage : result_.causes)
        if (damage.cause == Cause::stale) damage.cause = Cause::torn;
    return std::move(result_);
  }

 private:
  /// Something that may explain the bytes from a position on.
  struct Candidate {
    Explanation explanation;
    int bits = 0;  ///< how sure this is: chance would bring it about once in 2^bits times
  };

  std::uint64_t explain_all(std::uint64_t position, std::uint64_t limit, unsigned searches);
  void explain(std::uint64_t position, std::uint64_t& end, std::uint64_t limit);
  void sample(std::uint64_t position);
  void add(const Damage& damage);

  void consider(const Explanation& explanation, std::uint64_t position, int cost);
  void consider_shifts(std::uint64_t position);
  void consider_written_data(std::uint64_t position);
  void consider_packets(std::uint64_t position);
  void consider_mark(const Packet& right, std::uint64_t word, std::uint64_t position, std::uint64_t offset);
  void consider_signature(const Packet& right, std::uint64_t word, std::uint64_t position, std::uint64_t offset);
  std::optional<Explanation> written_data(std::uint64_t seed, std::uint64_t file_offset, bool sure);
  std::optional<Explanation> data_at(std::uint64_t position);
  bool explain_by_bits(std::uint64_t position, std::uint64_t& end);
  std::uint64_t end_of_foreign(std::uint64_t position, std::uint64_t limit);
  bool ends_foreign(std::uint64_t position);

  Classifier& known_;
  const Piece& piece_;
  Diagnosis result_;
  std::optional<Candidate> best_;
  bool has_right_word_ = false;
};

/// Explains wrong bytes up to `limit`; returns where it ended, before that if there were too many searches.
std::uint64_t Classifier::Examination::explain_all(std::uint64_t position, std::uint64_t limit, unsigned searches) {
  for (; position < limit && searches > 0; --searches) {
    std::uint64_t end = position;
    explain(position, end, limit);
    position = piece_.next_wrong(end, limit);
    has_right_word_ = has_right_word_ || position >= end + 8;
  }
  return std::min(position, limit);
}

/// Finds out about the wrong byte at `position` and those after it, up to `end`.
void Classifier::Examination::explain(std::uint64_t position, std::uint64_t& end, std::uint64_t limit) {
  best_.reset();
  // The last byte alone, as it was made wrong before the read: that is a read one byte too short.
  const bool last_unread = position + 1 == piece_.size() && piece_.found[position] == ~piece_.right_at(position);
  consider(Explanation::constant(Cause::unread, spoilt_byte), position, last_unread ? -8 : 0);
  consider(Explanation::constant(Cause::zero, std::byte{0}), position, 0);
  for (const std::uint64_t width : {2U, 4U, 8U})
    for (const std::uint64_t base : {std::uint64_t{0}, piece_.file_offset})
      consider(Explanation::swapped(piece_.expected, width, base), position, 3);
  consider_shifts(position);
  if (piece_.expected.packet()) consider_packets(position);
  else consider_written_data(position);
  if (best_ && best_->bits >= believed_bits) {
    const Explanation& explanation = best_->explanation;
    end = explanation.end(piece_, position, limit);
    const std::uint64_t offset = piece_.file_offset + position;
    return add({explanation.cause(), offset, piece_.count_wrong(position, end), explanation.value_at(offset)});
  }
  if (explain_by_bits(position, end)) return;
  end = end_of_foreign(position, limit);
  add({Cause::foreign, piece_.file_offset + position, piece_.count_wrong(position, end), 0});
}

/// Keeps the explanation if it is the best one so far. `cost`: how many bits it takes to choose it from others.
void Classifier::Examination::consider(const Explanation& explanation, std::uint64_t position, int cost) {
  if (!explanation.predicts(piece_, position)) return;
  const std::uint64_t end = explanation.end(piece_, position, std::min(piece_.size(), position + window));
  const int bits = 8 * static_cast<int>(piece_.count_wrong(position, end)) - cost;
  if (!best_ || bits > best_->bits) best_ = {explanation, bits};
}

/// Data that has moved by a few bytes, also if there is less of it than two words.
void Classifier::Examination::consider_shifts(std::uint64_t position) {
  constexpr std::uint64_t most = shift_limit - 1;
  const std::uint64_t offset = piece_.file_offset + position, before = std::min(offset, most);
  std::array<std::byte, 2 * most + 4> around;
  const auto known = std::span(around).first(before + most + 4);
  piece_.expected.fill(known, offset - before);
  const std::size_t length = std::min<std::size_t>(4, piece_.size() - position);
  const std::byte* found = piece_.found.data() + position;
  for (std::size_t i = 0; i < before + most + 1; ++i)
    if (known[i] == *found && std::memcmp(known.data() + i, found, length) == 0)
      consider(Explanation::other_data(Cause::shifted, piece_.expected, before - i,
                                       static_cast<std::int64_t>(before) - static_cast<std::int64_t>(i)),
               position, 10);
}

/// What the data of a word is, `seed` being its key + i · step. `sure`: the next word is its successor.
std::optional<Explanation> Classifier::Examination::written_data(std::uint64_t seed, std::uint64_t file_offset,
                                                                 bool sure) {
  if (file_offset % 8 == 0)
    if (const auto age = known_.age_of_key(seed - file_offset / 8 * seed_step))
      return Explanation::other_data(Cause::stale, FileData::of_key(seed - file_offset / 8 * seed_step), 0, *age);
  const auto from = [&](std::uint64_t key, bool here) -> std::optional<Explanation> {
    const std::uint64_t origin = FileData::of_key(key).offset_of_seed(seed), shift = file_offset - origin;
    if (origin >= known_.known_.file_size || (here && shift == 0)) return std::nullopt;
    const bool moved = here && near(shift);
    return Explanation::other_data(moved ? Cause::shifted : Cause::misplaced, FileData::of_key(key), shift,
                                   static_cast<std::int64_t>(shift));
  };
  if (auto found = from(piece_.expected.key(), true)) return found;
  for (const std::uint64_t key : known_.other_files_)
    if (auto found = from(key, false)) return found;
  if (!sure) return std::nullopt;
  for (const Older& older : known_.older())
    if (auto found = from(older.key, false)) return found;
  const std::uint64_t shift = file_offset % 8, index = file_offset / 8;
  return Explanation::other_data(Cause::foreign, FileData::of_key(seed - index * seed_step), shift, 1);
}

/// Two neighbouring words of a file's data at this position say what they are, wherever and whenever it was written.
std::optional<Explanation> Classifier::Examination::data_at(std::uint64_t position) {
  if (piece_.expected.packet() || position + 16 > piece_.size()) return std::nullopt;
  const std::byte* words = piece_.found.data() + position;
  const std::uint64_t seed = seed_of(word_at(words)), offset = piece_.file_offset + position;
  if (offset % 8 == 0 && seed == piece_.expected.key() + offset / 8 * seed_step) return std::nullopt;  // it is right
  if (seed_of(word_at(words + 8)) - seed != seed_step) return std::nullopt;
  return written_data(seed, offset, true);
}

/// Data of the case's files, of any generation, or of other runs.
void Classifier::Examination::consider_written_data(std::uint64_t position) {
  for (std::uint64_t at = position; at < position + 8; ++at)
    if (const auto data = data_at(at); data && data->predicts(piece_, position)) return consider(*data, position, 64);
  const std::uint64_t whole = position + (8 - (piece_.file_offset + position) % 8) % 8;
  if (whole + 8 <= piece_.size())
    if (const auto data =
            written_data(seed_of(word_at(piece_.found.data() + whole)), piece_.file_offset + whole, false))
      consider(*data, position, data->cause() == Cause::stale ? 16 : known_.bits_of_a_place());
  for (const Older& older : known_.recent())
    consider(Explanation::other_data(Cause::stale, FileData::of_key(older.key), 0, older.age), position, 5);
}

/// Data in IOR's form of another place, or with another signature, as far as its words say so.
void Classifier::Examination::consider_packets(std::uint64_t position) {
  const Packet& right = *piece_.expected.packet();
  const std::uint64_t into_word = (piece_.file_offset + position) % 8;
  const std::uint64_t begin = into_word <= position ? position - into_word : position + 8 - into_word;
  for (std::uint64_t at = begin; at + 8 <= std::min(piece_.size(), begin + packet_scan_bytes); at += 8) {
    const std::uint64_t word = word_at(piece_.found.data() + at), offset = piece_.file_offset + at;
    if (right.is_mark(offset)) return consider_mark(right, word, position, offset);
    if (at == begin) consider_signature(right, word, position, offset);
  }
}

void Classifier::Examination::consider_mark(const Packet& right, std::uint64_t word, std::uint64_t position,
                                            std::uint64_t offset) {
  const std::uint64_t file_size = known_.known_.file_size, here = offset - offset % right.transfer_bytes;
  const auto origin = right.transfer_of_mark(word, offset, file_size);
  Packet other = right;
  if (right.tasks == 1) other.first_rank = static_cast<std::uint32_t>(word >> 32);
  if (!origin) return;
  const int cost = static_cast<int>(std::bit_width(file_size / right.transfer_bytes));
  consider(Explanation::other_data(Cause::misplaced, FileData(other), here - *origin, 0), position, cost);
}

/// Words that count up from another number.
void Classifier::Examination::consider_signature(const Packet& right, std::uint64_t word, std::uint64_t position,
                                                 std::uint64_t offset) {
  if (right.type != Packet::Type::timestamp && right.type != Packet::Type::offset) return;
  Packet other = right;
  other.signature = static_cast<std::uint32_t>(word - offset % right.transfer_bytes / 8);
  // Repetitions of IOR begin within hours of each other, and users give small numbers.
  constexpr std::uint32_t near_signatures = 1 << 16;
  const std::uint32_t difference = other.signature - right.signature;
  const bool is_near = difference < near_signatures || -difference < near_signatures;
  consider(Explanation::other_data(Cause::foreign, FileData(other), 0, 1), position, is_near ? 8 : 32);
}

/// Few bytes that nothing else explains: flipped bits, or a byte of zero.
bool Classifier::Examination::explain_by_bits(std::uint64_t position, std::uint64_t& end) {
  const std::uint64_t last = std::min(piece_.size(), position + 8);
  int bits = 0;
  std::uint64_t wrong = 0;
  for (std::uint64_t at = position; at < last; ++at) {
    const auto difference = std::to_integer<unsigned>(piece_.found[at] ^ piece_.right_at(at));
    if (difference == 0) continue;
    bits += std::popcount(difference);
    ++wrong;
    end = at + 1;
  }
  const std::uint64_t offset = piece_.file_offset + position;
  if (wrong == 1 && bits > 1 && piece_.found[position] == std::byte{0}) {
    add({Cause::zero, offset, 1, 0});
    return true;
  }
  if (bits > most_flipped_bits) return false;
  add({Cause::flipped, offset, wrong, bits});
  return true;
}

/// Whether what is at this position is certainly something else.
bool Classifier::Examination::ends_foreign(std::uint64_t position) {
  const std::uint64_t length = std::min<std::uint64_t>(8, piece_.size() - position);
  const auto some = piece_.found.subspan(position, length);
  const auto all = [&](std::byte value) {
    return length == 8 && std::ranges::all_of(some, [value](std::byte b) { return b == value; });
  };
  if (length >= 4 && !piece_.expected.first_mismatch(some, piece_.file_offset + position)) return true;
  if (all(std::byte{0}) || all(spoilt_byte)) return true;
  const std::uint64_t offset = piece_.file_offset + position;
  if (length == 8 && offset % 8 == 0)
    for (const std::uint64_t width : {2U, 4U, 8U})
      if (const auto swapped = Explanation::swapped(piece_.expected, width, 0);
          swapped.end(piece_, position, position + 8) == position + 8)
        return true;
  if (piece_.expected.packet()) return false;
  return position + 16 <= piece_.size() &&
         seed_of(word_at(some.data() + 8)) - seed_of(word_at(some.data())) == seed_step;
}

/// Where bytes end of which nothing is known. Of many only the beginnings of sectors are looked at.
std::uint64_t Classifier::Examination::end_of_foreign(std::uint64_t position, std::uint64_t limit) {
  std::uint64_t at = position + 1;
  const std::uint64_t finely = std::min(limit, position + scanned_finely);
  const auto start_of = [&](std::uint64_t found) {
    // Words show their origin where they begin, what belongs to it may begin a few bytes before.
    const auto data = piece_.is_right(found) ? std::nullopt : data_at(found);
    if (data) return data->begin(piece_, found, position + 1);
    while (found > position + 1 && piece_.is_right(found - 1)) --found;
    return found;
  };
  for (; at < finely; ++at)
    if (ends_foreign(at)) return start_of(at);
  for (at += (sector - (piece_.file_offset + at) % sector) % sector; at < limit; at += sector)
    for (std::uint64_t phase = 0; phase < 8 && at + phase < limit; ++phase)
      if (ends_foreign(at + phase)) return start_of(at + phase);
  return limit;
}

void Classifier::Examination::add(const Damage& damage) {
  if (damage.bytes == 0) return;
  result_.wrong_bytes += damage.bytes;
  const bool by_value = damage.cause == Cause::shifted || damage.cause == Cause::byte_order;
  const auto alike = [&](const Damage& other) {
    return other.cause == damage.cause && (!by_value || other.value == damage.value);
  };
  auto same = std::ranges::find_if(result_.causes, alike);
  if (same == result_.causes.end() && result_.causes.size() == most_causes) {
    same = std::ranges::find(result_.causes, damage.cause, &Damage::cause);
    if (same == result_.causes.end()) --same;
  }
  if (same == result_.causes.end()) return result_.causes.push_back(damage);
  same->bytes += damage.bytes;
  if (damage.cause == Cause::flipped) same->value += damage.value;
}

/// Explains samples of what is left, and takes them for all of it.
void Classifier::Examination::sample(std::uint64_t position) {
  const std::uint64_t left = piece_.count_wrong(position, piece_.size());
  Diagnosis before = std::exchange(result_, {});
  const std::uint64_t distance = (piece_.size() - position) / samples;
  for (unsigned i = 0; i < samples; ++i) {
    const std::uint64_t begin = position + i * distance;
    const std::uint64_t end = std::min(piece_.size(), begin + std::min(distance, sample_bytes));
    explain_all(piece_.next_wrong(begin, end), end, searches_in_sample);
  }
  Diagnosis found = std::exchange(result_, std::move(before));
  if (found.causes.empty()) found = {1, {{Cause::foreign, piece_.file_offset + position, 1, 0}}, true};
  const double scale = static_cast<double>(left) / static_cast<double>(found.wrong_bytes);
  std::uint64_t shared = 0;
  for (std::size_t i = 0; i < found.causes.size(); ++i) {
    Damage& damage = found.causes[i];
    const auto share = static_cast<std::uint64_t>(scale * static_cast<double>(damage.bytes));
    damage.bytes = i + 1 == found.causes.size() ? left - shared : std::min(left - shared, share);
    if (damage.cause == Cause::flipped)
      damage.value = static_cast<std::int64_t>(scale * static_cast<double>(damage.value));
    shared += damage.bytes;
    add(damage);
  }
  result_.sampled = true;
}

Classifier::Classifier(const Known& known) : known_(known), expected_(known.expected) {
  if (known.expected.packet) return;  // its words say where they belong, not a key
  FileData::Identity other = known_.expected;
  for (std::uint64_t file = 0; file < std::min(known_.files, files_tried); ++file) {
    if (file == known_.expected.file) continue;
    other.file = file;
    other_files_.push_back(FileData(other).key());
  }
}

std::int64_t Classifier::age_of(std::uint64_t generation) const {
  const std::uint64_t now = known_.expected.generation;
  const std::uint64_t repetitions = now / generations_per_repetition - generation / generations_per_repetition;
  return repetitions > 0 ? -static_cast<std::int64_t>(repetitions)
                         : static_cast<std::int64_t>(now - generation + known_.expected.pass);
}

/// The passes before the expected one, the youngest ones first.
void Classifier::add_passes(std::uint64_t most, std::vector<Older>& to) const {
  FileData::Identity suspect = known_.expected;
  for (std::uint64_t age = 1; age <= std::min(most, known_.expected.pass); ++age) {
    suspect.pass = known_.expected.pass - age;
    to.push_back({FileData(suspect).key(), static_cast<std::int64_t>(age)});
  }
}

/// The youngest ones first.
const std::vector<Classifier::Older>& Classifier::older() {
  if (!older_.empty() || (known_.expected.generation == 0 && known_.expected.pass == 0)) return older_;
  add_passes(generations_tried, older_);
  const std::uint64_t repetition = known_.expected.generation / generations_per_repetition;
  FileData::Identity suspect = known_.expected;
  suspect.pass = 0;
  for (std::uint64_t back = 0; back <= std::min(repetition, repetitions_tried); ++back) {
    const std::uint64_t first = (repetition - back) * generations_per_repetition;
    const std::uint64_t end = back == 0 ? known_.expected.generation : first + generations_tried;
    for (suspect.generation = end; suspect.generation-- > first;)
      older_.push_back({FileData(suspect).key(), age_of(suspect.generation)});
  }
  for (const Older& one : older_) age_of_key_.emplace(one.key, one.age);
  return older_;
}

std::optional<std::int64_t> Classifier::age_of_key(std::uint64_t key) {
  older();
  const auto found = age_of_key_.find(key);
  return found == age_of_key_.end() ? std::nullopt : std::optional(found->second);
}

/// Those that are likely: the last ones of this repetition and the first ones of the one before.
std::vector<Classifier::Older> Classifier::recent() const {
  constexpr std::uint64_t of_each = 8;
  const std::uint64_t now = known_.expected.generation,
                      first = now / generations_per_repetition * generations_per_repetition;
  std::vector<Older> some;
  add_passes(of_each, some);
  FileData::Identity suspect = known_.expected;
  suspect.pass = 0;
  const auto add = [&](std::uint64_t generation) {
    suspect.generation = generation;
    some.push_back({FileData(suspect).key(), age_of(generation)});
  };
  for (std::uint64_t generation = now; generation > first && now - generation < of_each;) add(--generation);
  for (std::uint64_t i = 0; i < of_each && first > 0; ++i) add(first - generations_per_repetition + i);
  return some;
}

/// How many bits it takes to say where in which file data belongs.
int Classifier::bits_of_a_place() const {
  return static_cast<int>(std::bit_width(other_files_.size() + 1) + std::bit_width(known_.file_size / 8));
}

Classifier::Diagnosis Classifier::classify(std::span<const std::byte> found, std::uint64_t file_offset) {
  return Examination(*this, {found, file_offset, expected_}).run();
}

}  // namespace strider
