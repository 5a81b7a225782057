#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>

#include "foundation/checked.hpp"
#include "foundation/extent.hpp"
#include "foundation/parameter.hpp"

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
  /// Bytes that a rank moves with the largest request of any rank; somewhat more where shares are uneven.
  virtual std::uint64_t request_bytes(std::uint32_t ranks) const = 0;
  virtual std::uint64_t file_size(std::uint32_t ranks) const = 0;
  /// The largest power of two that divides all offsets and lengths, for direct I/O.
  virtual std::uint64_t alignment(std::uint32_t ranks) const = 0;

  /// No byte is touched by two requests of a writing operation. May be false where that is hard to compute.
  virtual bool disjoint(std::uint32_t /*ranks*/) const { return true; }

  /// Whether each request is one extent; then `fill` is called, otherwise `fill_request`.
  virtual bool contiguous() const { return true; }
  /// The extent of each of the given requests, in any order: `out[i]` belongs to `requests[i]`.
  virtual void fill(Place place, std::span<const std::uint64_t> requests, std::span<Extent> out) const = 0;

  /// Extents of a request, and of the request of that rank that has most.
  virtual std::uint64_t extents(Place, std::uint64_t /*request*/) const { return 1; }
  virtual std::uint64_t most_extents(Place) const { return 1; }
  /// All extents of one request, in increasing file offset; `out` has room for `extents(place, request)`. How many.
  virtual std::size_t fill_request(Place place, std::uint64_t request, std::span<Extent> out) const {
    fill(place, {&request, 1}, out.first(1));
    return 1;
  }
  /// Bytes of memory that the extents of the rank's requests reach over: its buffer, with gaps and halo.
  virtual std::uint64_t memory_bytes(Place place) const { return request_bytes(place.ranks); }
  /// Where request k is request 0 moved by k times this many bytes in the file (its memory may differ) and begins
  /// behind the end of request k - 1: that many bytes; 0 where requests are not so regular. Lets MPI-IO describe all
  /// requests by one file view.
  virtual std::uint64_t file_shift(Place) const { return 0; }

  /// Throws InputError where the parameters do not fit `ranks` ranks.
  virtual void check(std::uint32_t /*ranks*/) const {}
};

/// A pattern whose requests have several extents: `extents`, `most_extents` and `fill_request` say which.
class ListPattern : public Pattern {
 public:
  bool contiguous() const final { return false; }
  void fill(Place, std::span<const std::uint64_t>, std::span<Extent>) const final {
    throw std::logic_error("the requests of this pattern have several extents");
  }
  std::uint64_t extents(Place place, std::uint64_t request) const override = 0;
  std::uint64_t most_extents(Place place) const override = 0;
  std::size_t fill_request(Place place, std::uint64_t request, std::span<Extent> out) const override = 0;
  std::uint64_t memory_bytes(Place place) const override = 0;
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
  std::string_view tiles_unless = {};  ///< "a|b": parameters that, when given, may end what `tiles` says
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

/// `extents` of one request, or InputError blaming `key` where their list would fill the memory.
std::uint64_t checked_extents(std::uint64_t extents, std::string_view key);

/// The parameter most patterns begin with.
inline constexpr Parameter transfer_parameter{
    "transfer", Kind::bytes, "1048576", "Bytes moved by one I/O request of one rank (message size, buffer size).", 1};

}  // namespace strider
