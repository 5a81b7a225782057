#pragma once
#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "events/sample.hpp"
#include "foundation/field.hpp"
#include "measure/counters.hpp"

namespace strider {

using OrderedJson = nlohmann::ordered_json;

OrderedJson json_of(Digest digest);
OrderedJson json_of(const CounterGroups& groups);
inline OrderedJson json_of(const RankExtreme& extreme) { return extreme.value; }

template <typename Value>
OrderedJson value_of(const Value& value);

template <Record Type, typename Get>
void put(OrderedJson& object, const Field<Get>& field, const Type* record) {
  object[std::string(field.info.name)] =
      record != nullptr ? value_of(std::invoke(field.get, *record)) : OrderedJson(nullptr);
}
template <typename Value>
struct Inner {
  using type = Value;
};
template <typename Value>
struct Inner<std::optional<Value>> {
  using type = Value;
};
template <Record Type, typename Get>
void put(OrderedJson& object, const Inlined<Get>& inlined, const Type* record);

/// Appends the fields of a record; all of them null where there is none.
template <Record Type>
void append(OrderedJson& object, const Type* record) {
  for_each_field<Type>([&](const auto& each) { put(object, each, record); });
}

template <Record Type, typename Get>
void put(OrderedJson& object, const Inlined<Get>& inlined, const Type* record) {
  const auto found = std::invoke(inlined.get, *record);
  if constexpr (std::is_same_v<decltype(found), const typename Inner<std::decay_t<decltype(found)>>::type>)
    append(object, &found);
  else append(object, found ? &*found : nullptr);
}

template <typename Value>
inline constexpr bool is_list = false;
template <typename Value>
inline constexpr bool is_list<std::vector<Value>> = true;

template <typename Value>
OrderedJson value_of(const Value& value) {
  if constexpr (requires { value.has_value(); }) {
    return value ? value_of(*value) : OrderedJson(nullptr);
  } else if constexpr (Record<Value>) {
    OrderedJson object = OrderedJson::object();
    append(object, &value);
    return object;
  } else if constexpr (requires { json_of(value); }) {
    return json_of(value);
  } else if constexpr (is_list<Value>) {
    OrderedJson list = OrderedJson::array();
    for (const auto& each : value) list.push_back(value_of(each));
    return list;
  } else {
    return OrderedJson(value);
  }
}

}  // namespace strider
