#include "listio/mpi/contents.hpp"

#include <string>

#include "foundation/error.hpp"
#include "listio/mpi/below.hpp"

namespace strider::listio::mpi {
namespace {

void require(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  throw InputError("", std::string(call) + " failed with error class " + std::to_string(code) + " for a datatype",
                   "use a datatype that MPI's constructors made");
}

/// Numbers of the envelope: integers, addresses, large counts, datatypes.
struct Envelope {
  MPI_Count integers = 0, addresses = 0, counts = 0, types = 0;
  int combiner = 0;
};

/// The call with large counts comes first: the old one fails for types that such a constructor made.
Envelope envelope_of(MPI_Datatype type) {
  Envelope all;
#if MPI_VERSION >= 4
  if (below().Type_get_envelope_c != nullptr) {
    require(below().Type_get_envelope_c(type, &all.integers, &all.addresses, &all.counts, &all.types, &all.combiner),
            "MPI_Type_get_envelope_c");
    return all;
  }
#endif
  int integers = 0, addresses = 0, types = 0;
  require(below().Type_get_envelope(type, &integers, &addresses, &types, &all.combiner), "MPI_Type_get_envelope");
  all.integers = integers;
  all.addresses = addresses;
  all.types = types;
  return all;
}

}  // namespace

bool is_basic(int combiner) {
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
         combiner == MPI_COMBINER_F90_INTEGER;
}

int combiner_of(MPI_Datatype type) { return envelope_of(type).combiner; }

Contents::Contents(MPI_Datatype type) {
  const Envelope envelope = envelope_of(type);
  combiner_ = envelope.combiner;
  if (is_basic(combiner_)) return;
#if MPI_VERSION >= 4
  if (below().Type_get_contents_c != nullptr) {
    read_large(type, envelope.integers, envelope.addresses, envelope.counts, envelope.types);
    return;
  }
#endif
  read_old(type, static_cast<int>(envelope.integers), static_cast<int>(envelope.addresses),
           static_cast<int>(envelope.types));
}

// What could throw has been called by the constructor before.
Contents::~Contents() {  // NOLINT(bugprone-exception-escape)
  // MPI gives handles of its own for types that are not named; those of named types must not be freed.
  for (MPI_Datatype& type : types_)
    if (!is_basic(combiner_of(type))) below().Type_free(&type);
}

void Contents::read_old(MPI_Datatype type, int integers, int addresses, int types) {
  std::vector<int> found(static_cast<std::size_t>(integers) + 1);  // one more: data() of an empty vector may be null
  std::vector<MPI_Aint> places(static_cast<std::size_t>(addresses) + 1);
  std::vector<MPI_Datatype> parts(static_cast<std::size_t>(types) + 1);
  require(below().Type_get_contents(type, integers, addresses, types, found.data(), places.data(), parts.data()),
          "MPI_Type_get_contents");
  integers_.assign(found.begin(), found.end() - 1);
  addresses_.assign(places.begin(), places.end() - 1);
  types_.assign(parts.begin(), parts.end() - 1);
}

#if MPI_VERSION >= 4
void Contents::read_large(MPI_Datatype type, MPI_Count integers, MPI_Count addresses, MPI_Count counts,
                          MPI_Count types) {
  std::vector<int> found(static_cast<std::size_t>(integers) + 1);
  std::vector<MPI_Aint> places(static_cast<std::size_t>(addresses) + 1);
  std::vector<MPI_Count> large(static_cast<std::size_t>(counts) + 1);
  std::vector<MPI_Datatype> parts(static_cast<std::size_t>(types) + 1);
  require(below().Type_get_contents_c(type, integers, addresses, counts, types, found.data(), places.data(),
                                      large.data(), parts.data()),
          "MPI_Type_get_contents_c");
  integers_.assign(found.begin(), found.end() - 1);
  addresses_.assign(places.begin(), places.end() - 1);
  types_.assign(parts.begin(), parts.end() - 1);
  large.pop_back();
  if (!large.empty()) place_large(large);
}

/// The order of large counts is in MPI 4.0, section 5.1.13.
void Contents::place_large(const std::vector<MPI_Count>& counts) {
  const auto split = [&](std::size_t first_address) {
    const auto middle = counts.begin() + static_cast<std::ptrdiff_t>(first_address);
    integers_.assign(counts.begin(), middle);
    addresses_.assign(middle, counts.end());
  };
  switch (combiner_) {
    case MPI_COMBINER_RESIZED: return split(0);
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_HINDEXED_BLOCK: return split(2);
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_STRUCT: return split(1 + static_cast<std::size_t>(counts.front()));
    case MPI_COMBINER_SUBARRAY:  // dimensions, order; large: sizes, subsizes, starts
      integers_.insert(integers_.begin() + 1, counts.begin(), counts.end());
      return;
    case MPI_COMBINER_DARRAY:  // ranks, rank, dimensions, distributions, arguments, grid, order; large: sizes
      integers_.insert(integers_.begin() + 3, counts.begin(), counts.end());
      return;
    default: return split(counts.size());
  }
}
#endif

}  // namespace strider::listio::mpi
