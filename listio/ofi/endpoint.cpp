#include "listio/ofi/endpoint.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

namespace strider::listio::ofi {
namespace {

constexpr std::size_t most_operations = 128;
constexpr std::size_t most_address_bytes = 512;

const char* name_of(Purpose purpose) {
  switch (purpose) {
    case Purpose::put: return "put";
    case Purpose::get: return "get";
    case Purpose::flush: break;
  }
  return "flush";
}

std::uint64_t bytes_of(const Request& request) {
  std::uint64_t bytes = 0;
  for (const iovec& piece : request.pieces) bytes += piece.iov_len;
  return bytes;
}

}  // namespace

struct Endpoint::Operation {
  fi_context2 context{};  ///< first: libfabric gives its address back
  Request request;
};

Endpoint::Endpoint(const Fabric& fabric)
    : fabric_(fabric), most_under_way_(std::clamp<std::size_t>(fabric.info().tx_attr->size, 1, most_operations)) {
  open_queue();
  fi_av_attr attributes{};
  attributes.type = fabric.info().domain_attr->av_type;
  fid_av* addresses = nullptr;
  check("fi_av_open", ::fi_av_open(fabric.domain(), &attributes, &addresses, nullptr));
  addresses_.reset(addresses);
  fid_ep* endpoint = nullptr;
  // fi_endpoint only reads what it is given.
  check("fi_endpoint", ::fi_endpoint(fabric.domain(), const_cast<fi_info*>(&fabric.info()), &endpoint, nullptr));
  endpoint_.reset(endpoint);
  check("fi_ep_bind", ::fi_ep_bind(endpoint, &queue_->fid, FI_TRANSMIT | FI_RECV));
  check("fi_ep_bind", ::fi_ep_bind(endpoint, &addresses_->fid, 0));
  const int enabled = ::fi_enable(endpoint);
  check(enabled == -FI_EINVAL ? "fi_enable (a device with small queues needs FI_UNIVERSE_SIZE=16 or so)" : "fi_enable",
        enabled);
}

Endpoint::~Endpoint() = default;

void Endpoint::open_queue() {
  fi_cq_attr attributes{};
  attributes.size = 2 * most_under_way_;
  attributes.format = FI_CQ_FORMAT_CONTEXT;
  attributes.wait_obj = FI_WAIT_FD;
  fid_cq* queue = nullptr;
  if (::fi_cq_open(fabric_.domain(), &attributes, &queue, nullptr) == 0) {
    queue_.reset(queue);
    check("fi_control(GETWAIT)", ::fi_control(&queue->fid, FI_GETWAIT, &descriptor_));
    return;
  }
  attributes.wait_obj = FI_WAIT_NONE;
  check("fi_cq_open", ::fi_cq_open(fabric_.domain(), &attributes, &queue, nullptr));
  queue_.reset(queue);
}

std::vector<std::byte> Endpoint::address() const {
  std::vector<std::byte> address(most_address_bytes);
  std::size_t bytes = address.size();
  check("fi_getname", ::fi_getname(&endpoint_->fid, address.data(), &bytes));
  address.resize(bytes);
  return address;
}

void Endpoint::reach(std::span<const std::byte> address) {
  // Providers read as much as an address of theirs has, whatever there is; shm reads a text.
  std::vector<std::byte> padded(address.begin(), address.end());
  padded.resize(most_address_bytes + 1);
  if (::fi_av_insert(addresses_.get(), padded.data(), 1, &peer_, 0, nullptr) != 1)
    throw Error("fi_av_insert", FI_EADDRNOTAVAIL);
}

void Endpoint::start(Request request) {
  if (bytes_of(request) > fabric_.info().ep_attr->max_msg_size) throw Error(name_of(request.purpose), FI_EMSGSIZE);
  if (is_idle()) silent_until_ = in(most_silence);
  if (free_.empty()) free_.push_back(&operations_.emplace_back());
  Operation& operation = *free_.back();
  operation.request = std::move(request);
  if (!waiting_.empty() || under_way_ == most_under_way_ || !post(operation)) waiting_.push_back(&operation);
  free_.pop_back();
}

bool Endpoint::post(Operation& operation) {
  const Request& request = operation.request;
  const auto move = request.purpose == Purpose::put ? &::fi_writev : &::fi_readv;
  auto* const descriptors = request.descriptors.empty() ? nullptr : const_cast<void**>(request.descriptors.data());
  const ssize_t result = move(endpoint_.get(), request.pieces.data(), descriptors, request.pieces.size(), peer_,
                              request.address, request.key, &operation.context);
  if (result == -FI_EAGAIN) return false;
  check(name_of(request.purpose), result);
  ++under_way_;
  return true;
}

void Endpoint::progress(std::vector<Done>& done) {
  std::array<fi_cq_entry, 32> entries{};
  for (;;) {
    const ssize_t count = ::fi_cq_read(queue_.get(), entries.data(), entries.size());
    if (count == -FI_EAVAIL) fail();
    if (count == -FI_EAGAIN || count == 0) break;
    if (count < 0) check("fi_cq_read", count);
    for (ssize_t i = 0; i < count; ++i) finish(entries[static_cast<std::size_t>(i)].op_context, done);
  }
  while (!waiting_.empty() && under_way_ < most_under_way_ && post(*waiting_.front())) waiting_.pop_front();
  if (!is_idle() && has_passed(silent_until_)) throw Error("no operation has completed in time", FI_ETIMEDOUT);
}

void Endpoint::finish(void* context, std::vector<Done>& done) {
  if (context == nullptr) return;
  auto* const operation = static_cast<Operation*>(context);
  done.push_back({operation->request.purpose, operation->request.token});
  free_.push_back(operation);
  --under_way_;
  silent_until_ = in(most_silence);
}

void Endpoint::fail() {
  fi_cq_err_entry entry{};
  if (::fi_cq_readerr(queue_.get(), &entry, 0) != 1) throw Error("fi_cq_readerr", FI_EIO);
  std::string what = "an operation";
  if (entry.op_context != nullptr) {
    const Request& request = static_cast<const Operation*>(entry.op_context)->request;
    what = std::string(name_of(request.purpose)) + " of " + std::to_string(bytes_of(request)) + " bytes";
  }
  std::array<char, 128> text{};
  const char* const more = ::fi_cq_strerror(queue_.get(), entry.prov_errno, entry.err_data, text.data(), text.size());
  if (more != nullptr && *more != '\0') what += std::string(" (") + more + ")";
  throw Error(what, entry.err);
}

bool Endpoint::may_wait() {
  if (descriptor_ < 0 || !waiting_.empty()) return false;
  fid* const queue = &queue_->fid;
  fid* all[] = {queue};
  return ::fi_trywait(fabric_.handle(), all, 1) == 0;
}

}  // namespace strider::listio::ofi
