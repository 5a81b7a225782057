#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "events/rows.hpp"

namespace strider {

/// A phase in a file of per-rank rows.
struct PerRankPhase {
  PhaseName name;
  bool measured = true;  ///< false: of a preparation
  std::uint32_t clients = 1;
};

/// Calls `action` with the description and the member of each field of RankRow that is a column of the file: all
/// numbers but the rank itself, which is the place in the column.
template <typename Action>
constexpr void for_each_column(const Action& action) {
  for_each_field<RankRow>([&](const auto& each) {
    if constexpr (requires { each.info; })
      if constexpr (std::is_member_object_pointer_v<decltype(each.get)>)
        if (each.info.name != "rank") action(each.info, each.get);
  });
}

/// The bytes of a file of per-rank rows: netCDF classic in 64-bit-offset format (CDF-2), whose numbers have the highest
/// byte first. A record is a phase: the numbers of the phase, then each column with a number of each rank.
class PerRankLayout {
 public:
  /// `run`: its id. `ranks`: of the plan.
  PerRankLayout(const std::string& run, std::uint32_t ranks);

  /// The header of a file without records.
  const std::vector<std::byte>& header() const { return header_; }
  std::uint64_t record_bytes() const { return record_bytes_; }
  std::uint64_t record_offset(std::uint64_t record) const { return header_.size() + record * record_bytes_; }
  std::uint32_t ranks() const { return ranks_; }

  /// Where the header has the number of records, and how.
  static constexpr std::uint64_t records_offset = 4;
  static std::vector<std::byte> records_field(std::uint32_t records);
  static std::uint32_t records_of(std::span<const std::byte> header);

  /// Calls `put(offset, bytes)` with the parts of a record that belong to the ranks from `first` on up to `end`, in the
  /// order of their offsets; those of the phase belong to rank 0. `rows`: of these ranks, in their order; ranks behind
  /// them have no part in the phase.
  template <typename Put>
  void for_each_part(std::uint64_t record, const PerRankPhase& phase, std::span<const RankRow> rows,
                     std::uint32_t first, std::uint32_t end, const Put& put) const {
    if (first == 0) put(record_offset(record), numbers_of(phase));
    std::uint64_t column_offset = record_offset(record) + phase_bytes;
    std::vector<std::byte> bytes;
    for_each_column([&](const FieldInfo&, auto member) {
      using Number = std::remove_cvref_t<decltype(RankRow{}.*member)>;
      constexpr std::uint64_t size = bytes_of<Number>;
      bytes.clear();
      for (const RankRow& row : rows) append(bytes, stored(row.*member));
      for (std::size_t rank = first + rows.size(); rank < end; ++rank) append(bytes, no_value<Number>());
      put(column_offset + first * size, bytes);
      column_offset += ranks_ * size;
    });
  }

  /// Case and repetition of a phase, of the first bytes of its record.
  struct Repetition {
    std::uint64_t case_number = 0, repetition = 0;
  };
  static Repetition repetition_of(std::span<const std::byte> record);
  static constexpr std::uint64_t phase_bytes = 24;  ///< six numbers of 4 bytes

 private:
  /// Whole numbers of 64 bits are unknown to the format: they become floating-point numbers, exact below 2^53.
  static double stored(double value) { return value; }
  static double stored(std::uint64_t value) { return static_cast<double>(value); }
  static std::int32_t stored(std::uint32_t value) { return static_cast<std::int32_t>(value); }
  template <typename Value>
  static constexpr std::uint64_t bytes_of = std::is_same_v<Value, std::uint32_t> ? 4 : 8;
  template <typename Value>
  static auto no_value() {
    if constexpr (std::is_same_v<Value, std::uint32_t>) return std::int32_t{-1};
    else return std::numeric_limits<double>::quiet_NaN();
  }
  static void append(std::vector<std::byte>& bytes, double value);
  static void append(std::vector<std::byte>& bytes, std::int32_t value);
  static std::vector<std::byte> numbers_of(const PerRankPhase& phase);

  std::uint32_t ranks_;
  std::uint64_t record_bytes_ = 0;
  std::vector<std::byte> header_;
};

}  // namespace strider
