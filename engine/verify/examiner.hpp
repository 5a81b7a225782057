#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "foundation/extent.hpp"
#include "verify/cause.hpp"
#include "verify/classify.hpp"
#include "verify/data.hpp"

namespace strider {

/// Wrong data in a contiguous piece of a request.
struct Mismatch {
  static constexpr std::size_t shown_bytes = 16;
  std::uint64_t file_offset = 0;  ///< of the first wrong byte
  std::uint64_t wrong_bytes = 0;
  std::array<std::byte, shown_bytes> expected{};
  std::array<std::byte, shown_bytes> found{};
  std::uint32_t shown = 0;     ///< bytes of the two that are meant
  std::vector<Damage> causes;  ///< by offset, one at least
  bool sampled = false;        ///< the bytes of each cause are estimates from samples
  Cause main_cause() const;    ///< that of most bytes
};

/// Compares what was read with what must be there, and digests it.
///
/// Memory is spoilt before anything is read into it, by `spoil` at first and then by `examine`. `prepare` makes the
/// ends of an extent certainly wrong, as a read that transfers less than it says leaves one of them as it was: so such
/// a read is always found, and one that leaves out n bytes within is missed with a probability of 256^-n.
class Examiner {
 public:
  static constexpr std::size_t kept = 4;  ///< mismatches described in full; the rest are counted

  Examiner(const FileData::Identity& identity, std::uint64_t files, std::uint64_t file_size,
           FileData::Sum sum = FileData::Sum::digested)
      : known_{identity, files, file_size}, expected_(identity), sum_(sum) {}
  /// From now on, data of this generation or pass must be there.
  void expect_generation(std::uint64_t generation) { expect(generation, known_.expected.pass); }
  void expect_pass(std::uint64_t pass) { expect(known_.expected.generation, pass); }
  void prepare(std::span<std::byte> memory, const Extent& extent) const;
  void examine(std::span<std::byte> memory, const Extent& extent, FileData::Then then = FileData::Then::spoil);

  std::uint64_t checked_bytes() const { return checked_bytes_; }
  std::uint64_t wrong_bytes() const { return wrong_bytes_; }
  std::uint64_t mismatches() const { return mismatches_; }
  std::uint64_t digest() const { return digest_; }
  const std::vector<Mismatch>& first_mismatches() const { return first_; }

 private:
  void expect(std::uint64_t generation, std::uint64_t pass);
  void report(std::span<const std::byte> memory, std::uint64_t file_offset, std::uint64_t position);

  Classifier::Known known_;
  FileData expected_;
  FileData::Sum sum_;
  std::optional<Classifier> classifier_;  ///< from the first mismatch on
  std::uint64_t checked_bytes_ = 0;
  std::uint64_t wrong_bytes_ = 0;
  std::uint64_t mismatches_ = 0;
  std::uint64_t digest_ = 0;
  std::vector<Mismatch> first_;
};

}  // namespace strider
