#pragma once
#include <string>

namespace strider {

/// The fields of all events about phases as JSON: which record each event holds, and of each record its fields with
/// type, meaning, reduction over ranks and the value to take where a run lacks them (docs/formats.md, section 1).
std::string results_schema();

}  // namespace strider
