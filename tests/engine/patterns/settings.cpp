#include "patterns/settings.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "foundation/error.hpp"
#include "patterns/example_lists.hpp"

namespace strider {
namespace {

bool has_default(const Parameter& parameter) { return parameter.default_json != "null"; }

/// Lists of one to three numbers.
std::vector<Value> lists_of(std::span<const std::uint64_t> counts) {
  std::vector<Value> lists;
  for (const std::uint64_t a : counts) {
    lists.emplace_back(Numbers{a});
    for (const std::uint64_t b : counts) lists.insert(lists.end(), {Numbers{a, b}, Numbers{b, counts.back(), a}});
  }
  return lists;
}

/// One to three levels, without and with strides of their own.
std::vector<Value> levels_of(const Choices& choices) {
  std::vector<Value> levels;
  const std::uint64_t stride = choices.bytes.back();
  for (const std::uint64_t a : choices.counts) {
    levels.insert(levels.end(), {Numbers{a, 0}, Numbers{a, stride}});
    for (const std::uint64_t b : choices.counts)
      levels.insert(levels.end(), {Numbers{a, 0, b, 0}, Numbers{a, stride, b, 0}, Numbers{a, 0, b, stride}});
    levels.emplace_back(Numbers{a, 0, choices.counts.back(), 0, choices.counts.front(), 0});
  }
  return levels;
}

std::vector<Value> numbers_of(const Parameter& parameter, std::span<const std::uint64_t> choices) {
  std::vector<Value> values;
  if (parameter.minimum == 0) values.emplace_back(std::uint64_t{0});
  for (const std::uint64_t choice : choices) {
    // A mesh needs vertices for all ranks' runs.
    const bool more = parameter.name == "vertices" && choice < std::uint64_t{1} << 40;
    values.emplace_back(more ? choice * 40 : choice);
  }
  return values;
}

std::vector<Value> values_of(const Parameter& parameter, const Choices& choices) {
  switch (parameter.kind) {
    case Kind::bytes: return numbers_of(parameter, choices.bytes);
    case Kind::count: return numbers_of(parameter, choices.counts);
    case Kind::flag: return {false, true};
    case Kind::choice: {
      std::vector<Value> values;
      for (const std::string_view choice : split_choices(parameter.choices)) values.emplace_back(std::string(choice));
      return values;
    }
    case Kind::numbers: return lists_of(choices.counts);
    case Kind::levels: return levels_of(choices);
    case Kind::file: return {example_lists().begin(), example_lists().end()};
    default: throw std::logic_error("teach values_of this kind of parameter: " + std::string(name_of(parameter.kind)));
  }
}

bool ends_tiling(const PatternEntry& entry, const Parameter& parameter) {
  const auto names = split_choices(entry.tiles_unless);
  return std::find(names.begin(), names.end(), parameter.name) != names.end();
}

/// The value that a parameter has where `drawn` might end the tiling.
Value harmless(const Parameter& parameter, const Value& drawn) {
  if (parameter.kind == Kind::levels) {
    Numbers levels = std::get<Numbers>(drawn);
    for (std::size_t i = 1; i < levels.size(); i += 2) levels[i] = 0;
    return levels;
  }
  if (!has_default(parameter)) return std::monostate{};
  if (parameter.kind == Kind::flag) return parameter.default_json == "true";
  return std::uint64_t{std::stoull(std::string(parameter.default_json))};
}

void combine(std::span<const Parameter> rest, const Choices& choices, Settings& settings,
             const std::function<void(const Settings&)>& use) {
  if (rest.empty()) return use(settings);
  std::vector<Value> values = values_of(rest.front(), choices);
  if (!has_default(rest.front())) values.emplace_back();
  for (Value& value : values) {
    settings.set(std::string(rest.front().name), std::move(value));
    combine(rest.subspan(1), choices, settings, use);
  }
}

}  // namespace

void each_combination(const PatternEntry& entry, const Choices& choices,
                      const std::function<void(const Settings&)>& use) {
  Settings settings;
  settings.set("seed", std::uint64_t{1});
  combine(entry.parameters, choices, settings, use);
}

Settings draw(const PatternEntry& entry, const Choices& choices, Optional optional, std::mt19937_64& random) {
  Settings settings;
  for (const Parameter& parameter : entry.parameters) {
    std::vector<Value> values = values_of(parameter, choices);
    Value value = values[random() % values.size()];
    if (!has_default(parameter) && !parameter.required && random() % 2 == 0) value = std::monostate{};
    if (optional == Optional::absent && ends_tiling(entry, parameter)) value = harmless(parameter, value);
    settings.set(std::string(parameter.name), std::move(value));
  }
  settings.set("seed", random());
  return settings;
}

std::uint32_t draw_ranks(const PatternEntry& entry, std::uint32_t most, std::mt19937_64& random) {
  const auto ranks = 1 + static_cast<std::uint32_t>(random() % most);
  if (entry.name != "btio") return ranks;
  const auto root = static_cast<std::uint32_t>(std::sqrt(ranks));
  return root * root;
}

std::unique_ptr<Pattern> make_if_valid(const PatternEntry& entry, const Settings& settings, std::uint32_t ranks) {
  try {
    auto pattern = entry.make(settings);
    pattern->check(ranks);
    return pattern;
  } catch (const InputError&) {
    return nullptr;
  }
}

std::string describe(const Settings& settings) {
  std::ostringstream text;
  for (const auto& [name, value] : settings.values()) {
    text << name << '=';
    if (const auto* number = std::get_if<std::uint64_t>(&value)) text << *number;
    else if (const auto* flag = std::get_if<bool>(&value)) text << *flag;
    else if (const auto* word = std::get_if<std::string>(&value)) text << *word;
    else if (const auto* numbers = std::get_if<Numbers>(&value))
      for (const std::uint64_t each : *numbers) text << each << ',';
    else text << '-';
    text << ' ';
  }
  return text.str();
}

}  // namespace strider
