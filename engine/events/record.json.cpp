#include "events/record.json.hpp"

#include <cstdio>

namespace strider {

Json json_of(Digest digest) {
  char text[17] = {};
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(digest.value));
  return text;
}

Json json_of(const CounterGroups& groups) {
  Json result = Json::array();
  for (const CounterGroup& group : groups) {
    Json values = Json::object();
    for (const Counter& counter : group.counters)
      values[counter.name] =
          counter.kind == CounterKind::time_ns ? Json(static_cast<double>(counter.value) / 1e9) : Json(counter.value);
    result.push_back({{"source", group.source}, {"instance", group.instance}, {"values", std::move(values)}});
  }
  return result;
}

}  // namespace strider
