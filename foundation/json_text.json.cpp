#include "foundation/json_text.hpp"

#include <nlohmann/json.hpp>

namespace strider {

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace strider
