#pragma once
#include <string>
#include <vector>

namespace strider::listio {

/// Whether data files that belong to no file are removed.
enum class Orphans { kept, removed };

// Each does what a verb of the program says and returns JSON text; InputError and IoError where that cannot be.

/// Each server's state: what it has done, or why it cannot be reached.
std::string status_text(const std::string& volume_file);
/// What comparing the names with the data files has found.
std::string check_text(const std::string& volume_file, Orphans orphans);
/// The fit of T = a·p + b for some domains, with what was measured; why a domain cannot be used here.
std::string registration_text(const std::vector<std::string>& domains);

}  // namespace strider::listio
