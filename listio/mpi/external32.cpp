#include "listio/mpi/external32.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "listio/mpi/bytes.hpp"
#include "listio/mpi/contents.hpp"

namespace strider::listio::mpi {
namespace {

void add(Values& values, const ValueRun& run) {
  if (run.bytes == 0 || run.count == 0) return;
  if (!values.empty() && values.back().bytes == run.bytes) values.back().count += run.count;
  else values.push_back(run);
}

void add_copies(Values& values, const Values& part, std::int64_t count) {
  if (part.size() == 1) return add(values, {part.front().bytes, part.front().count * count});
  for (std::int64_t i = 0; i < count; ++i)
    for (const ValueRun& run : part) add(values, run);
}

std::int64_t size_of(MPI_Datatype type) {
  MPI_Count size = 0;
  below().Type_size_x(type, &size);
  return size;
}

[[noreturn]] void refuse(MPI_Datatype type) {
  throw Failure(MPI_ERR_CONVERSION, "external32 has another length or format than memory for a datatype of " +
                                        std::to_string(size_of(type)) +
                                        " bytes (MPI_LONG, MPI_LONG_DOUBLE, MPI_WCHAR or one that " +
                                        "contains it); use a datatype of fixed length such as MPI_INT64_T");
}

template <typename... Types>
bool is_one_of(MPI_Datatype type, const Types&... types) {
  return ((type == types) || ...);
}

bool is_complex(MPI_Datatype type, int combiner) {
  return combiner == MPI_COMBINER_F90_COMPLEX ||
         is_one_of(type, MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16, MPI_C_FLOAT_COMPLEX,
                   MPI_C_DOUBLE_COMPLEX, MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX);
}

/// Of a type that MPI defines. MPI_Pack_external is of no use: MPICH's fails for pairs such as MPI_DOUBLE_INT.
Values basic_values(MPI_Datatype type, int combiner) {
  constexpr std::int64_t index_bytes = sizeof(int), longest = 8;
  const std::int64_t size = size_of(type);
  if (is_one_of(type, MPI_WCHAR, MPI_LONG_INT) || (is_one_of(type, MPI_LONG, MPI_UNSIGNED_LONG) && size != 4))
    refuse(type);
  if (is_one_of(type, MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_SHORT_INT)) return {{size - index_bytes, 1}, {index_bytes, 1}};
  const bool is_pair =
      is_complex(type, combiner) || is_one_of(type, MPI_2INT, MPI_2REAL, MPI_2DOUBLE_PRECISION, MPI_2INTEGER);
  const ValueRun run = is_pair ? ValueRun{size / 2, 2} : ValueRun{size, 1};
  if (run.bytes > longest) refuse(type);
  Values values;
  add(values, run);
  return values;
}

Values build(MPI_Datatype type) {
  const Contents contents(type);
  if (is_basic(contents.combiner())) return basic_values(type, contents.combiner());
  Values values;
  if (contents.combiner() == MPI_COMBINER_STRUCT) {
    for (std::size_t i = 0; i < contents.types().size(); ++i)
      add_copies(values, build(contents.types()[i]), contents.integers()[1 + i]);
    return values;
  }
  // All other constructors repeat one type.
  const MPI_Datatype element = contents.types().front();
  if (const std::int64_t bytes = size_of(element); bytes > 0) add_copies(values, build(element), size_of(type) / bytes);
  return values;
}

void reverse(std::byte* at, std::int64_t bytes, const Values& values) {
  std::byte* const end = at + bytes;
  while (at < end)
    for (const ValueRun& run : values)
      for (std::int64_t i = 0; i < run.count; ++i, at += run.bytes) {
        if (end - at < run.bytes) return;
        std::reverse(at, at + run.bytes);
      }
}

/// Between the memory of a task and the same bytes without gaps.
void copy(const Task& task, std::byte* at, std::int64_t bytes) {
  Cursor memory(*task.memory_type, reinterpret_cast<std::intptr_t>(task.memory), 0);
  while (bytes > 0) {
    const std::int64_t length = std::min(bytes, memory.left());
    auto* const place = reinterpret_cast<std::byte*>(memory.address());
    if (task.direction == Direction::write) std::memcpy(at, place, static_cast<std::size_t>(length));
    else std::memcpy(place, at, static_cast<std::size_t>(length));
    memory.skip(length);
    at += length;
    bytes -= length;
  }
}

}  // namespace

std::shared_ptr<const Values> values_of(MPI_Datatype type) { return std::make_shared<const Values>(build(type)); }

Outcome move_converted(const std::shared_ptr<OpenFile>& file, const Task& task, std::int64_t& moved) {
  Outcome outcome;
  Bytes bytes;
  Task plain = task;
  outcome = outcome_of([&] {
    bytes = Bytes(static_cast<std::size_t>(task.bytes));
    plain.memory_type = flatten(MPI_BYTE);
  });
  if (outcome.failed()) return outcome;
  plain.values = nullptr;
  plain.memory = bytes.data();
  plain.count = task.bytes;
  if (task.direction == Direction::write) {
    copy(task, bytes.data(), task.bytes);
    reverse(bytes.data(), task.bytes, *task.values);
  }
  outcome = move(file, plain, moved);
  if (task.direction == Direction::read) {
    reverse(bytes.data(), moved, *task.values);
    copy(task, bytes.data(), moved);
  }
  return outcome;
}

}  // namespace strider::listio::mpi
