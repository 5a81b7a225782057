#pragma once
#include <nlohmann/json_fwd.hpp>

#include "plan/data_set.hpp"

namespace strider {

/// Reads what a plan says of a case's data set: its `manifest`. Throws InputError.
void read_manifest(const nlohmann::json& json, DataSet& set);

/// Hash of a JSON value: the same for the same content.
std::uint64_t hash_of(const nlohmann::json& json);

/// What fixes which bytes of its files a case writes, and in which order; of metadata, which items its ranks have.
std::uint64_t geometry_of(const nlohmann::json& json);
/// Case::order_hash of a case of metadata.
std::uint64_t order_hash_of(const nlohmann::json& json);

}  // namespace strider
