#pragma once
#include <memory>

#include "listio/transfer/transport.hpp"

namespace strider::listio {

/// `process_vm_writev` and `process_vm_readv`: this process's memory and that of another on the same host, up to 1024
/// pieces in one system call and no copy in between; messages go over TCP. Both have to belong to the same user.
std::unique_ptr<Transport> make_cma(const TransportOptions& options);

/// libfabric's reliable datagram endpoints, on the provider that the options name or the best one; messages go over
/// TCP. Only where the build has libfabric (STRIDER_OFI).
std::unique_ptr<Transport> make_ofi(const TransportOptions& options);

}  // namespace strider::listio
