#pragma once
#include <concepts>
#include <cstdint>
#include <string_view>
#include <tuple>

namespace strider {

/// How the values of a phase's ranks become the one of the phase.
enum class Over : std::uint8_t {
  none,  ///< the phase has one value
  sum,
  least,  ///< a rank without work does not count
  most,
  mean,  ///< over ranks with work
};

/// What a field of a result is. The event, the reduction over ranks, `describe`, and through it the types, tables and
/// pages that Python makes, take it from here.
struct FieldInfo {
  std::string_view name;   ///< as in the event; ends with the unit where there is one
  std::string_view about;  ///< one sentence
  Over over = Over::none;
  std::string_view absent = "";  ///< JSON: the value where an older run lacks the field; empty: no run lacks it
  bool signed_number = false;    ///< whether a number may be below 0
};

/// A field: its description, and how to get its value from the record: a member, or a function of the record.
template <typename Get>
struct Field {
  FieldInfo info;
  Get get;
};
template <typename Get>
constexpr Field<Get> field(FieldInfo info, Get get) {
  return {info, get};
}

/// The fields of a record within another one as if they were fields of the latter; null where there is none.
template <typename Get>
struct Inlined {
  Get get;
};
template <typename Get>
constexpr Inlined<Get> inlined(Get get) {
  return {get};
}

/// A structure that declares its fields: `static constexpr auto fields()` gives a tuple of Field and Inlined, and
/// `record_name` and `record_about` say what it is.
template <typename Type>
concept Record = requires {
  Type::fields();
  { Type::record_name } -> std::convertible_to<std::string_view>;
  { Type::record_about } -> std::convertible_to<std::string_view>;
};

/// Calls `action` with each field of a record type.
template <Record Type, typename Action>
constexpr void for_each_field(const Action& action) {
  std::apply([&](const auto&... each) { (action(each), ...); }, Type::fields());
}

/// A record with the numbers that were added to each field since an earlier one; fields of other kinds are as by
/// default.
template <Record Type>
constexpr Type difference_of(const Type& now, const Type& before) {
  Type result{};
  for_each_field<Type>([&](const auto& each) {
    if constexpr (requires { result.*each.get = now.*each.get - before.*each.get; })
      result.*each.get = now.*each.get - before.*each.get;
  });
  return result;
}

/// Numbers of each rank that are reduced without being fields of a result. A structure declares them by
/// `static constexpr auto figures()`, a tuple of these.
template <typename Member>
struct Figure {
  Over over;
  Member member;
};
template <typename Member>
constexpr Figure<Member> summed(Member member) {
  return {Over::sum, member};
}
template <typename Member>
constexpr Figure<Member> least_of(Member member) {
  return {Over::least, member};
}
template <typename Member>
constexpr Figure<Member> most_of(Member member) {
  return {Over::most, member};
}

/// The figures or fields of a structure within.
template <typename Member>
constexpr Figure<Member> within(Member member) {
  return {Over::none, member};
}

template <typename Type>
concept HasFigures = requires { Type::figures(); };

/// A checksum, written as 16 hexadecimal digits.
struct Digest {
  std::uint64_t value = 0;
};

}  // namespace strider
