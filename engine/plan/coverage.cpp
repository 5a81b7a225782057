#include "plan/coverage.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace strider {
namespace {

constexpr unsigned word_bits = 64;
constexpr std::uint64_t largest_unit = 1 << 20;
constexpr std::uint64_t requests_between_questions = 1024;

/// The requests of a rank that touch a part of the file, where each is the first one moved by `shift` times its number.
struct Range {
  std::uint64_t first = 0, last = 0;
};
Range touching(std::span<const Extent> request_0, std::uint64_t shift, std::uint64_t requests, const ByteSet& part) {
  const std::uint64_t begin = request_0.front().file_offset;
  const std::uint64_t end = request_0.back().file_offset + request_0.back().length;
  const std::uint64_t first = part.begin() >= end ? (part.begin() - end) / shift : 0;
  const std::uint64_t last = part.end() > begin ? (part.end() - begin + shift - 1) / shift : 0;
  return {std::min(first, requests), std::min(last, requests)};
}

/// Adds requests by their numbers: `numbers(first, out)` puts those from index `first` of the order on into `out`, and
/// returns how many of them count.
template <typename Numbers>
bool add_range(const Pattern& pattern, Place place, Range range, const Numbers& numbers,
               const std::function<bool()>& go_on, ByteSet& set) {
  constexpr std::size_t batch = 64;
  std::array<std::uint64_t, batch> some{};
  std::vector<Extent> list(std::max<std::uint64_t>(batch, pattern.most_extents(place)));
  for (std::uint64_t next = range.first; next < range.last;) {
    if ((next - range.first) % requests_between_questions == 0 && !go_on()) return false;
    const std::size_t count = std::min<std::uint64_t>(batch, range.last - next);
    const auto part = std::span(some).first(numbers(next, std::span(some).first(count)));
    if (pattern.contiguous()) {
      pattern.fill(place, part, std::span(list).first(part.size()));
      for (const Extent& extent : std::span(list).first(part.size())) set.add(extent);
    } else {
      for (const std::uint64_t number : part)
        for (const Extent& extent : std::span(list).first(pattern.fill_request(place, number, list))) set.add(extent);
    }
    next += count;
  }
  return true;
}

}  // namespace

ByteSet::ByteSet(std::uint64_t unit, std::uint64_t bits)
    : unit_shift_(static_cast<unsigned>(std::countr_zero(unit))), bits_(bits) {}

void ByteSet::reset(std::uint64_t begin, std::uint64_t end) {
  begin_ = begin;
  end_ = std::min(end, begin + capacity());
  const std::uint64_t units = (end_ - begin_ + (std::uint64_t{1} << unit_shift_) - 1) >> unit_shift_;
  words_.assign((units + word_bits - 1) / word_bits, 0);
}

void ByteSet::add(const Extent& extent) {
  const std::uint64_t from = std::max(extent.file_offset, begin_);
  const std::uint64_t to = std::min(extent.file_offset + extent.length, end_);
  if (from >= to) return;
  const std::uint64_t first = (from - begin_) >> unit_shift_, last = (to - begin_ - 1) >> unit_shift_;
  const std::uint64_t first_mask = ~std::uint64_t{0} << (first % word_bits);
  const std::uint64_t last_mask = ~std::uint64_t{0} >> (word_bits - 1 - last % word_bits);
  const std::uint64_t first_word = first / word_bits, last_word = last / word_bits;
  if (first_word == last_word) {
    words_[first_word] |= first_mask & last_mask;
    return;
  }
  words_[first_word] |= first_mask;
  std::fill(words_.begin() + static_cast<std::ptrdiff_t>(first_word) + 1,
            words_.begin() + static_cast<std::ptrdiff_t>(last_word), ~std::uint64_t{0});
  words_[last_word] |= last_mask;
}

bool ByteSet::has(std::uint64_t offset) const {
  const std::uint64_t unit = (offset - begin_) >> unit_shift_;
  return (words_[unit / word_bits] >> (unit % word_bits) & 1) != 0;
}

std::uint64_t ByteSet::run_end(std::uint64_t offset, std::uint64_t limit) const {
  limit = std::min(limit, end_);
  const std::uint64_t unit = (offset - begin_) >> unit_shift_;
  const std::uint64_t flip = has(offset) ? ~std::uint64_t{0} : 0;  // then the run ends at the first bit that is set
  std::uint64_t rest = (words_[unit / word_bits] ^ flip) & (~std::uint64_t{0} << (unit % word_bits));
  for (std::uint64_t word = unit / word_bits;; rest = words_[word] ^ flip) {
    if (rest != 0) {
      const std::uint64_t ends_at = word * word_bits + static_cast<unsigned>(std::countr_zero(rest));
      return std::min(limit, begin_ + (ends_at << unit_shift_));
    }
    if (++word == words_.size() || begin_ + (word * word_bits << unit_shift_) >= limit) return limit;
  }
}

std::uint64_t unit_of(const Pattern& pattern, std::uint32_t ranks) {
  const std::uint64_t alignment = pattern.alignment(ranks);
  return alignment == 0 ? 1 : std::clamp<std::uint64_t>(std::bit_floor(alignment), 1, largest_unit);
}

bool add_written(const Pattern& pattern, Place place, const IssuedRequests& issued, const std::function<bool()>& go_on,
                 ByteSet& set) {
  const std::uint64_t requests = pattern.requests(place, Direction::write);
  if (issued.count < requests || issued.draw != nullptr) {
    const auto in_order = [&issued](std::uint64_t first, std::span<std::uint64_t> out) {
      issued.order.fill(first, out);
      if (issued.draw == nullptr) return out.size();
      std::size_t written = 0;
      for (std::size_t i = 0; i < out.size(); ++i)
        if (!issued.draw->reads(first + i)) out[written++] = out[i];
      return written;
    };
    return add_range(pattern, place, {0, std::min(issued.count, requests)}, in_order, go_on, set);
  }
  Range all{0, requests};
  if (const std::uint64_t shift = pattern.file_shift(place); shift > 0 && requests > 0) {
    std::vector<Extent> request_0(pattern.extents(place, 0));
    request_0.resize(pattern.fill_request(place, 0, request_0));
    all = touching(request_0, shift, requests, set);
  }
  const auto by_number = [](std::uint64_t first, std::span<std::uint64_t> out) {
    std::iota(out.begin(), out.end(), first);
    return out.size();
  };
  return add_range(pattern, place, all, by_number, go_on, set);
}

}  // namespace strider
