// The functions of libfabric that this folder calls, loaded at first use. Nothing is linked with libfabric: it brings
// libraries of networks, one of which sleeps for 0.17 s at the start of every process (libinfinipath), and a program
// into which the MPI-IO layer is preloaded may have a newer one of the same name.
#include <dlfcn.h>
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include <cstdint>

namespace {

/// The one that the process has already, or that the loader finds, or that was there when this was built.
void* load() {
  void* const library = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
  return library != nullptr ? library : dlopen(STRIDER_OFI_LIBRARY, RTLD_NOW | RTLD_LOCAL);
}

template <class Function>
Function find(const char* name) {
  static void* const library = load();
  return library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

extern "C" {

int fi_getinfo(std::uint32_t version, const char* node, const char* service, std::uint64_t flags, const fi_info* hints,
               fi_info** info) {
  const auto function = find<decltype(&fi_getinfo)>("fi_getinfo");
  return function == nullptr ? -FI_ENOSYS : function(version, node, service, flags, hints, info);
}

void fi_freeinfo(fi_info* info) {
  if (const auto function = find<decltype(&fi_freeinfo)>("fi_freeinfo"); function != nullptr) function(info);
}

fi_info* fi_dupinfo(const fi_info* info) {
  const auto function = find<decltype(&fi_dupinfo)>("fi_dupinfo");
  return function == nullptr ? nullptr : function(info);
}

int fi_fabric(fi_fabric_attr* attributes, fid_fabric** fabric, void* context) {
  const auto function = find<decltype(&fi_fabric)>("fi_fabric");
  return function == nullptr ? -FI_ENOSYS : function(attributes, fabric, context);
}

const char* fi_strerror(int error) {
  const auto function = find<decltype(&fi_strerror)>("fi_strerror");
  return function == nullptr ? "libfabric.so.1 cannot be loaded" : function(error);
}
}
