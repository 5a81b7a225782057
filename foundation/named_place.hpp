#pragma once
#include <string>

#include "foundation/parameter.hpp"

namespace strider {

/// Checks the form of a value that names a place: a file, a host and so on. A file that is there has to be a regular
/// one of a bearable size, so that opening it neither blocks nor ends never. Whether a suite may name this place is
/// not asked here: on the command line the user may name any.
/// Throws InputError, which names the parameter.
void check_place(const Parameter& parameter, const std::string& value);

/// Checks a name and a value of a table of hints.
void check_hint(const Parameter& parameter, const std::string& name, const std::string& value);

}  // namespace strider
