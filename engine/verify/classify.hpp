#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "verify/cause.hpp"
#include "verify/data.hpp"

namespace strider {

/// Finds from wrong data what has happened to it. Slow beside a comparison, but bounded: a wrong gigabyte takes well
/// under a second.
class Classifier {
 public:
  static constexpr std::size_t most_causes = 8;
  /// Data that belongs at most so far away is shifted, not misplaced: no block of storage is smaller.
  static constexpr std::uint64_t shift_limit = 512;

  struct Known {
    FileData::Identity expected;
    std::uint64_t files = 0;      ///< of the case
    std::uint64_t file_size = 0;  ///< of each of them
  };
  explicit Classifier(const Known& known);

  struct Diagnosis {
    std::uint64_t wrong_bytes = 0;
    std::vector<Damage> causes;  ///< by offset; their bytes add up to the wrong ones
    bool sampled = false;        ///< the bytes of each cause are estimates from samples
  };
  /// `found`: what was read at a file offset, as a whole. Changes nothing but what is kept to be faster next time.
  Diagnosis classify(std::span<const std::byte> found, std::uint64_t file_offset);

 private:
  class Examination;

  /// A key of data that this case has written earlier.
  struct Older {
    std::uint64_t key;
    std::int64_t age;  ///< as in Damage::value
  };
  void add_passes(std::uint64_t most, std::vector<Older>& to) const;
  const std::vector<Older>& older();
  std::optional<std::int64_t> age_of_key(std::uint64_t key);
  std::vector<Older> recent() const;
  int bits_of_a_place() const;
  std::int64_t age_of(std::uint64_t generation) const;

  Known known_;
  FileData expected_;
  std::vector<Older> older_;
  std::unordered_map<std::uint64_t, std::int64_t> age_of_key_;
  std::vector<std::uint64_t> other_files_;
};

}  // namespace strider
