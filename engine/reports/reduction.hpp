#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

#include "events/sample.hpp"
#include "foundation/field.hpp"
#include "ranks/waiting.hpp"

namespace strider {

template <typename Type>
concept Reducible = Record<Type> || HasFigures<Type>;

/// Brings numbers of all ranks of a communicator together, each in its place: single numbers, and the fields of records
/// as these declare it (`Over`). All ranks add as many of each kind, in the same order; then to_all() or to_first().
class Reduction {
 public:
  template <Reducible... Types>
  explicit Reduction(Types&... records) {
    (add(records), ...);
  }
  void sum(std::uint64_t& number) { sums_.push_back(std::span(&number, 1)); }
  void sum(double& number) { real_sums_.push_back(&number); }
  void least(double& number) { bounds_.push_back({&number, 1}); }
  void most(double& number) { bounds_.push_back({&number, -1}); }

  /// The fields of a record, and of the records within it, and its figures.
  template <Reducible Type>
  void add(Type& record) {
    if constexpr (Record<Type>) for_each_field<Type>([&](const auto& each) { add_field(record, each); });
    if constexpr (HasFigures<Type>)
      std::apply([&](const auto&... each) { (add_value(record.*each.member, each.over), ...); }, Type::figures());
  }

  void add(LatencyCounts& latency);
  void add(ScaledCounts& counts) { sums_.emplace_back(counts.counts()); }

  /// Takes in the numbers of a further rank for which this process stands, which were added to `other` alike.
  void take_in(const Reduction& other);
  /// Brings the results to all ranks. Throws StallError.
  void to_all(MPI_Comm communicator, const WaitOptions& waiting) { bring(To::all, communicator, waiting); }
  /// Brings the results to rank 0; the numbers of the other ranks stay as they are. Throws StallError.
  void to_first(MPI_Comm communicator, const WaitOptions& waiting) { bring(To::first, communicator, waiting); }

 private:
  enum class To : std::uint8_t { first, all };
  struct Bound {
    double* at;
    double sign;
  };
  struct Whole {
    std::uint64_t* at;
    double value;
  };
  struct Extreme {
    RankExtreme* at;
    bool most;
  };

  template <Record Type, typename Get>
  void add_field(Type& record, const Field<Get>& field) {
    if constexpr (std::is_member_object_pointer_v<Get>) add_value(record.*field.get, field.info.over);
  }
  template <Record Type, typename Get>
  void add_field(Type& record, const Inlined<Get>& inlined) {
    if constexpr (std::is_member_object_pointer_v<Get>) add_value(record.*inlined.get, Over::none);
  }

  template <typename Value>
  void add_value(Value& value, Over over) {
    if constexpr (Reducible<Value>) {
      add(value);
    } else if constexpr (requires { value.has_value(); }) {
      if (value) add_value(*value, over);
    } else if constexpr (requires { value.begin()->record_name; }) {
      for (auto& each : value) add(each);
    } else if (over != Over::none) {
      if constexpr (std::is_same_v<Value, std::uint64_t> || std::is_same_v<Value, double> ||
                    std::is_same_v<Value, RankExtreme> || std::is_same_v<Value, Digest>)
        add_number(value, over);
      else if constexpr (requires { value.begin(); })
        for (auto& each : value) add_value(each, over);
    }
  }
  void add_number(std::uint64_t& number, Over over);
  void add_number(double& number, Over over);
  void add_number(RankExtreme& extreme, Over over) { extremes_.push_back({&extreme, over == Over::most}); }
  void add_number(Digest& digest, Over) { sum(digest.value); }

  void bring(To to, MPI_Comm communicator, const WaitOptions& waiting);
  std::vector<std::uint64_t> packed_sums() const;
  std::vector<double> packed_bounds() const;
  void unpack_sums(std::span<const std::uint64_t> packed);
  void unpack_bounds(std::span<const double> packed);

  std::vector<std::span<std::uint64_t>> sums_;
  std::vector<double*> real_sums_;
  std::vector<Bound> bounds_;
  std::deque<Whole> wholes_;  ///< of bounds of whole numbers, which stay in their places
  std::vector<Extreme> extremes_;
};

}  // namespace strider
