#include "plan/data_set.json.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "foundation/error.hpp"
#include "foundation/parameter.hpp"
#include "foundation/random.hpp"
#include "foundation/text.hpp"

namespace strider {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t most_files = 100'000'000;
constexpr unsigned most_digits = 20;

[[noreturn]] void wrong_manifest(const std::string& key, const std::string& reason) {
  throw InputError("manifest", "manifest." + key + " " + reason, "a plan is made by strider plan --json");
}

std::uint64_t number_of(const Json& json, const char* key) {
  if (!json.contains(key)) return 0;
  if (!json[key].is_number_unsigned()) wrong_manifest(key, "must be a whole number");
  return json[key].get<std::uint64_t>();
}

/// Text that becomes part of a name: no path.
std::string name_of(const Json& json, const char* key, const std::string& otherwise) {
  if (!json.contains(key)) return otherwise;
  if (!json[key].is_string()) wrong_manifest(key, "must be text");
  std::string text = json[key].get<std::string>();
  constexpr std::size_t longest = 200;
  if (text.size() > longest || text.find('/') != std::string::npos || text == "." || text == "..")
    wrong_manifest(key, "must be a name of at most " + std::to_string(longest) + " bytes without \"/\"");
  return text;
}

/// A list of pairs of whole numbers; each goes to `take`.
template <typename Take>
void read_pairs(const Json& json, const char* key, const Take& take) {
  if (!json.contains(key)) return;
  if (!json[key].is_array()) wrong_manifest(key, "must be a list of pairs");
  for (const Json& pair : json[key]) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_unsigned() || !pair[1].is_number_unsigned())
      wrong_manifest(key, "must be a list of pairs of whole numbers");
    take(pair[0].get<std::uint64_t>(), pair[1].get<std::uint64_t>());
  }
}

bool flag_of(const Json& json, const char* key) {
  if (!json.contains(key)) return false;
  if (!json[key].is_boolean()) wrong_manifest(key, "must be true or false");
  return json[key].get<bool>();
}

/// A whole number from 1 on; 0 where it is not given.
std::uint64_t positive_of(const Json& packet, const char* key, std::uint64_t most) {
  if (!packet.contains(key)) return 0;
  const Json& value = packet[key];
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() < 1 || value.get<std::uint64_t>() > most)
    wrong_manifest("packet." + std::string(key), "must be a whole number from 1 to " + std::to_string(most));
  return value.get<std::uint64_t>();
}

std::optional<PacketForm> packet_form_of(const Json& json) {
  if (!json.contains("packet")) return std::nullopt;
  const Json& packet = json["packet"];
  if (!packet.is_object()) wrong_manifest("packet", "must be a table");
  constexpr std::array keys{"type", "signature", "transfer", "block", "tasks"};
  for (const auto& [key, value] : packet.items())
    if (std::ranges::find(keys, key) == keys.end()) wrong_manifest("packet", "has no key " + in_quotes(key));
  constexpr std::array<std::pair<std::string_view, Packet::Type>, 4> types{
      {{"timestamp", Packet::Type::timestamp},
       {"offset", Packet::Type::offset},
       {"incompressible", Packet::Type::incompressible},
       {"random", Packet::Type::random}}};
  const std::string name =
      packet.contains("type") && packet["type"].is_string() ? packet["type"].get<std::string>() : "";
  const auto* type = std::ranges::find(types, name, &std::pair<std::string_view, Packet::Type>::first);
  if (type == types.end()) wrong_manifest("packet.type", "must be timestamp, offset, incompressible or random");
  constexpr std::uint64_t most_signature = std::numeric_limits<std::uint32_t>::max();
  if (!packet.contains("signature") || number_of(packet, "signature") > most_signature)
    wrong_manifest("packet.signature", "must be a whole number of at most " + std::to_string(most_signature));
  constexpr auto most_bytes = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return PacketForm{.type = type->second,
                    .signature = static_cast<std::uint32_t>(number_of(packet, "signature")),
                    .transfer_bytes = positive_of(packet, "transfer", most_bytes),
                    .block_bytes = positive_of(packet, "block", most_bytes),
                    .tasks = static_cast<std::uint32_t>(positive_of(packet, "tasks", most_ranks))};
}

Json part_of(const Json& json, std::initializer_list<const char*> keys) {
  Json part = Json::object();
  for (const char* key : keys)
    if (json.contains(key)) part[key] = json[key];
  return part;
}

Things things_of(const Json& json) {
  Things things;
  if (!json.is_array()) wrong_manifest("tree.present", "must be a list of names");
  for (const Json& name : json) {
    const auto thing = name.is_string() ? find_thing(name.get<std::string>()) : std::nullopt;
    if (!thing) wrong_manifest("tree.present", "has " + name.dump() + ", which is no thing of a tree");
    things.add(*thing);
  }
  return things;
}

TreeState tree_of(const Json& json) {
  if (!json.is_object()) wrong_manifest("tree", "must be a table");
  TreeState tree;
  tree.present = things_of(json.value("present", Json::array()));
  tree.files = number_of(json, "files");
  tree.directories = number_of(json, "directories");
  tree.hard_links = number_of(json, "hard_links");
  tree.symbolic_links = number_of(json, "symbolic_links");
  tree.file_bytes = number_of(json, "file_bytes");
  tree.written_bytes = number_of(json, "written_bytes");
  tree.generation = number_of(json, "generation");
  tree.order_hash = number_of(json, "visits");
  tree.renamed_files = flag_of(json, "renamed_files");
  tree.renamed_directories = flag_of(json, "renamed_directories");
  tree.renamed_when_linked = flag_of(json, "renamed_when_linked");
  return tree;
}

DataSetState state_of(const Json& json) {
  DataSetState state;
  state.generation = number_of(json, "generation");
  state.last_generation = std::max(state.generation, number_of(json, "last_generation"));
  state.geometry = number_of(json, "geometry");
  state.incomplete = flag_of(json, "incomplete");
  read_pairs(json, "files", [&](std::uint64_t count, std::uint64_t bytes) {
    if (count > most_files || state.file_count() + count > most_files)
      wrong_manifest("files", "has more than " + std::to_string(most_files) + " files");
    state.files.push_back({count, bytes});
  });
  read_pairs(json, "parts", [&](std::uint64_t requests, std::uint64_t end) { state.parts.push_back({requests, end}); });
  if (json.contains("tree")) state.tree = tree_of(json["tree"]);
  return state;
}

}  // namespace

void read_manifest(const Json& json, DataSet& set) {
  if (!json.is_object())
    throw InputError("manifest", "manifest must be a table", "a plan is made by strider plan --json");
  set.known = true;
  set.id = name_of(json, "id", "");
  set.seed = number_of(json, "seed");
  set.workload = number_of(json, "workload");
  set.prefix = name_of(json, "prefix", set.prefix);
  const std::uint64_t digits = json.contains("digits") ? number_of(json, "digits") : set.digits;
  if (digits > most_digits) wrong_manifest("digits", "must be at most " + std::to_string(most_digits));
  set.digits = static_cast<unsigned>(digits);
  if (set.digits == 0 && set.prefix.empty())
    wrong_manifest("prefix", "is empty, and files without a number need a name");
  set.suffix = name_of(json, "suffix", "");
  set.directories = flag_of(json, "directories");
  set.first_file = number_of(json, "first_file");
  set.format = name_of(json, "format", "");
  set.whole = flag_of(json, "whole");
  set.made_before = flag_of(json, "made_before");
  set.loose = flag_of(json, "loose");
  set.requests = number_of(json, "requests");
  set.state = state_of(json);
  set.packet = packet_form_of(json);
}

std::uint64_t hash_of(const Json& json) {
  std::uint64_t hash = 0;
  for (const char letter : json.dump()) hash = hash_numbers(hash, static_cast<unsigned char>(letter));
  return hash;
}

std::uint64_t geometry_of(const Json& json) {
  if (!json.contains("tree")) return hash_of(part_of(json, {"pattern", "clients", "sharing", "order", "seed"}));
  Json identity = part_of(json, {"tree", "clients", "sharing"});
  identity["tree"].erase("file_size");
  return hash_of(identity);
}

std::uint64_t order_hash_of(const Json& json) {
  const Json identity = part_of(json, {"order", "seed"});
  // In these orders a seed changes nothing.
  return identity.value("order", "forward") == "random" ? hash_of(identity) : hash_of(part_of(json, {"order"}));
}

}  // namespace strider
