#include "mpi/random_types.hpp"

namespace strider::listio::mpi {
namespace {

std::vector<int> as_int(const std::vector<MPI_Count>& counts) { return {counts.begin(), counts.end()}; }
std::vector<MPI_Aint> as_aint(const std::vector<MPI_Count>& counts) { return {counts.begin(), counts.end()}; }

std::int64_t extent_of(MPI_Datatype type) {
  MPI_Aint lower_bound = 0, extent = 0;
  MPI_Type_get_extent(type, &lower_bound, &extent);
  return extent;
}

bool is_small(MPI_Datatype type) {
  MPI_Aint first = 0, span = 0;
  MPI_Count size = 0;
  MPI_Type_size_x(type, &size);
  MPI_Type_get_true_extent(type, &first, &span);
  const std::int64_t extent = extent_of(type);
  return size < 20'000 && span < 100'000 && extent >= 0 && extent < 200'000;
}

}  // namespace

std::vector<MPI_Datatype> named_types() {
  return {MPI_BYTE,
          MPI_CHAR,
          MPI_SHORT,
          MPI_INT,
          MPI_LONG,
          MPI_FLOAT,
          MPI_DOUBLE,
          MPI_LONG_LONG,
          MPI_INT8_T,
          MPI_UINT16_T,
          MPI_WCHAR,
          MPI_C_BOOL,
          MPI_C_DOUBLE_COMPLEX,
          MPI_AINT,
          MPI_COUNT,
          MPI_SHORT_INT,
          MPI_LONG_INT,
          MPI_DOUBLE_INT,
          MPI_FLOAT_INT,
          MPI_2INT};
}

std::int64_t RandomTypes::any(std::int64_t first, std::int64_t last) {
  return first + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(last - first + 1));
}

MPI_Datatype RandomTypes::leaf() {
  const std::vector<MPI_Datatype> named = named_types();
  return named[static_cast<std::size_t>(any(0, static_cast<std::int64_t>(named.size()) - 1))];
}

bool RandomTypes::choose_large(const char* name) {
  bool is_large = false;
#if MPI_VERSION >= 4
  is_large = flip();
#endif
  ++used_[std::string(name) + (is_large ? "_c" : "")];
  return is_large;
}

MPI_Datatype RandomTypes::make(int depth) {
  for (;;) {
    MPI_Datatype type = child(depth);
    if (is_small(type)) {
      MPI_Type_commit(&type);
      return type;
    }
    MPI_Type_free(&type);
  }
}

/// A derived type. The types that it is made of are freed: MPICH 4.0 packs wrongly when hundreds of them stay.
MPI_Datatype RandomTypes::child(int depth) {
  MPI_Datatype part = depth > 0 ? child(depth - 1) : leaf();
  if (depth > 0 && !is_small(part)) {
    MPI_Type_free(&part);
    part = child(0);
  }
  using Maker = MPI_Datatype (RandomTypes::*)(MPI_Datatype);
  static constexpr Maker makers[] = {&RandomTypes::contiguous,     &RandomTypes::vector,    &RandomTypes::hvector,
                                     &RandomTypes::indexed,        &RandomTypes::hindexed,  &RandomTypes::indexed_block,
                                     &RandomTypes::hindexed_block, &RandomTypes::structure, &RandomTypes::subarray,
                                     &RandomTypes::darray,         &RandomTypes::resized,   &RandomTypes::duplicate};
  const Maker maker = makers[any(0, std::ssize(makers) - 1)];
  const MPI_Datatype type = (this->*maker)(part);
  if (depth > 0) MPI_Type_free(&part);
  return type;
}

/// Lengths of blocks, some of them 0.
RandomTypes::Counts RandomTypes::lengths(std::size_t count) {
  Counts found;
  for (std::size_t i = 0; i < count; ++i) found.push_back(any(0, 3));
  return found;
}

/// Displacements in any order, some of them negative.
RandomTypes::Counts RandomTypes::places(std::size_t count, std::int64_t unit) {
  Counts found;
  for (std::size_t i = 0; i < count; ++i) found.push_back(any(-6, 12) * unit + (unit > 1 ? any(0, 3) : 0));
  return found;
}

#if MPI_VERSION >= 4
#define STRIDER_MAKE(name, plain, large)   \
  do {                                     \
    MPI_Datatype type = MPI_DATATYPE_NULL; \
    if (choose_large(name)) large;         \
    else plain;                            \
    return type;                           \
  } while (false)
#else
#define STRIDER_MAKE(name, plain, large)   \
  do {                                     \
    MPI_Datatype type = MPI_DATATYPE_NULL; \
    choose_large(name);                    \
    plain;                                 \
    return type;                           \
  } while (false)
#endif

MPI_Datatype RandomTypes::contiguous(MPI_Datatype part) {
  const auto count = any(0, 4);
  STRIDER_MAKE("contiguous", MPI_Type_contiguous(static_cast<int>(count), part, &type),
               MPI_Type_contiguous_c(count, part, &type));
}

MPI_Datatype RandomTypes::vector(MPI_Datatype part) {
  const auto count = any(0, 4), block = any(0, 3), stride = any(-4, 5);
  STRIDER_MAKE("vector",
               MPI_Type_vector(static_cast<int>(count), static_cast<int>(block), static_cast<int>(stride), part, &type),
               MPI_Type_vector_c(count, block, stride, part, &type));
}

MPI_Datatype RandomTypes::hvector(MPI_Datatype part) {
  const auto count = any(0, 4), block = any(0, 3), stride = any(-2, 3) * extent_of(part) + any(0, 9);
  STRIDER_MAKE("hvector",
               MPI_Type_create_hvector(static_cast<int>(count), static_cast<int>(block), stride, part, &type),
               MPI_Type_create_hvector_c(count, block, stride, part, &type));
}

MPI_Datatype RandomTypes::indexed(MPI_Datatype part) {
  const auto count = any(0, 5);
  const Counts blocks = lengths(static_cast<std::size_t>(count)), at = places(static_cast<std::size_t>(count), 1);
  STRIDER_MAKE("indexed",
               MPI_Type_indexed(static_cast<int>(count), as_int(blocks).data(), as_int(at).data(), part, &type),
               MPI_Type_indexed_c(count, blocks.data(), at.data(), part, &type));
}

MPI_Datatype RandomTypes::hindexed(MPI_Datatype part) {
  const auto count = any(0, 5);
  const Counts blocks = lengths(static_cast<std::size_t>(count));
  const Counts at = places(static_cast<std::size_t>(count), extent_of(part));
  STRIDER_MAKE(
      "hindexed",
      MPI_Type_create_hindexed(static_cast<int>(count), as_int(blocks).data(), as_aint(at).data(), part, &type),
      MPI_Type_create_hindexed_c(count, blocks.data(), at.data(), part, &type));
}

MPI_Datatype RandomTypes::indexed_block(MPI_Datatype part) {
  const auto count = any(0, 5), block = any(0, 3);
  const Counts at = places(static_cast<std::size_t>(count), 1);
  STRIDER_MAKE(
      "indexed_block",
      MPI_Type_create_indexed_block(static_cast<int>(count), static_cast<int>(block), as_int(at).data(), part, &type),
      MPI_Type_create_indexed_block_c(count, block, at.data(), part, &type));
}

MPI_Datatype RandomTypes::hindexed_block(MPI_Datatype part) {
  const auto count = any(0, 5), block = any(0, 3);
  const Counts at = places(static_cast<std::size_t>(count), extent_of(part));
  STRIDER_MAKE(
      "hindexed_block",
      MPI_Type_create_hindexed_block(static_cast<int>(count), static_cast<int>(block), as_aint(at).data(), part, &type),
      MPI_Type_create_hindexed_block_c(count, block, at.data(), part, &type));
}

MPI_Datatype RandomTypes::structure(MPI_Datatype part) {
  const auto count = any(0, 4);
  const Counts blocks = lengths(static_cast<std::size_t>(count));
  const Counts at = places(static_cast<std::size_t>(count), 8);
  std::vector<MPI_Datatype> parts;
  for (std::int64_t i = 0; i < count; ++i) parts.push_back(flip() ? part : leaf());
  STRIDER_MAKE(
      "struct",
      MPI_Type_create_struct(static_cast<int>(count), as_int(blocks).data(), as_aint(at).data(), parts.data(), &type),
      MPI_Type_create_struct_c(count, blocks.data(), at.data(), parts.data(), &type));
}

MPI_Datatype RandomTypes::subarray(MPI_Datatype part) {
  const auto dimensions = static_cast<int>(any(1, 3));
  const int order = flip() ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  Counts sizes, lengths, starts;
  for (int d = 0; d < dimensions; ++d) {
    sizes.push_back(any(1, 4));
    lengths.push_back(any(1, sizes.back()));
    starts.push_back(any(0, sizes.back() - lengths.back()));
  }
  STRIDER_MAKE("subarray",
               MPI_Type_create_subarray(dimensions, as_int(sizes).data(), as_int(lengths).data(), as_int(starts).data(),
                                        order, part, &type),
               MPI_Type_create_subarray_c(dimensions, sizes.data(), lengths.data(), starts.data(), order, part, &type));
}

MPI_Datatype RandomTypes::darray(MPI_Datatype part) {
  const auto dimensions = static_cast<int>(any(1, 3));
  const int order = flip() ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  Counts sizes;
  std::vector<int> distributions, arguments, grid;
  int processes = 1;
  for (int d = 0; d < dimensions; ++d) {
    static constexpr int kinds[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
    const int kind = kinds[any(0, 2)];
    grid.push_back(kind == MPI_DISTRIBUTE_NONE ? 1 : static_cast<int>(any(1, 3)));
    sizes.push_back(any(1, 7));
    const std::int64_t least = kind == MPI_DISTRIBUTE_BLOCK ? (sizes.back() + grid.back() - 1) / grid.back() : 1;
    const bool is_default = kind == MPI_DISTRIBUTE_NONE || flip();
    arguments.push_back(is_default ? MPI_DISTRIBUTE_DFLT_DARG : static_cast<int>(any(least, least + 2)));
    distributions.push_back(kind);
    processes *= grid.back();
  }
  const auto rank = static_cast<int>(any(0, processes - 1));
  STRIDER_MAKE("darray",
               MPI_Type_create_darray(processes, rank, dimensions, as_int(sizes).data(), distributions.data(),
                                      arguments.data(), grid.data(), order, part, &type),
               MPI_Type_create_darray_c(processes, rank, dimensions, sizes.data(), distributions.data(),
                                        arguments.data(), grid.data(), order, part, &type));
}

MPI_Datatype RandomTypes::resized(MPI_Datatype part) {
  const auto lower_bound = any(-9, 9), extent = extent_of(part) + any(0, 12);
  STRIDER_MAKE("resized", MPI_Type_create_resized(part, lower_bound, extent, &type),
               MPI_Type_create_resized_c(part, lower_bound, extent, &type));
}

MPI_Datatype RandomTypes::duplicate(MPI_Datatype part) {
  ++used_["dup"];
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_dup(part, &type);
  return type;
}

#undef STRIDER_MAKE

}  // namespace strider::listio::mpi
