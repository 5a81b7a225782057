#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/extent.hpp"
#include "verify/data.hpp"

namespace strider {

/// What wrong data looks like.
enum class Blame {
  zero,       ///< zeros: never written, or lost
  stale,      ///< an older generation of the same place
  torn,       ///< a request of which a part is right and a part is an older generation
  misplaced,  ///< right data of another place or file
  foreign,    ///< nothing that Strider wrote
};
std::string_view name_of(Blame blame);

struct Mismatch {
  static constexpr std::size_t shown_bytes = 16;
  std::uint64_t file_offset = 0;  ///< of the first wrong byte
  std::uint64_t wrong_bytes = 0;  ///< in the request
  std::array<std::byte, shown_bytes> expected{};
  std::array<std::byte, shown_bytes> found{};
  std::uint32_t shown = 0;  ///< bytes of the two that are meant
  Blame blame = Blame::foreign;
  std::uint64_t origin_offset = 0;  ///< Blame::misplaced: where the data belongs
};

/// Compares what was read with what must be there, and digests it.
class Examiner {
 public:
  static constexpr std::size_t kept = 4;  ///< mismatches described in full; the rest are counted

  Examiner(const FileData::Identity& identity, std::uint64_t files, std::uint64_t file_size)
      : identity_(identity), expected_(identity), files_(files), file_size_(file_size) {}
  void examine(std::span<const std::byte> memory, const Extent& extent);

  std::uint64_t checked_bytes() const { return checked_bytes_; }
  std::uint64_t wrong_bytes() const { return wrong_bytes_; }
  std::uint64_t mismatches() const { return mismatches_; }
  std::uint64_t digest() const { return digest_; }
  const std::vector<Mismatch>& first_mismatches() const { return first_; }

 private:
  void report(std::span<const std::byte> memory, std::uint64_t file_offset, std::uint64_t position);
  void assign_blame(std::span<const std::byte> memory, std::uint64_t file_offset, std::uint64_t position,
                    Mismatch& mismatch) const;
  std::optional<std::uint64_t> telling_word(std::span<const std::byte> memory, std::uint64_t file_offset,
                                            std::uint64_t position) const;
  bool has_right_word(std::span<const std::byte> memory, std::uint64_t file_offset) const;

  FileData::Identity identity_;
  FileData expected_;
  std::uint64_t files_;
  std::uint64_t file_size_;
  std::uint64_t checked_bytes_ = 0;
  std::uint64_t wrong_bytes_ = 0;
  std::uint64_t mismatches_ = 0;
  std::uint64_t digest_ = 0;
  std::vector<Mismatch> first_;
};

}  // namespace strider
