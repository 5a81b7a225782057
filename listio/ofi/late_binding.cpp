// The functions of libfabric that this folder calls, for a library that is preloaded into programs of others: it must
// not be linked with libfabric, since the program's MPI may bring a newer one of the same name. Loaded at first use.
#include <dlfcn.h>
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include <cstdint>

namespace {

template <class Function>
Function find(const char* name) {
  static void* const library = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
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
