#include "listio/mpi/hints.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>

#include "foundation/error.hpp"
#include "listio/mpi/below.hpp"
#include "listio/mpi/version.hpp"

namespace strider::listio::mpi {
namespace {

/// The length of a message is an int, and each byte may be a run of its own, which takes 16 more.
constexpr std::int64_t most_buffer_bytes = 64 << 20;

/// An info object's values by their keys.
class Info {
 public:
  explicit Info(MPI_Info info) : info_(info) {}

  std::optional<std::string> find(const char* key) const {
    if (info_ == MPI_INFO_NULL) return {};
    std::array<char, MPI_MAX_INFO_VAL + 1> value{};
    int found = 0;
    below().Info_get(info_, key, MPI_MAX_INFO_VAL, value.data(), &found);
    return found == 0 ? std::nullopt : std::optional<std::string>(value.data());
  }
  std::optional<std::int64_t> number(const char* key, std::int64_t least) const {
    const auto text = find(key);
    if (!text) return {};
    std::int64_t number = 0;
    const char* const end = text->data() + text->size();
    const auto [rest, error] = std::from_chars(text->data(), end, number);
    return error == std::errc() && rest == end && number >= least ? std::optional(number) : std::nullopt;
  }
  /// One of the words that `parse` takes; it throws InputError for others.
  template <typename Parse>
  auto word(const char* key, const Parse& parse) const -> std::optional<decltype(parse(std::string()))> {
    const auto text = find(key);
    if (!text) return {};
    try {
      return parse(*text);
    } catch (const InputError&) {
      return {};
    }
  }

 private:
  MPI_Info info_;
};

template <typename Value, typename Found>
void take(Value& value, const std::optional<Found>& found) {
  if (found) value = static_cast<Value>(*found);
}

Aggregation aggregation_of(const std::string& text) {
  if (text == "enable") return Aggregation::always;
  if (text == "disable") return Aggregation::never;
  if (text == "automatic") return Aggregation::automatic;
  throw InputError("romio_cb_write", "'" + text + "' is no such choice", "enable, disable or automatic");
}

const char* name_of(Aggregation aggregation) {
  return aggregation == Aggregation::always ? "enable" : aggregation == Aggregation::never ? "disable" : "automatic";
}

std::string registration_of(const std::string& text) {
  for (const char* const known : {"none", "uring", "mlock", "model"})
    if (text == known) return text;
  throw InputError("listio_registration", "'" + text + "' is no such domain", "none, uring, mlock or model");
}

std::string strategy_name(const std::string& text) {
  strategy_of(text);
  return text;
}

}  // namespace

void apply(MPI_Info given, Hints& hints) {
  const Info info(given);
  take(hints.method, info.word("listio_method", method_of));
  take(hints.threshold_bytes, info.number("listio_threshold", 0));
  take(hints.writes, info.word("romio_cb_write", aggregation_of));
  take(hints.reads, info.word("romio_cb_read", aggregation_of));
  take(hints.aggregators, info.number("cb_nodes", 1));
  if (const auto bytes = info.number("cb_buffer_size", 1)) hints.buffer_bytes = std::min(*bytes, most_buffer_bytes);
}

Hints hints_of(MPI_Info given) {
  Hints hints;
  apply(given, hints);
  const Info info(given);
  const char* const environment = std::getenv("STRIDER_LISTIO_VOLUME");
  hints.volume = info.find("listio_volume").value_or(environment == nullptr ? "" : environment);
  hints.transport = info.find("listio_transport").value_or("");
  take(hints.registration, info.word("listio_registration", registration_of));
  take(hints.strategy, info.word("listio_strategy", strategy_name));
  if (const auto seconds = info.number("listio_timeout", 1)) hints.timeout = std::chrono::seconds(*seconds);
  if (const auto seconds = info.number("listio_rank_timeout", 1)) hints.rank_timeout = std::chrono::seconds(*seconds);
  take(hints.spreading.strip_bytes, info.number("striping_unit", 1));
  take(hints.spreading.servers, info.number("striping_factor", 1));
  return hints;
}

std::array<std::int64_t, agreed_hints> words_of(const Hints& hints) {
  return {static_cast<std::int64_t>(hints.writes), static_cast<std::int64_t>(hints.reads), hints.aggregators,
          hints.buffer_bytes};
}

void take_words(std::span<const std::int64_t, agreed_hints> words, Hints& hints) {
  hints.writes = static_cast<Aggregation>(words[0]);
  hints.reads = static_cast<Aggregation>(words[1]);
  hints.aggregators = static_cast<int>(words[2]);
  hints.buffer_bytes = words[3];
}

int aggregators_of(const Hints& hints, const Striping& striping, int ranks) {
  const int wanted = hints.aggregators > 0 ? hints.aggregators : static_cast<int>(striping.servers());
  return std::clamp(wanted, 1, ranks);
}

std::map<std::string, std::string> in_force(const Hints& hints, const Striping& striping, int ranks) {
  return {{"listio_layer", layer_version},
          {"listio_volume", hints.volume},
          {"listio_transport", hints.transport},
          {"listio_method", std::string(name_of(hints.method))},
          {"listio_threshold", std::to_string(hints.threshold_bytes)},
          {"listio_registration", hints.registration},
          {"listio_strategy", hints.registration == "none" ? "none" : hints.strategy},
          {"listio_timeout", std::to_string(hints.timeout.count() / 1000)},
          {"listio_rank_timeout", std::to_string(hints.rank_timeout.count() / 1000)},
          {"romio_cb_write", name_of(hints.writes)},
          {"romio_cb_read", name_of(hints.reads)},
          {"cb_nodes", std::to_string(aggregators_of(hints, striping, ranks))},
          {"cb_buffer_size", std::to_string(hints.buffer_bytes)},
          {"striping_unit", std::to_string(striping.strip_bytes())},
          {"striping_factor", std::to_string(striping.servers())}};
}

MPI_Info as_info(const std::map<std::string, std::string>& hints) {
  MPI_Info info = MPI_INFO_NULL;
  below().Info_create(&info);
  for (const auto& [key, value] : hints)
    if (value.size() < MPI_MAX_INFO_VAL && !value.empty()) below().Info_set(info, key.c_str(), value.c_str());
  return info;
}

}  // namespace strider::listio::mpi
