#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "listio/client/client.hpp"

namespace strider::listio {

/// The run that a name in the root of a volume belongs to: "strider-RUN" of "strider-RUN.caseN.M", which is what the
/// engine calls files and trees there (engine/interfaces/listio/session.hpp); empty for any other name.
std::string_view run_of(std::string_view name);

/// The runs that have files or trees in a volume, and how many names in its root. A run removes its own; one
/// that was killed could not. IoError.
std::map<std::string, std::uint64_t> find_runs(Client& client);

/// Removes the files of a run, as `find_runs` names it, from a volume, with all below; returns how many files and
/// directories that were. IoError; InputError if the run has none there.
std::uint64_t remove_run(Client& client, const std::string& run);

}  // namespace strider::listio
