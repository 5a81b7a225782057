#include <gtest/gtest.h>

#include <type_traits>

#include "events/record.json.hpp"
#include "events/rows.hpp"

namespace strider {
namespace {

/// A value of a field's type that is not the one by default.
template <typename Value>
void change(Value& value) {
  if constexpr (requires {
                  value.emplace();
                  value.has_value();
                })
    change(value.emplace());
  else if constexpr (std::is_same_v<Value, bool>) value = !value;
  else if constexpr (std::is_same_v<Value, RankExtreme>) value.value = 17;
  else if constexpr (std::is_same_v<Value, Digest>) value.value = 17;
  else if constexpr (std::is_arithmetic_v<Value>) value = 17;
  else if constexpr (std::is_same_v<Value, Facts>) value["name"] = "fact";
  else if constexpr (std::is_same_v<Value, CounterGroups>) value.push_back({"source", "", {}});
  else if constexpr (std::is_assignable_v<Value&, const char*>) value = "word";
  else if constexpr (!Record<Value>) change(value.emplace_back());
}

/// Sets each field that is a member by itself, and finds it in the record that is written.
template <Record Type>
void expect_each_field_written() {
  for_each_field<Type>([&](const auto& field) {
    if constexpr (requires { field.info; } && std::is_member_object_pointer_v<decltype(field.get)>) {
      Type record{};
      const OrderedJson before = value_of(record);
      change(record.*field.get);
      const OrderedJson after = value_of(record);
      EXPECT_NE(before.at(std::string(field.info.name)), after.at(std::string(field.info.name)))
          << Type::record_name << '.' << field.info.name;
    }
  });
}

TEST(Records, EachFieldIsWrittenUnderItsName) {
  expect_each_field_written<Sample>();
  expect_each_field_written<Sample::Deadline>();
  expect_each_field_written<Sample::OpenLoop>();
  expect_each_field_written<Sample::Verification>();
  expect_each_field_written<Sample::CachePreparation>();
  expect_each_field_written<Sample::RankRates>();
  expect_each_field_written<SamplePart>();
  expect_each_field_written<RankRow>();
  expect_each_field_written<NodeCounters>();
  expect_each_field_written<ClockRow>();
  expect_each_field_written<TimelineRow>();
  expect_each_field_written<ValuesRow>();
  expect_each_field_written<ErrorInfo>();
}

TEST(Records, FieldsOfARecordThatIsMissingAreNull) {
  const OrderedJson sample = value_of(Sample{});
  for (const char* name : {"read_calls", "storage_write_bytes", "served_by_storage", "deadline", "latency"})
    EXPECT_TRUE(sample.at(name).is_null()) << name;
  EXPECT_EQ(sample.at("user_s"), 0.0);
}

}  // namespace
}  // namespace strider
