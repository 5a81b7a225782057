#include "interfaces/modules.hpp"

#include <dlfcn.h>

#include <filesystem>

namespace strider {
namespace {

/// Modules lie beside the program, in a folder of their own.
std::filesystem::path path_of(const Module& module) {
  std::error_code ignored;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  return program.parent_path() / "modules" / ("strider-" + std::string(module.name) + ".so");
}

std::string last_problem() {
  const char* text = ::dlerror();
  return text != nullptr ? text : "it cannot be loaded";
}

}  // namespace

const Module* find_module(std::string_view name) {
  for (const Module& module : all_modules())
    if (module.name == name) return &module;
  return nullptr;
}

LoadedModule load_module(const Module& module) {
  if (!module.built) return {nullptr, "not built: this needs " + std::string(module.needs)};
  void* library = ::dlopen(path_of(module).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {nullptr, last_problem()};
  using Version = const char*();
  using Entry = const InterfaceEntry*();
  auto* version = reinterpret_cast<Version*>(::dlsym(library, "strider_module_version"));
  auto* entry = reinterpret_cast<Entry*>(::dlsym(library, "strider_module_entry"));
  if (version == nullptr || entry == nullptr) return {nullptr, last_problem()};
  if (std::string_view(version()) != STRIDER_VERSION)
    return {nullptr, "the module is of version " + std::string(version()) + ", the engine of " + STRIDER_VERSION};
  std::string problem = entry()->problem != nullptr ? entry()->problem() : "";
  return {problem.empty() ? entry() : nullptr, problem};
}

}  // namespace strider
