#include <nlohmann/json.hpp>

#include "core/json_text.hpp"

namespace strider {

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace strider
