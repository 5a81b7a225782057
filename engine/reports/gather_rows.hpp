#pragma once
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "ranks/exchange.hpp"
#include "reports/node_rows.hpp"

namespace strider {

constexpr int node_rows_tag = 916;

/// Bytes that a rank sends, as values follow one another.
class PackedBytes {
 public:
  template <TravelsAsBytes Value>
  void add(std::span<const Value> values) {
    const auto bytes = std::as_bytes(values);
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  template <TravelsAsBytes Value>
  void add(const Value& value) {
    add(std::span(&value, 1));
  }
  std::span<const std::byte> all() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// The values of `PackedBytes`, in their order.
class UnpackedBytes {
 public:
  explicit UnpackedBytes(std::span<const std::byte> bytes) : rest_(bytes) {}

  bool empty() const { return rest_.empty(); }
  template <TravelsAsBytes Value>
  void take(std::span<Value> values) {
    std::memcpy(values.data(), rest_.data(), values.size_bytes());
    rest_ = rest_.subspan(values.size_bytes());
  }
  template <TravelsAsBytes Value>
  Value take() {
    Value value;
    take(std::span(&value, 1));
    return value;
  }

 private:
  std::span<const std::byte> rest_;
};

/// The rows of all ranks on rank 0, in the order of ranks; no row on the others. Ranks form a binomial tree in which
/// each keeps the rows that matter most of those below it, so that none receives from more than log2 N others,
/// `most_nodes_one_by_one + 1` rows of each. `Codec` has `pack(row, bytes)` and `unpack(bytes)`. Collective. Throws
/// StallError.
template <typename Codec, typename Row>
NodeRows<Row> gather_node_rows(NodeRows<Row> mine, MPI_Comm communicator, const WaitOptions& waiting) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &ranks);
  for (int step = 1; step < ranks; step *= 2) {
    if ((rank & step) != 0) {
      PackedBytes packed;
      mine.for_each([&](const Row& row, double weight) { packed.add(weight), Codec::pack(row, packed); });
      send_sized(packed.all(), rank - step, node_rows_tag, communicator, waiting);
      return NodeRows<Row>();
    }
    if (rank + step >= ranks) continue;
    std::vector<std::byte> received;
    receive_sized(received, rank + step, node_rows_tag, communicator, waiting);
    for (UnpackedBytes rest(received); !rest.empty();) {
      const auto weight = rest.take<double>();
      mine.add(Codec::unpack(rest), weight);
    }
  }
  return mine;
}

}  // namespace strider
