#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace strider {

/// Kinds of parameter values; docs/formats.md says how each is written in plans and suites.
enum class Kind {
  bytes,
  count,
  seconds,
  flag,
  choice,
  text,
  map,
  sharing,
  operations,
  repetitions,
  numbers,
  levels,
  weights,
  // Places: what a parameter names outside of the plan. All but a port are texts, whose form foundation/named_place.hpp
  // checks.
  port,
  file,       ///< a local file that is read
  config,     ///< a local file that is read and names servers
  directory,  ///< a local directory
  path,       ///< a path as the storage's own library names it
  host,
  url,  ///< the schemes are in `choices`
  volume,
  pool,
  user
};

std::string_view name_of(Kind kind);
constexpr bool is_named_place(Kind kind) { return kind >= Kind::file; }

/// Ranks of a plan at most: numbers of ranks stay far from where they would wrap around.
constexpr std::uint32_t most_ranks = 1U << 24;

constexpr double no_limit = std::numeric_limits<double>::quiet_NaN();

/// A parameter, described once, beside the code that uses it.
struct Parameter {
  std::string_view name;
  Kind kind;
  std::string_view default_json;  ///< JSON text; "null": derived or required, as `doc` says
  std::string_view doc;
  double minimum = no_limit;
  double maximum = no_limit;
  std::string_view choices = {};  ///< "a|b|c" for Kind::choice, the schemes of a Kind::url
  bool required = false;
};

using TextMap = std::map<std::string, std::string>;
using Numbers = std::vector<std::uint64_t>;
using Weights = std::map<std::string, double>;
using Value = std::variant<std::monostate, bool, std::uint64_t, double, std::string, TextMap, std::vector<std::string>,
                           Numbers, Weights>;

/// Parameter values by name, already checked against their descriptions.
class Settings {
 public:
  void set(std::string name, Value value) { values_[std::move(name)] = std::move(value); }
  bool has(std::string_view name) const;
  std::uint64_t number(std::string_view name) const { return get<std::uint64_t>(name); }
  std::uint64_t number_or(std::string_view name, std::uint64_t otherwise) const {
    return has(name) ? number(name) : otherwise;
  }
  double seconds(std::string_view name) const { return get<double>(name); }
  bool flag(std::string_view name) const { return get<bool>(name); }
  const std::string& text(std::string_view name) const { return get<std::string>(name); }
  const TextMap& map(std::string_view name) const { return get<TextMap>(name); }
  const std::vector<std::string>& list(std::string_view name) const { return get<std::vector<std::string>>(name); }
  /// Kind::numbers; Kind::levels as count, stride, count, stride, … (stride 0: derived).
  const Numbers& numbers(std::string_view name) const { return get<Numbers>(name); }
  const Weights& weights(std::string_view name) const { return get<Weights>(name); }
  const std::map<std::string, Value, std::less<>>& values() const { return values_; }

 private:
  template <typename T>
  const T& get(std::string_view name) const;
  std::map<std::string, Value, std::less<>> values_;
};

/// The parts of "a|b|c".
std::vector<std::string_view> split_choices(std::string_view choices);

}  // namespace strider
