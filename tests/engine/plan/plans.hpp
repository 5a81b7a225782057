#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace strider {

/// A plan of the cases given as JSON objects without their outer braces.
inline std::string plan_text(const std::vector<std::string>& cases, const std::string& header = "") {
  std::string text = R"({"format": "strider-plan", "version": 1, )" + header + R"("cases": [)";
  for (std::size_t i = 0; i < cases.size(); ++i) text += (i > 0 ? ", {" : "{") + cases[i] + "}";
  return text + "]}";
}

/// The least a case needs, and room for more.
inline std::string case_text(const std::string& more = "",
                             const std::string& pattern = R"("name": "segmented", "transfer": 4096, "block": 65536)",
                             const std::string& interface = R"("name": "posix")") {
  return R"("interface": {)" + interface + R"(}, "pattern": {)" + pattern + "}" + (more.empty() ? "" : ", " + more);
}

/// The same for a case of metadata.
inline std::string tree_text(const std::string& more = "", const std::string& tree = R"("items": 10)",
                             const std::string& interface = R"("name": "posix")") {
  return R"("interface": {)" + interface + R"(}, "tree": {"name": "balanced", )" + tree + "}" +
         (more.empty() ? "" : ", " + more);
}

/// The plan, which must be without errors.
inline Plan good_plan(const std::vector<std::string>& cases, const std::string& header = "") {
  std::vector<PlanError> errors;
  Plan plan = read_plan(plan_text(cases, header), errors);
  for (const PlanError& error : errors) ADD_FAILURE() << error.key << ": " << error.message;
  return plan;
}
inline Case good_case(const std::string& text) {
  const Plan plan = good_plan({text});
  return plan.cases.empty() ? Case{} : plan.cases[0];
}

inline std::vector<PlanError> errors_of(const std::vector<std::string>& cases, const std::string& header = "") {
  std::vector<PlanError> errors;
  read_plan(plan_text(cases, header), errors);
  return errors;
}
/// The key at fault in a case with one mistake; empty and a failure where there is none.
inline std::string key_at_fault(const std::string& case_json) {
  const std::vector<PlanError> errors = errors_of({case_json});
  EXPECT_EQ(errors.size(), 1U) << case_json;
  if (errors.empty()) return "";
  EXPECT_EQ(errors[0].case_number, 1U) << case_json;
  EXPECT_NE(errors[0].message, "") << case_json;
  return errors[0].key;
}

}  // namespace strider
