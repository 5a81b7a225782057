#include "runner/earlier_starts.hpp"

#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "foundation/error.hpp"

namespace strider {
namespace {

using Json = nlohmann::json;

EarlierRepetition repetition_of(const Json& json) {
  EarlierRepetition repetition;
  repetition.case_number = json.at("case").get<std::uint64_t>();
  repetition.repetition = json.at("repetition").get<std::uint64_t>();
  repetition.elapsed_s = json.at("elapsed_s").get<double>();
  repetition.failed = json.at("failed").get<bool>();
  // A rate that is no number was written as null.
  for (const auto& [operation, rate] : json.at("rates").items())
    repetition.rates[operation] = rate.is_null() ? std::numeric_limits<double>::quiet_NaN() : rate.get<double>();
  return repetition;
}

EarlierStarts starts_of(const Json& json) {
  EarlierStarts starts;
  starts.elapsed_s = json.at("elapsed_s").get<double>();
  starts.time_limit_s = json.at("time_limit_s").get<double>();
  starts.samples = json.at("samples").get<std::uint64_t>();
  starts.errors = json.at("errors").get<std::uint64_t>();
  for (const Json& node : json.at("nodes")) {
    NodeInfo info;
    info.name = node.at("name").get<std::string>();
    info.ranks = node.at("ranks").get<std::uint32_t>();
    starts.nodes.push_back(info);
  }
  for (const Json& repetition : json.at("repetitions")) starts.repetitions.push_back(repetition_of(repetition));
  return starts;
}

std::string text_of(const std::vector<NodeInfo>& nodes) {
  std::string text;
  for (const NodeInfo& node : nodes)
    text += (text.empty() ? "" : ", ") + node.name + " (" + std::to_string(node.ranks) + ")";
  return text;
}

}  // namespace

EarlierStarts read_earlier_starts(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  try {
    return starts_of(Json::parse(text));
  } catch (const Json::exception& error) {
    throw InputError("earlier", "cannot read the earlier starts in " + path + ": " + error.what(),
                     "strider resume writes this file");
  }
}

std::string difference_of_nodes(const std::vector<NodeInfo>& earlier, const std::vector<NodeInfo>& now) {
  const std::string before = text_of(earlier), after = text_of(now);
  return before.empty() || before == after ? "" : before + " then, " + after + " now";
}

}  // namespace strider
