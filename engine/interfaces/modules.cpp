#include "interfaces/modules.hpp"

#include <dlfcn.h>
#include <signal.h>

#include <array>
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
  return text != nullptr ? text : "the module cannot be loaded";
}

/// Loads a library. Some take over signals then, to clean up (libfabric's `shm`): they stay the program's.
void* load(const std::string& path) {
  constexpr std::array signals{SIGHUP, SIGINT, SIGTERM, SIGBUS, SIGSEGV};
  std::array<struct sigaction, signals.size()> before{};
  for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], nullptr, &before[i]);
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &before[i], nullptr);
  return library;
}

}  // namespace

const Module* find_module(std::string_view name) {
  for (const Module& module : all_modules())
    if (module.name == name) return &module;
  return nullptr;
}

LoadedModule load_module(const Module& module) {
  if (!module.built) return {nullptr, "not built: this needs " + std::string(module.needs)};
  void* library = load(path_of(module));
  if (library == nullptr) return {nullptr, last_problem()};
  using Version = const char*();
  using Entry = const InterfaceEntry*();
  auto* version = reinterpret_cast<Version*>(::dlsym(library, "strider_module_version"));
  auto* entry = reinterpret_cast<Entry*>(::dlsym(library, "strider_module_entry"));
  if (version == nullptr || entry == nullptr) return {nullptr, last_problem()};
  if (std::string_view(version()) != engine_version())
    return {nullptr, "the module has version " + std::string(version()) + ", the engine " + engine_version()};
  std::string problem = entry()->problem != nullptr ? entry()->problem() : "";
  return {problem.empty() ? entry() : nullptr, problem};
}

}  // namespace strider
