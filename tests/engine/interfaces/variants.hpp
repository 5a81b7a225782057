#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "interfaces/interface.hpp"

namespace strider {

/// An interface with certain parameter values.
struct Variant {
  const InterfaceEntry* entry;
  std::string name;
  Settings settings;
};
inline void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }

/// Bytes: a multiple of what any interface asks for.
constexpr std::uint64_t block = 4096;

inline std::string name_of_test(const testing::TestParamInfo<Variant>& test) { return test.param.name; }

/// Each parameter of an interface as it is if not said otherwise.
Settings defaults_of(const InterfaceEntry& entry);
/// An interface with its defaults, and with each flag and choice in turn.
std::vector<Variant> variants_of(const InterfaceEntry& entry);
/// Every interface that stores bytes, of the program, of a module, and the template: with its defaults, with each flag
/// and choice of its own, and with each flag beside direct I/O.
std::vector<Variant> all_variants();
/// Those that keep several requests in flight.
std::vector<Variant> queued_variants();

/// Whether the file system of `path` does what the variant asks for: direct I/O, fallocate, polling are not for all.
bool can_store(Interface& interface, const std::string& path);

}  // namespace strider
