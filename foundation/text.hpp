#pragma once
#include <string>
#include <string_view>

namespace strider {

/// The first character that no text of a plan may have, such as "U+0000"; empty if there is none. These are control
/// characters, what turns the direction of writing, and separators of lines and paragraphs: in a path they end or
/// hide what is meant, in a message they change what a reader sees. Bytes that are no UTF-8 count too.
std::string forbidden_character(std::string_view text);

/// A text of a user for a message, in quotes and with at most 80 bytes.
std::string in_quotes(std::string_view text);

}  // namespace strider
