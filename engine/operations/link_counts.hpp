#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace strider {

/// The numbers of links that a rank finds in a phase. A system that does not count them says 0 for every file. Where it
/// counts those of one file, a 0 is wrong like any other number.
class LinkCounts {
 public:
  /// A file that is found under a name has one link at least.
  static constexpr std::uint64_t not_counted = 0;

  /// A file with another number of links than expected.
  struct Wrong {
    std::string file;
    std::uint64_t found = 0, expected = 0;
  };

  /// Looks at the next file; calls `report` with what that shows to be wrong, be it in this file or in an earlier one.
  template <typename Report>
  void look(const char* file, std::uint64_t found, std::uint64_t expected, const Report& report) {
    const bool counted = found != not_counted;
    if (!counted && !counts_) {
      if (!first_without_) first_without_ = Wrong{file, found, expected};
      return;
    }
    counts_ = true;
    if (first_without_) report(*first_without_);
    first_without_.reset();
    if (found != expected) report(Wrong{file, found, expected});
  }

 private:
  bool counts_ = false;
  std::optional<Wrong> first_without_;
};

}  // namespace strider
