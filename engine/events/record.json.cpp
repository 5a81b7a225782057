#include "events/record.json.hpp"

#include <cstdio>

namespace strider {

OrderedJson json_of(Digest digest) {
  char text[17] = {};
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(digest.value));
  return text;
}

OrderedJson json_of(const CounterGroups& groups) {
  OrderedJson result = OrderedJson::array();
  for (const CounterGroup& group : groups) {
    OrderedJson values = OrderedJson::object();
    for (const Counter& counter : group.counters)
      values[counter.name] = counter.kind == CounterKind::time_ns
                                 ? OrderedJson(static_cast<double>(counter.value) / 1e9)
                                 : OrderedJson(counter.value);
    result.push_back({{"source", group.source}, {"instance", group.instance}, {"values", std::move(values)}});
  }
  return result;
}

}  // namespace strider
