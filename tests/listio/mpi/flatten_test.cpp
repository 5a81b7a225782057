// Runs of datatypes against the bytes that MPI_Pack finds.
#include "listio/mpi/flatten.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "mpi/random_types.hpp"

namespace strider::listio::mpi {
namespace {

constexpr int copies = 3;

/// Memory around an address that holds `copies` of a type; each byte differs from those near it.
class Around {
 public:
  explicit Around(MPI_Datatype type) {
    MPI_Aint first = 0, span = 0, lower_bound = 0, extent = 0;
    MPI_Type_get_true_extent(type, &first, &span);
    MPI_Type_get_extent(type, &lower_bound, &extent);
    const std::int64_t low = std::min<std::int64_t>(0, first);
    const std::int64_t high = std::max<std::int64_t>(0, first + span) + (copies - 1) * extent;
    before_ = -low;
    bytes_.resize(static_cast<std::size_t>(high - low) + 1);
    for (std::size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = static_cast<std::byte>(i * 131 + (i >> 8) * 17);
  }
  const std::byte* address() const { return bytes_.data() + before_; }
  /// Whether all of `run` is in this memory.
  bool holds(const TypeRun& run) const {
    return run.offset + before_ >= 0 && run.end() + before_ <= std::ssize(bytes_);
  }

 private:
  std::int64_t before_ = 0;
  std::vector<std::byte> bytes_;
};

std::vector<std::byte> packed_by_mpi(MPI_Datatype type, const Around& memory) {
  int most = 0, used = 0;
  MPI_Pack_size(copies, type, MPI_COMM_SELF, &most);
  std::vector<std::byte> packed(static_cast<std::size_t>(most) + 1);
  MPI_Pack(memory.address(), copies, type, packed.data(), most, &used, MPI_COMM_SELF);
  packed.resize(static_cast<std::size_t>(used));
  return packed;
}

std::vector<std::byte> packed_by_runs(const FlatType& flat, const Around& memory) {
  std::vector<std::byte> packed;
  for (std::int64_t copy = 0; copy < copies; ++copy)
    for (const TypeRun& run : flat.runs) {
      const TypeRun moved{run.offset + copy * flat.extent, run.length};
      if (!memory.holds(moved)) {
        ADD_FAILURE() << "a run from " << moved.offset << " to " << moved.end() << " is outside the type";
        return packed;
      }
      packed.insert(packed.end(), memory.address() + moved.offset, memory.address() + moved.end());
    }
  return packed;
}

void expect_as_packed(MPI_Datatype type) {
  const auto flat = flatten(type);
  MPI_Count size = 0;
  MPI_Aint lower_bound = 0, extent = 0;
  MPI_Type_size_x(type, &size);
  MPI_Type_get_extent(type, &lower_bound, &extent);
  EXPECT_EQ(flat->size, size);
  EXPECT_EQ(flat->lower_bound, lower_bound);
  EXPECT_EQ(flat->extent, extent);
  const Around memory(type);
  EXPECT_EQ(packed_by_runs(*flat, memory), packed_by_mpi(type, memory));
  ASSERT_EQ(flat->before.size(), flat->runs.size());
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < flat->runs.size(); ++i) {
    EXPECT_EQ(flat->before[i], bytes);
    EXPECT_GT(flat->runs[i].length, 0);
    EXPECT_TRUE(i == 0 || flat->runs[i - 1].end() != flat->runs[i].offset) << "two runs that touch are not one";
    bytes += flat->runs[i].length;
  }
}

TEST(Flatten, TypesOfMpiAreAsMpiPacksThem) {
  for (const MPI_Datatype type : named_types()) expect_as_packed(type);
}

TEST(Flatten, APairMayHaveAHole) {
  EXPECT_EQ(flatten(MPI_SHORT_INT)->runs, (std::vector<TypeRun>{{0, 2}, {4, 4}}));
  EXPECT_EQ(flatten(MPI_DOUBLE_INT)->runs, (std::vector<TypeRun>{{0, 12}}));
}

TEST(Flatten, TwoThousandTreesAreAsMpiPacksThem) {
  RandomTypes types(7);
  int trees = 0, empty = 0, below_zero = 0, with_gaps = 0;
  for (; trees < 2000; ++trees) {
    MPI_Datatype type = types.make(trees % 4);
    expect_as_packed(type);
    const auto flat = flatten(type);
    empty += flat->size == 0 ? 1 : 0;
    below_zero += flat->lower_bound < 0 ? 1 : 0;
    with_gaps += flat->runs.size() > 1 ? 1 : 0;
    MPI_Type_free(&type);
    if (HasFailure()) FAIL() << "tree " << trees;
  }
  EXPECT_GT(empty, 50);
  EXPECT_GT(below_zero, 200);
  EXPECT_GT(with_gaps, 500);
#if MPI_VERSION >= 4
  constexpr std::size_t constructors = 23;  // all but dup have a form with large counts
#else
  constexpr std::size_t constructors = 12;
#endif
  EXPECT_EQ(types.used().size(), constructors);
  for (const auto& [name, count] : types.used()) EXPECT_GT(count, 30) << name;
}

TEST(Flatten, TypesOfFortranByPrecisionAreAsMpiPacksThem) {
  MPI_Datatype real = MPI_DATATYPE_NULL, pair = MPI_DATATYPE_NULL;
  MPI_Type_create_f90_real(15, MPI_UNDEFINED, &real);
  if (real == MPI_DATATYPE_NULL) GTEST_SKIP() << "this MPI was built without Fortran; install one with it";
  MPI_Type_vector(2, 1, 3, real, &pair);
  MPI_Type_commit(&pair);
  expect_as_packed(pair);
  expect_as_packed(real);
  MPI_Type_free(&pair);
}

TEST(Flatten, ATypeIsFlattenedOnceAndForgottenWithIt) {
  MPI_Datatype type = MPI_DATATYPE_NULL, copy = MPI_DATATYPE_NULL;
  MPI_Type_vector(5, 1, 2, MPI_INT, &type);
  std::weak_ptr<const FlatType> kept = flatten(type);
  EXPECT_EQ(flatten(type), kept.lock());
  MPI_Type_dup(type, &copy);
  EXPECT_EQ(flatten(copy)->runs, kept.lock()->runs);
  MPI_Type_free(&type);
  EXPECT_EQ(flatten(copy)->runs.size(), 5U);
  MPI_Type_free(&copy);  // MPICH's copies refer to their original
  EXPECT_TRUE(kept.expired());
  EXPECT_EQ(flatten(MPI_INT), flatten(MPI_INT));
}

TEST(Flatten, RunsThatAUserHoldsOutliveTheType) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_INT, &type);
  const auto flat = flatten(type);
  MPI_Type_free(&type);
  EXPECT_EQ(flat->runs, (std::vector<TypeRun>{{0, 4}, {8, 4}}));
}

void expect_compact(const FlatType& flat, std::size_t runs) {
  EXPECT_EQ(flat.runs.size(), runs);
  EXPECT_LE(flat.runs.capacity() * sizeof(TypeRun) + flat.before.capacity() * sizeof(std::int64_t), 24 * runs);
}

TEST(Flatten, AMillionRunsTakeTwentyFourBytesEach) {
  constexpr int million = 1'000'000;
  std::vector<int> ones(million, 1);
  std::vector<MPI_Aint> places(million);
  for (int i = 0; i < million; ++i) places[static_cast<std::size_t>(i)] = MPI_Aint{8} * i;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(million, 1, 2, MPI_INT, &type);
  expect_compact(*flatten(type), million);
  MPI_Type_free(&type);
  MPI_Type_create_hindexed(million, ones.data(), places.data(), MPI_INT, &type);
  expect_compact(*flatten(type), million);
  MPI_Type_free(&type);
  const int sizes[] = {100, 100, 200}, lengths[] = {100, 100, 100}, starts[] = {0, 0, 0};
  MPI_Datatype sparse = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, 8, &sparse);
  MPI_Type_create_subarray(3, sizes, lengths, starts, MPI_ORDER_C, sparse, &type);
  MPI_Type_free(&sparse);
  expect_compact(*flatten(type), million);
  MPI_Type_free(&type);
}

TEST(Flatten, WhatTouchesIsOneRunHoweverItWasMade) {
  MPI_Datatype type = MPI_DATATYPE_NULL, outer = MPI_DATATYPE_NULL;
  MPI_Type_vector(1'000'000, 4, 4, MPI_DOUBLE, &type);
  MPI_Type_contiguous(1000, type, &outer);
  EXPECT_EQ(flatten(outer)->runs, (std::vector<TypeRun>{{0, 32'000'000'000}}));
  EXPECT_TRUE(flatten(outer)->is_dense());
  MPI_Type_free(&type);
  MPI_Type_free(&outer);
}

FlatType flat_of(std::vector<TypeRun> runs, std::int64_t extent) {
  return {.runs = std::move(runs), .before = {}, .size = 0, .lower_bound = 0, .extent = extent};
}

TEST(FlatTypeRules, AnAscendingTypeNeverGoesBack) {
  EXPECT_TRUE(flat_of({}, 0).is_ascending());
  EXPECT_TRUE(flat_of({{0, 4}, {8, 4}}, 12).is_ascending());
  EXPECT_TRUE(flat_of({{0, 4}, {0, 4}}, 12).is_ascending());
  EXPECT_FALSE(flat_of({{8, 4}, {0, 4}}, 12).is_ascending());
  EXPECT_FALSE(flat_of({{-4, 4}, {8, 4}}, 12).is_ascending());
}

TEST(FlatTypeRules, BytesThatAreThereTwiceOverlap) {
  EXPECT_FALSE(flat_of({}, 0).overlaps());
  EXPECT_FALSE(flat_of({{0, 4}, {8, 4}}, 12).overlaps());
  EXPECT_TRUE(flat_of({{0, 4}, {3, 4}}, 12).overlaps());
  EXPECT_TRUE(flat_of({{0, 4}, {8, 4}}, 11).overlaps()) << "with the next element";
  EXPECT_FALSE(flat_of({{4, 4}, {8, 4}}, 8).overlaps());
}

}  // namespace
}  // namespace strider::listio::mpi
