#include "patterns/settings.hpp"

#include <sstream>
#include <stdexcept>
#include <vector>

#include "core/error.hpp"

namespace strider {
namespace {

bool has_default(const Parameter& parameter) { return parameter.default_json != "null"; }

std::vector<Value> values_of(const Parameter& parameter, const Choices& choices) {
  std::vector<Value> values;
  if (!has_default(parameter)) values.emplace_back();
  switch (parameter.kind) {
    case Kind::bytes: values.insert(values.end(), choices.bytes.begin(), choices.bytes.end()); break;
    case Kind::count: values.insert(values.end(), choices.counts.begin(), choices.counts.end()); break;
    case Kind::flag: values.insert(values.end(), {false, true}); break;
    case Kind::choice:
      for (const std::string_view choice : split_choices(parameter.choices)) values.emplace_back(std::string(choice));
      break;
    default: throw std::logic_error("teach values_of this kind of parameter: " + std::string(name_of(parameter.kind)));
  }
  return values;
}

void combine(std::span<const Parameter> rest, const Choices& choices, Settings& settings,
             const std::function<void(const Settings&)>& use) {
  if (rest.empty()) return use(settings);
  for (Value& value : values_of(rest.front(), choices)) {
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
    if (optional == Optional::absent && parameter.kind == Kind::flag) value = parameter.default_json == "true";
    if (optional == Optional::absent && parameter.kind == Kind::count && !has_default(parameter)) value = {};
    settings.set(std::string(parameter.name), std::move(value));
  }
  settings.set("seed", random());
  return settings;
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
    else text << '-';
    text << ' ';
  }
  return text.str();
}

}  // namespace strider
