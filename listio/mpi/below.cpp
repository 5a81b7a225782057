#include "listio/mpi/below.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace strider::listio::mpi {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& remedy) {
  std::fprintf(stderr, "strider-mpiio: %s\n  %s\n", what.c_str(), remedy.c_str());
  std::_Exit(EXIT_FAILURE);
}

/// A loaded object that has PMPI_Init itself.
struct Library {
  std::string path;
  void* handle = nullptr;
};

int note_path(dl_phdr_info* object, std::size_t, void* paths) {
  const std::string_view path = object->dlpi_name;
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  // libmpi.so.12, libmpich.so.12, libmpi_gnu_91.so.12, libmpi.so.40; also parts such as libmpifort.so.12.
  if (name.starts_with("libmpi")) static_cast<std::vector<std::string>*>(paths)->emplace_back(path);
  return 0;
}

/// By a list of all loaded objects, since one that was loaded with RTLD_LOCAL, as Python's modules are, is in no scope
/// of this library.
std::vector<Library> loaded_libraries() {
  std::vector<std::string> paths;
  dl_iterate_phdr(note_path, &paths);
  std::vector<Library> found;
  for (const std::string& path : paths) {
    void* handle = dlopen(path.c_str(), RTLD_NOLOAD | RTLD_LAZY);
    if (handle == nullptr) continue;
    // A part of MPI finds the symbol in the library that it depends on.
    void* init = dlsym(handle, "PMPI_Init");
    Dl_info home{};
    if (init != nullptr && dladdr(init, &home) != 0 && path == home.dli_fname) found.push_back({path, handle});
    else dlclose(handle);
  }
  return found;
}

void require_family(const Library& library) {
  const bool is_openmpi = dlsym(library.handle, "ompi_mpi_comm_world") != nullptr;
#ifdef OPEN_MPI
  if (!is_openmpi)
    refuse("the program runs on " + library.path + ", and this build is for Open MPI",
           "preload libstrider-mpiio.so instead of libstrider-mpiio-openmpi.so");
#else
  if (is_openmpi)
    refuse("the program runs on " + library.path + ", and this build is for MPICH and its family",
           "preload libstrider-mpiio-openmpi.so instead of libstrider-mpiio.so");
#endif
}

Library find_library() {
  const std::vector<Library> found = loaded_libraries();
  if (found.empty())
    refuse("no MPI library is loaded", "link the program with MPI's shared library: a static one cannot be extended");
  if (found.size() > 1)
    refuse("two MPI libraries are loaded: " + found[0].path + " and " + found[1].path,
           "link the program, and each library that it uses, with the same MPI");
  require_family(found[0]);
  return found[0];
}

const Library& only_library() {
  static const Library library = find_library();
  return library;
}

/// Functions by name, from one MPI library.
class Finder {
 public:
  explicit Finder(Library library) : library_(std::move(library)) {}

  template <class Function>
  void optional(Function& function, const char* name) const {
    function = reinterpret_cast<Function>(dlsym(library_.handle, name));
  }
  template <class Function>
  void required(Function& function, const char* name) const {
    optional(function, name);
    if (function == nullptr) lacks(name);
  }
  /// The next tool in the chain of preloaded libraries, or MPI itself.
  template <class Function>
  void optional_file(Function& function, const char* name) const {
    function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
    if (function == nullptr) optional(function, name);
  }
  template <class Function>
  void required_file(Function& function, const char* name) const {
    optional_file(function, name);
    if (function == nullptr) lacks(name);
  }

 private:
  [[noreturn]] void lacks(const char* name) const {
    refuse(library_.path + " has no " + name, "use an MPI of version 3.1 or newer");
  }

  Library library_;
};

Below resolve() {
  const Finder find(only_library());
  Below all;
#define STRIDER_MPI_FILE(name) find.required_file(all.name, "MPI_" #name);
#define STRIDER_MPI_FILE_OPTIONAL(name) find.optional_file(all.name, "MPI_" #name);
#define STRIDER_MPI_OTHER(name) find.required(all.name, "PMPI_" #name);
#define STRIDER_MPI_OTHER_OPTIONAL(name) find.optional(all.name, "PMPI_" #name);
  STRIDER_MPI_BELOW_FILE(STRIDER_MPI_FILE)
  STRIDER_MPI_BELOW_FILE_OPTIONAL(STRIDER_MPI_FILE_OPTIONAL)
  STRIDER_MPI_BELOW_OTHER(STRIDER_MPI_OTHER)
  STRIDER_MPI_BELOW_OTHER_OPTIONAL(STRIDER_MPI_OTHER_OPTIONAL)
#ifdef MPICH_NUMVERSION
  find.optional(all.Grequest_start_polled, "PMPIX_Grequest_start");
#endif
  return all;
}

}  // namespace

void* address_below(const char* name) {
  const Library& library = only_library();
  // A program has copies of variables of its libraries, and the libraries use them: the linker's copy relocations.
  void* found = dlsym(RTLD_DEFAULT, name);
  if (found == nullptr) found = dlsym(library.handle, name);
  if (found == nullptr) refuse(library.path + " has no " + name, "use an Open MPI of version 4 or 5");
  return found;
}

const Below& below() {
  static const Below all = resolve();
  return all;
}

}  // namespace strider::listio::mpi
