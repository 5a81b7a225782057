#pragma once
#include <cstdint>
#include <string>

namespace strider {

/// Memory that the programs of this job could still get: the least of the machine and of its control groups (versions
/// 1 and 2) with their parents, at least 1; 0 if unknown. /proc and /sys are below `root`.
std::uint64_t available_memory_bytes(const std::string& root = "");

/// Processors that this job may use at a time, at least 1: the least of `allowed`, which is the number in the affinity
/// of a process, and of the quotas of its control groups with their parents.
std::uint32_t usable_processors(std::uint32_t allowed, const std::string& root = "");

}  // namespace strider
