#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "interfaces/interface.hpp"

namespace strider {

/// An interface of an optional library: a module that is built where the library's headers are, and loaded when it is
/// needed, so that neither the build nor a run depends on a library that no case uses.
struct Module {
  std::string_view name;
  std::string_view doc;
  std::string_view needs;  ///< what the build looks for, and the package that has it
  bool built;
};

/// Version of the engine and its modules, as the build has it.
const char* engine_version();

/// All modules, in the order of the build list.
std::span<const Module> all_modules();
const Module* find_module(std::string_view name);

/// What became of a module: its interface, or why there is none.
struct LoadedModule {
  const InterfaceEntry* entry = nullptr;
  std::string problem;
};
/// Loads a module; again and again is cheap.
LoadedModule load_module(const Module& module);

}  // namespace strider
