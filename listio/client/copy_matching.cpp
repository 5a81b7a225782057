#include "listio/client/copy_matching.hpp"

#include <map>
#include <string_view>
#include <unordered_map>

namespace strider::listio {
namespace {

constexpr std::size_t digits = 16, group = 4, fewest_equal = 12;
constexpr std::size_t digits_begin = std::string_view("strider-listio-file 2 ").size();

using EntryPlaces = std::vector<std::optional<std::size_t>>;

/// Where an entry has the number of its file.
std::string_view number_in(const std::string& text) {
  return text.size() < digits_begin + digits ? std::string_view() : std::string_view(text).substr(digits_begin, digits);
}

bool is_legible(std::string_view number) {
  return !number.empty() && number.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string_view last_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// Pairs that have a key in common, if neither has it in common with a third.
class Pairs {
 public:
  void add_entry(const std::string& key, std::size_t entry) { note(keys_[key].first, entry); }
  void add_copy(const std::string& key, std::size_t copy) { note(keys_[key].second, copy); }
  template <typename Action>
  void for_each(const Action& action) const {
    for (const auto& [key, sides] : keys_)
      if (sides.first.count == 1 && sides.second.count == 1) action(sides.first.last, sides.second.last);
  }

 private:
  struct Side {
    std::size_t count = 0, last = 0;
  };
  static void note(Side& side, std::size_t which) { side = {side.count + 1, which}; }
  std::unordered_map<std::string, std::pair<Side, Side>> keys_;
};

/// The copies with a group of digits in common with an entry, and enough others; nothing unless there is one alone.
class ByNumber {
 public:
  explicit ByNumber(std::span<const UnnamedCopy> copies) {
    for (std::size_t i = 0; i < copies.size(); ++i) {
      numbers_.push_back(digits_of(copies[i].file));
      for (std::size_t at = 0; at < digits; at += group) groups_[numbers_[i].substr(at, group) + key(at)].push_back(i);
    }
  }
  std::optional<std::size_t> find(std::string_view number) const {
    std::optional<std::size_t> only;
    for (std::size_t at = 0; at < number.size(); at += group) {
      const auto found = groups_.find(std::string(number.substr(at, group)) + key(at));
      if (found == groups_.end()) continue;
      for (const std::size_t i : found->second) {
        if (!is_close(number, numbers_[i]) || only == i) continue;
        if (only) return {};
        only = i;
      }
    }
    return only;
  }

 private:
  static std::string key(std::size_t at) { return ":" + std::to_string(at); }
  static bool is_close(std::string_view number, std::string_view other) {
    std::size_t equal = 0;
    for (std::size_t i = 0; i < digits; ++i) equal += number[i] == other[i] ? 1 : 0;
    return equal >= fewest_equal;
  }
  std::vector<std::string> numbers_;
  std::unordered_map<std::string, std::vector<std::size_t>> groups_;
};

/// Matches entries for which `use` holds by a key of paths, unless they are matched.
template <typename Key, typename Use>
void match_by(const Key& key, const Use& use, std::span<const DamagedEntry> entries,
              std::span<const UnnamedCopy> copies, std::vector<bool>& taken, EntryPlaces& places) {
  Pairs pairs;
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (!places[i] && use(entries[i])) pairs.add_entry(std::string(key(entries[i].path)), i);
  for (std::size_t i = 0; i < copies.size(); ++i)
    if (!taken[i]) pairs.add_copy(std::string(key(copies[i].path)), i);
  pairs.for_each([&](std::size_t entry, std::size_t copy) {
    places[entry] = copy;
    taken[copy] = true;
  });
}

}  // namespace

std::vector<std::optional<std::size_t>> match_copies(std::span<const DamagedEntry> entries,
                                                     std::span<const UnnamedCopy> copies) {
  EntryPlaces places(entries.size());
  std::vector<std::size_t> wanted(copies.size());
  const ByNumber by_number(copies);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    places[i] = by_number.find(number_in(entries[i].text));
    if (places[i]) ++wanted[*places[i]];
  }
  std::vector<bool> taken(copies.size());
  for (std::size_t i = 0; i < copies.size(); ++i) taken[i] = wanted[i] > 0;
  for (auto& place : places)
    if (place && wanted[*place] > 1) place.reset();
  const auto any = [](const DamagedEntry&) { return true; };
  const auto without_number = [](const DamagedEntry& entry) { return !is_legible(number_in(entry.text)); };
  match_by([](const std::string& path) { return std::string_view(path); }, any, entries, copies, taken, places);
  match_by([](const std::string& path) { return last_name(path); }, without_number, entries, copies, taken, places);
  return places;
}

}  // namespace strider::listio
