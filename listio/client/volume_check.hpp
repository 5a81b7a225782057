#pragma once
#include <string>
#include <vector>

#include "listio/client/client.hpp"
#include "listio/client/copies.hpp"
#include "listio/client/driver.hpp"

namespace strider::listio {

/// The damage of a data file, as far as its length and the header of its checksums show it; empty if there is none.
std::string problem_of(const DataPage::DataFile& file);

/// Compares the names of the volume, the copies of their entries and the data files of all servers that are not out.
/// Clients may use the volume: files that they create, rename or remove meanwhile are neither problems nor orphaned.
/// IoError.
CheckReport check_volume(Driver& driver, Copies& copies);

/// Repairs the problems of a report, and returns the repairs, or why there was none, a line each. IoError if a server
/// does not answer.
std::vector<std::string> repair_names(Driver& driver, const CheckReport& report);

}  // namespace strider::listio
