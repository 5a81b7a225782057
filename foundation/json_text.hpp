#pragma once
#include <string>
#include <string_view>

namespace strider {

/// `text` as a JSON string with its quotes. Bytes that are no UTF-8 become U+FFFD, so that the line stays valid.
std::string json_text(std::string_view text);

}  // namespace strider
