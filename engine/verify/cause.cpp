#include "verify/cause.hpp"

namespace strider {
namespace {

std::string count(std::int64_t number, const std::string& one, const std::string& several) {
  return std::to_string(number) + " " + (number == 1 ? one : several);
}

std::string age(std::int64_t value) {
  return value < 0 ? count(-value, "repetition", "repetitions") + " old" : count(value, "write", "writes") + " old";
}

}  // namespace

std::string_view name_of(Cause cause) {
  switch (cause) {
    case Cause::missing_end: return "missing end";
    case Cause::outside: return "outside";
    case Cause::hole: return "hole";
    case Cause::unread: return "unread";
    case Cause::zero: return "zero";
    case Cause::stale: return "stale";
    case Cause::torn: return "torn";
    case Cause::misplaced: return "misplaced";
    case Cause::shifted: return "shifted";
    case Cause::byte_order: return "byte order";
    case Cause::flipped: return "flipped";
    case Cause::foreign: break;
  }
  return "foreign";
}

std::string text_of(const Damage& damage) {
  const std::int64_t value = damage.value;
  switch (damage.cause) {
    case Cause::missing_end: return "missing end of the file";
    case Cause::outside: return "data outside the extents";
    case Cause::hole: return "a hole";
    case Cause::unread: return "memory that the read left unchanged";
    case Cause::zero: return "zeros";
    case Cause::stale: return "stale data (" + age(value) + ")";
    case Cause::torn: return "torn data (a part is " + age(value) + ")";
    case Cause::misplaced: return "misplaced data (belongs to offset " + std::to_string(value) + ")";
    case Cause::shifted:
      return "data shifted by " + std::string(value > 0 ? "+" : "") + std::to_string(value) +
             (value == 1 || value == -1 ? " byte" : " bytes");
    case Cause::byte_order: return "byte-swapped data (words of " + std::to_string(value) + " bytes)";
    case Cause::flipped: return count(value, "flipped bit", "flipped bits");
    case Cause::foreign: break;
  }
  return value == 1 ? "foreign data (of another run or case)" : "foreign data";
}

bool has_value(Cause cause) {
  switch (cause) {
    case Cause::missing_end:
    case Cause::outside:
    case Cause::hole:
    case Cause::unread:
    case Cause::zero: return false;
    default: return true;
  }
}

}  // namespace strider
