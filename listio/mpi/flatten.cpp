#include "listio/mpi/flatten.hpp"

#include <algorithm>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>

#include "foundation/error.hpp"
#include "listio/mpi/below.hpp"
#include "listio/mpi/contents.hpp"

namespace strider::listio::mpi {
namespace {

using Runs = std::vector<TypeRun>;
using Shared = std::shared_ptr<const FlatType>;

Shared find_or_build(MPI_Datatype type);

void append(Runs& runs, const TypeRun& run) {
  if (run.length <= 0) return;
  if (!runs.empty() && runs.back().end() == run.offset) runs.back().length += run.length;
  else runs.push_back(run);
}

/// `count` copies of `part`, `stride` bytes apart, the first at `first`.
void repeat(Runs& runs, const Runs& part, std::int64_t count, std::int64_t stride, std::int64_t first) {
  if (part.empty() || count <= 0) return;
  if (part.size() == 1 && part.front().length == stride) {
    append(runs, {first + part.front().offset, count * stride});
    return;
  }
  for (std::int64_t i = 0; i < count; ++i)
    for (const TypeRun& run : part) append(runs, {first + i * stride + run.offset, run.length});
}

/// Elements of an array: for each dimension runs of indices, from which data is taken.
struct Selection {
  std::vector<std::int64_t> sizes;
  std::vector<Runs> indices;
  bool first_is_fastest = false;  ///< Fortran's order

  Runs runs(const FlatType& element) const {
    Runs part = element.runs;
    std::int64_t stride = element.extent;
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      const std::size_t dimension = first_is_fastest ? k : sizes.size() - 1 - k;
      Runs next;
      for (const TypeRun& range : indices[dimension]) repeat(next, part, range.length, stride, range.offset * stride);
      part = std::move(next);
      stride *= sizes[dimension];
    }
    return part;
  }
};

Selection subarray_of(std::span<const std::int64_t> integers) {
  const auto dimensions = static_cast<std::size_t>(integers[0]);
  const auto sizes = integers.subspan(1, dimensions);
  const auto lengths = integers.subspan(1 + dimensions, dimensions);
  const auto starts = integers.subspan(1 + 2 * dimensions, dimensions);
  Selection chosen;
  chosen.first_is_fastest = integers[1 + 3 * dimensions] == MPI_ORDER_FORTRAN;
  chosen.sizes.assign(sizes.begin(), sizes.end());
  for (std::size_t d = 0; d < dimensions; ++d) chosen.indices.push_back({{starts[d], lengths[d]}});
  return chosen;
}

/// The indices of one dimension that belong to place `at` of `places`.
Runs distributed(std::int64_t size, std::int64_t distribution, std::int64_t argument, std::int64_t places,
                 std::int64_t at) {
  const bool is_default = argument == MPI_DISTRIBUTE_DFLT_DARG;
  Runs indices;
  if (distribution == MPI_DISTRIBUTE_BLOCK) {
    const std::int64_t block = is_default ? (size + places - 1) / places : argument;
    append(indices, {at * block, std::min(block, size - at * block)});
  } else if (distribution == MPI_DISTRIBUTE_CYCLIC) {
    const std::int64_t block = is_default ? 1 : argument;
    for (std::int64_t start = at * block; start < size; start += block * places)
      append(indices, {start, std::min(block, size - start)});
  } else {
    append(indices, {0, size});
  }
  return indices;
}

Selection darray_of(std::span<const std::int64_t> integers) {
  const auto dimensions = static_cast<std::size_t>(integers[2]);
  const auto of = [&](std::size_t list, std::size_t d) { return integers[3 + list * dimensions + d]; };
  // The grid of processes is row-major, with any order of the array.
  std::vector<std::int64_t> at(dimensions);
  std::int64_t rest = integers[1];
  for (std::size_t d = dimensions; d-- > 0;) {
    at[d] = rest % of(3, d);
    rest /= of(3, d);
  }
  Selection chosen;
  chosen.first_is_fastest = integers[3 + 4 * dimensions] == MPI_ORDER_FORTRAN;
  for (std::size_t d = 0; d < dimensions; ++d) {
    chosen.sizes.push_back(of(0, d));
    chosen.indices.push_back(distributed(of(0, d), of(1, d), of(2, d), of(3, d), at[d]));
  }
  return chosen;
}

Runs vector_of(const FlatType& element, std::int64_t count, std::int64_t block, std::int64_t stride) {
  Runs one, runs;
  repeat(one, element.runs, block, element.extent, 0);
  repeat(runs, one, count, stride, 0);
  return runs;
}

enum class Blocks { equal, individual };
enum class Displacements { elements, bytes };

Runs indexed_of(const FlatType& element, const Contents& contents, Blocks blocks, Displacements displacements) {
  const auto& integers = contents.integers();
  const auto count = static_cast<std::size_t>(integers[0]);
  const std::size_t first = blocks == Blocks::equal ? 2 : 1 + count;  // of displacements in elements
  Runs runs;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t length = integers[blocks == Blocks::equal ? 1 : 1 + i];
    const std::int64_t place =
        displacements == Displacements::bytes ? contents.addresses()[i] : integers[first + i] * element.extent;
    repeat(runs, element.runs, length, element.extent, place);
  }
  return runs;
}

Runs struct_of(const Contents& contents) {
  const auto count = static_cast<std::size_t>(contents.integers()[0]);
  Runs runs;
  Shared element;
  for (std::size_t i = 0; i < count; ++i) {
    if (i == 0 || contents.types()[i] != contents.types()[i - 1]) element = find_or_build(contents.types()[i]);
    repeat(runs, element->runs, contents.integers()[1 + i], element->extent, contents.addresses()[i]);
  }
  return runs;
}

/// Of a type that MPI defines. The only ones with a hole inside are pairs of a value and an int, such as
/// MPI_SHORT_INT.
Runs basic_runs(MPI_Datatype type, std::int64_t size) {
  MPI_Count first = 0, span = 0;
  below().Type_get_true_extent_x(type, &first, &span);
  constexpr auto index_bytes = static_cast<std::int64_t>(sizeof(int));
  if (span <= size) return size > 0 ? Runs{{0, size}} : Runs{};
  return {{0, size - index_bytes}, {span - index_bytes, index_bytes}};
}

Runs derived_runs(const Contents& contents) {
  if (contents.combiner() == MPI_COMBINER_STRUCT) return struct_of(contents);
  if (contents.types().size() != 1)
    throw InputError("", "MPI reports a datatype of unknown kind " + std::to_string(contents.combiner()),
                     "use the constructors of MPI 4.0");
  const Shared element = find_or_build(contents.types().front());
  const auto& integers = contents.integers();
  const auto& addresses = contents.addresses();
  switch (contents.combiner()) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED: return element->runs;
    case MPI_COMBINER_CONTIGUOUS: return vector_of(*element, 1, integers[0], 0);
    case MPI_COMBINER_VECTOR: return vector_of(*element, integers[0], integers[1], integers[2] * element->extent);
    case MPI_COMBINER_HVECTOR: return vector_of(*element, integers[0], integers[1], addresses[0]);
    case MPI_COMBINER_INDEXED: return indexed_of(*element, contents, Blocks::individual, Displacements::elements);
    case MPI_COMBINER_HINDEXED: return indexed_of(*element, contents, Blocks::individual, Displacements::bytes);
    case MPI_COMBINER_INDEXED_BLOCK: return indexed_of(*element, contents, Blocks::equal, Displacements::elements);
    case MPI_COMBINER_HINDEXED_BLOCK: return indexed_of(*element, contents, Blocks::equal, Displacements::bytes);
    case MPI_COMBINER_SUBARRAY: return subarray_of(integers).runs(*element);
    case MPI_COMBINER_DARRAY: return darray_of(integers).runs(*element);
    default:
      throw InputError("", "MPI reports a datatype of unknown kind " + std::to_string(contents.combiner()),
                       "use the constructors of MPI 4.0");
  }
}

/// Extents come from MPI: the padding of a struct is its choice.
Shared build(MPI_Datatype type, const Contents& contents) {
  auto flat = std::make_shared<FlatType>();
  MPI_Count size = 0, lower_bound = 0, extent = 0;
  below().Type_size_x(type, &size);
  below().Type_get_extent_x(type, &lower_bound, &extent);
  flat->runs = is_basic(contents.combiner()) ? basic_runs(type, size) : derived_runs(contents);
  flat->runs.shrink_to_fit();
  flat->before.reserve(flat->runs.size());
  for (const TypeRun& run : flat->runs) {
    flat->before.push_back(flat->size);
    flat->size += run.length;
  }
  flat->lower_bound = lower_bound;
  flat->extent = extent;
  return flat;
}

int forget(MPI_Datatype, int, void* value, void*) {
  delete static_cast<Shared*>(value);
  return MPI_SUCCESS;
}

/// The attribute that holds the runs of a derived type. It is deleted with the last reference to the type, and copies
/// do not inherit it.
int keyval() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    below().Type_create_keyval(MPI_TYPE_NULL_COPY_FN, forget, &made, nullptr);
    return made;
  }();
  return key;
}

/// Runs of the types that MPI defines, whose handles stay.
std::unordered_map<MPI_Datatype, Shared>& basic_types() {
  static std::unordered_map<MPI_Datatype, Shared> types;
  return types;
}

Shared find(MPI_Datatype type) {
  if (const auto known = basic_types().find(type); known != basic_types().end()) return known->second;
  void* value = nullptr;
  int found = 0;
  below().Type_get_attr(type, keyval(), static_cast<void*>(&value), &found);
  return found != 0 ? *static_cast<const Shared*>(value) : nullptr;
}

void keep(MPI_Datatype type, const Shared& flat, int combiner) {
  if (is_basic(combiner)) {
    basic_types().emplace(type, flat);
    return;
  }
  auto kept = std::make_unique<Shared>(flat);
  if (below().Type_set_attr(type, keyval(), kept.get()) == MPI_SUCCESS) static_cast<void>(kept.release());
}

Shared find_or_build(MPI_Datatype type) {
  if (Shared found = find(type)) return found;
  return build(type, Contents(type));
}

}  // namespace

bool FlatType::is_ascending() const {
  const auto descends = [](const TypeRun& left, const TypeRun& right) { return right.offset < left.offset; };
  return runs.empty() ||
         (runs.front().offset >= 0 && std::adjacent_find(runs.begin(), runs.end(), descends) == runs.end());
}

bool FlatType::overlaps() const {
  if (runs.empty()) return false;
  const auto covers = [](const TypeRun& left, const TypeRun& right) { return right.offset < left.end(); };
  return std::adjacent_find(runs.begin(), runs.end(), covers) != runs.end() ||
         runs.back().end() > runs.front().offset + extent;
}

std::shared_ptr<const FlatType> flatten(MPI_Datatype type) {
  // Attributes of one type belong to all threads, and two of them may flatten it at the same time.
  static std::mutex one_at_a_time;
  const std::lock_guard guard(one_at_a_time);
  if (Shared found = find(type)) return found;
  const Contents contents(type);
  Shared flat = build(type, contents);
  keep(type, flat, contents.combiner());
  return flat;
}

}  // namespace strider::listio::mpi
