#pragma once
#include <cstdint>

namespace strider::listio {

/// The first number of every message. Those of requests are 16 plus their place in `Request`.
enum class MessageKind : std::uint32_t {
  hello = 1,
  proof = 2,
  challenge = 3,
  welcome = 4,
  refusal = 5,
  reply = 6,
  request_buffers = 7,
  grant = 8,
  release = 9,
  first_request = 16,
};

/// After the number of each request: which data file it is for, and whether the numbers of a view and of a fill
/// follow.
inline constexpr std::uint32_t flag_second = 1, flag_alone = 2, flag_view = 4, flag_fill = 8;

}  // namespace strider::listio
