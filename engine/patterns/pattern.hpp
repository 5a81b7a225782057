#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "core/extent.hpp"
#include "core/parameter.hpp"

namespace strider {

/// WHERE: which bytes of a file each rank touches. Pure functions of the request's number: no I/O, no MPI, no state.
/// Definitions: docs/patterns/.
class Pattern {
 public:
  virtual ~Pattern() = default;

  /// Requests of the rank at `place`; writers and readers may differ (one writer, many readers).
  virtual std::uint64_t requests(Place place, Direction direction) const = 0;
  /// Bytes that the rank at `place` moves with all its requests.
  virtual std::uint64_t bytes(Place place, Direction direction) const = 0;
  /// Bytes that the rank moves with its largest request: the size of its buffer.
  virtual std::uint64_t request_bytes() const = 0;
  virtual std::uint64_t file_size(std::uint32_t ranks) const = 0;
  /// The largest power of two that divides all offsets and lengths, for direct I/O.
  virtual std::uint64_t alignment(std::uint32_t ranks) const = 0;

  /// No byte is touched by two requests of a writing operation.
  virtual bool disjoint() const { return true; }

  /// The extent of each of the given requests, in any order: `out[i]` belongs to `requests[i]`.
  virtual void fill(Place place, std::span<const std::uint64_t> requests, std::span<Extent> out) const = 0;

  /// Throws InputError where the parameters do not fit `ranks` ranks.
  virtual void check(std::uint32_t /*ranks*/) const {}
};

/// A pattern's description of itself.
struct PatternEntry {
  std::string_view name;
  std::string_view doc;
  std::string_view formula;
  std::string_view source;
  bool tiles;  ///< all ranks together touch each byte of the file exactly once
  std::span<const Parameter> parameters;
  /// `settings` holds the parameters and the case's `seed`. Throws InputError.
  std::unique_ptr<Pattern> (*make)(const Settings& settings);
};

template <typename P>
std::unique_ptr<Pattern> make_pattern(const Settings& settings) {
  return std::make_unique<P>(settings);
}

/// All patterns, in the order of the build list.
std::span<const PatternEntry* const> all_patterns();
/// Null where there is none of that name.
const PatternEntry* find_pattern(std::string_view name);

/// The largest power of two that divides every one of `numbers` (zeros ignored).
std::uint64_t common_alignment(std::initializer_list<std::uint64_t> numbers);

/// `a * b`, or InputError blaming `key` where it does not fit 63 bits (file offsets are signed).
std::uint64_t checked_product(std::uint64_t a, std::uint64_t b, std::string_view key);

/// The parameter most patterns begin with.
inline constexpr Parameter transfer_parameter{
    "transfer", Kind::bytes, "1048576", "Bytes moved by one I/O request of one rank (message size, buffer size).", 1};

}  // namespace strider
