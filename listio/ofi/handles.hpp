#pragma once
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace strider::listio::ofi {

struct Close {
  template <typename Handle>
  void operator()(Handle* handle) const {
    ::fi_close(&handle->fid);
  }
};
/// An object of libfabric, closed when it goes.
template <typename Handle>
using Owned = std::unique_ptr<Handle, Close>;

struct FreeInfo {
  void operator()(fi_info* info) const { ::fi_freeinfo(info); }
};
using Info = std::unique_ptr<fi_info, FreeInfo>;

/// A call of libfabric that failed. `what` names it and says why; `error_number` is libfabric's, which is errno's where
/// there is one.
class Error : public std::runtime_error {
 public:
  Error(const std::string& call, int error_number)
      : std::runtime_error(call + ": " + ::fi_strerror(error_number)), error_number_(error_number) {}
  int error_number() const { return error_number_; }

 private:
  int error_number_;
};

/// Error unless `result` is 0.
inline void check(const std::string& call, long result) {
  if (result != 0) throw Error(call, static_cast<int>(-result));
}

}  // namespace strider::listio::ofi
