#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "listio/ofi/handles.hpp"

namespace strider::listio::ofi {

/// Who may reach memory: only operations that this process starts, or also those of peers.
enum class Reach { local, remote_too };

/// An access domain of libfabric on one provider: what endpoints and registered memory belong to. Endpoints are
/// reliable datagram endpoints with one-sided operations.
class Fabric {
 public:
  /// Opens what `provider` offers at the address of `host`; empty: at any address. An empty provider is the first of
  /// `preferred_providers()` that offers something. InputError if there is none; IoError if it cannot be opened.
  Fabric(const std::string& provider, const std::string& host);
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  /// As libfabric spells it, such as "verbs;ofi_rxm".
  std::string provider() const { return info_->fabric_attr->prov_name; }
  const fi_info& info() const { return *info_; }
  fid_fabric* handle() const { return fabric_.get(); }
  fid_domain* domain() const { return domain_.get(); }
  bool has_mode(int mr_mode) const { return (info_->domain_attr->mr_mode & mr_mode) != 0; }

  /// Registers memory under a key that cannot be guessed, unless the provider chooses keys itself. `endpoint`: the one
  /// that peers address, needed with `Reach::remote_too`. Error, with libfabric's number, if that fails.
  Owned<fid_mr> register_memory(std::span<std::byte> memory, Reach reach, fid_ep* endpoint = nullptr) const;

 private:
  Info info_;
  Owned<fid_fabric> fabric_;
  Owned<fid_domain> domain_;
};

/// By preference: network cards first, then TCP as libfabric does it best. Not `shm`, which is to be asked for, and
/// never `sockets`, which takes milliseconds for a message.
std::span<const std::string_view> preferred_providers();
/// Whether a provider offers something at the address of `host`.
bool is_available(const std::string& provider, const std::string& host);

/// Removes what the provider `shm` has left in `folder` of processes of this user that are no more; how many files.
std::size_t sweep_shared_memory(const std::string& folder = "/dev/shm");

}  // namespace strider::listio::ofi
