#include "events/schema.hpp"

#include "events/record.json.hpp"
#include "events/rows.hpp"

namespace strider {
namespace {

constexpr std::string_view name_of(Over over) {
  switch (over) {
    case Over::none: return "";
    case Over::sum: return "sum";
    case Over::least: return "least";
    case Over::most: return "most";
    case Over::mean: return "mean";
  }
  return "";
}

/// Collects records, those within others first.
class Schema {
 public:
  template <Record Type>
  void add() {
    OrderedJson fields = OrderedJson::array();
    add_fields<Type>(fields, {.reduced = !std::is_same_v<Type, RankRow>});
    records_[std::string(Type::record_name)] = {{"about", Type::record_about}, {"fields", std::move(fields)}};
  }
  OrderedJson records() && { return std::move(records_); }

 private:
  /// What holds for all fields of a record, by the record that it is in.
  struct Within {
    bool nullable = false;
    bool reduced = true;  ///< over ranks
  };

  template <Record Type>
  void add_fields(OrderedJson& fields, Within within) {
    for_each_field<Type>([&](const auto& each) { add_field<Type>(fields, within, each); });
  }

  template <Record Type, typename Get>
  void add_field(OrderedJson& fields, Within within, const Field<Get>& field) {
    using Value = std::decay_t<std::invoke_result_t<Get, const Type&>>;
    using Plain = typename Inner<Value>::type;
    const FieldInfo& info = field.info;
    OrderedJson described = {{"name", info.name}, {"type", type_of<Plain>()}};
    if constexpr (is_list<Plain>) {
      if constexpr (Record<typename Plain::value_type>) described["record"] = Plain::value_type::record_name;
    } else if constexpr (Record<Plain>) {
      described["record"] = Plain::record_name;
    }
    described["nullable"] = within.nullable || !std::is_same_v<Value, Plain>;
    described["signed"] = info.signed_number;
    described["over_ranks"] =
        info.over == Over::none || !within.reduced ? OrderedJson(nullptr) : OrderedJson(name_of(info.over));
    if (!info.absent.empty()) described["absent"] = OrderedJson::parse(info.absent);
    described["about"] = info.about;
    fields.push_back(std::move(described));
  }

  template <Record Type, typename Get>
  void add_field(OrderedJson& fields, Within within, const Inlined<Get>&) {
    using Value = std::decay_t<std::invoke_result_t<Get, const Type&>>;
    using Plain = typename Inner<Value>::type;
    add_fields<Plain>(fields, {within.nullable || !std::is_same_v<Value, Plain>, within.reduced});
  }

  template <typename Value>
  std::string type_of() {
    if constexpr (std::is_same_v<Value, bool>) {
      return "flag";
    } else if constexpr (std::is_integral_v<Value>) {
      return sizeof(Value) > sizeof(std::uint32_t) ? "count" : "integer";
    } else if constexpr (std::is_floating_point_v<Value> || std::is_same_v<Value, RankExtreme>) {
      return "real";
    } else if constexpr (std::is_convertible_v<Value, std::string_view> || std::is_same_v<Value, Digest>) {
      return "text";
    } else if constexpr (Record<Value>) {
      add<Value>();
      return "record";
    } else if constexpr (std::is_same_v<Value, Facts>) {
      return "texts by name";
    } else if constexpr (std::is_same_v<Value, CounterGroups>) {
      return "counter groups";
    } else if constexpr (is_list<Value>) {
      return type_of<typename Value::value_type>() + " list";
    } else {
      static_assert(std::is_same_v<Value, std::array<std::uint64_t, 2>>);
      return "count pair";
    }
  }

  OrderedJson records_ = OrderedJson::object();
};

}  // namespace

std::string results_schema() {
  Schema schema;
  schema.add<PhaseName>();
  schema.add<Sample>();
  schema.add<RankRow>();
  schema.add<NodeCounters>();
  schema.add<ClockRow>();
  schema.add<TimelineRow>();
  schema.add<ValuesRow>();
  schema.add<ErrorInfo>();
  const OrderedJson events = {{"sample", Sample::record_name},         {"rank", RankRow::record_name},
                              {"counters", NodeCounters::record_name}, {"clock", ClockRow::record_name},
                              {"timeline", TimelineRow::record_name},  {"values", ValuesRow::record_name},
                              {"error", ErrorInfo::record_name}};
  return OrderedJson{{"events", events}, {"records", std::move(schema).records()}}.dump();
}

}  // namespace strider
