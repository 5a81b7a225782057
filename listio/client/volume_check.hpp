#pragma once
#include <string>
#include <vector>

#include "listio/client/client.hpp"
#include "listio/client/copies.hpp"
#include "listio/client/driver.hpp"

namespace strider::listio {

/// What is wrong with a data file, as far as its length and the header of its checksums tell; empty if nothing is.
std::string problem_of(const DataPage::DataFile& file);

/// Compares the names of the volume, the copies of their entries and the data files of all servers that are not out.
/// Clients may use the volume: what they create, rename or remove meanwhile is neither a problem nor orphaned. IoError.
CheckReport check_volume(Driver& driver, Copies& copies);

/// Repairs what can be repaired of a report, and returns what was done, or why not, a line each. IoError if a server
/// does not answer.
std::vector<std::string> repair_names(Driver& driver, const CheckReport& report);

}  // namespace strider::listio
