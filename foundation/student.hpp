#pragma once
#include <array>
#include <cstddef>

namespace strider {

/// Student's t for 97.5 %, by degrees of freedom (1 or more); above the table the normal value with its first
/// correction terms.
inline double t_975(std::size_t freedom) {
  constexpr std::array table{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                             2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086};
  if (freedom <= table.size()) return table[freedom - 1];
  return 1.95996 + 2.3722 / static_cast<double>(freedom) + 2.8225 / static_cast<double>(freedom * freedom);
}

}  // namespace strider
