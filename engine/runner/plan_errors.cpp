#include "runner/plan_errors.hpp"

#include <algorithm>
#include <span>

namespace strider {
namespace {

constexpr std::size_t most_errors = 100;
constexpr char between_fields = '\x1f', after_error = '\x1e';  // a plan's texts have none of them

std::string taken(std::string& text, char end) {
  const std::size_t length = std::min(text.find(end), text.size());
  std::string part = text.substr(0, length);
  text.erase(0, std::min(length + 1, text.size()));
  return part;
}

}  // namespace

std::string packed(const std::vector<PlanError>& errors) {
  std::string text;
  for (const PlanError& error : std::span(errors).first(std::min(errors.size(), most_errors)))
    text += std::to_string(error.case_number) + between_fields + error.message + between_fields + error.remedy +
            after_error;
  return text;
}

std::vector<PlanError> unpacked(std::string text) {
  std::vector<PlanError> errors;
  while (!text.empty()) {
    std::string error = taken(text, after_error);
    PlanError one;
    one.case_number = std::stoull("0" + taken(error, between_fields));
    one.message = taken(error, between_fields);
    one.remedy = error;
    errors.push_back(std::move(one));
  }
  return errors;
}

}  // namespace strider
