#include "listio/ofi/fabric.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <system_error>

#include "foundation/error.hpp"

namespace strider::listio::ofi {
namespace {

constexpr std::array<std::string_view, 4> preferred{"verbs;ofi_rxm", "tcp", "net", "tcp;ofi_rxm"};
constexpr std::uint32_t interface_version = FI_VERSION(1, 17);

/// What libfabric does to a process when it starts: `shm` takes over signals, to remove its files. They stay ours.
class KeptSignals {
 public:
  KeptSignals() {
    for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], nullptr, &before_[i]);
  }
  ~KeptSignals() {
    for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &before_[i], nullptr);
  }
  KeptSignals(const KeptSignals&) = delete;
  KeptSignals& operator=(const KeptSignals&) = delete;

 private:
  static constexpr std::array signals{SIGBUS, SIGSEGV, SIGTERM, SIGINT};
  std::array<struct sigaction, signals.size()> before_{};
};

/// Before the first call of libfabric: it must not keep regions by itself, because what registering costs is measured
/// here, and because it notices by patching munmap() when memory goes. Whoever sets the variable knows better.
void prepare_library() {
  static std::once_flag once;
  std::call_once(once, [] { ::setenv("FI_MR_CACHE_MONITOR", "disabled", 0); });
}

Info make_hints(const std::string& provider) {
  Info hints(::fi_allocinfo());
  if (!hints) throw std::bad_alloc();
  hints->caps = FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
  hints->mode = FI_CONTEXT | FI_CONTEXT2 | FI_RX_CQ_DATA;
  hints->ep_attr->type = FI_EP_RDM;
  hints->fabric_attr->prov_name = ::strdup(provider.c_str());  // fi_freeinfo frees it
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  // A read must see what was written before it (Endpoint::flush). shm does so as long as it is not asked for: asked, it
  // gives up copying from process to process directly.
  if (provider != "shm") hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_RAW;
  return hints;
}

/// What the provider offers at the address of `host`, or without a host; nothing if that is nothing.
Info ask(const std::string& provider, const char* host) {
  const Info hints = make_hints(provider);
  fi_info* all = nullptr;
  const int result = ::fi_getinfo(interface_version, host, nullptr, host == nullptr ? 0 : FI_SOURCE, hints.get(), &all);
  const Info owner(all);
  if (result != 0) return {};
  // A layered provider answers to the name of what it lies on; take only what was asked for.
  for (const fi_info* each = all; each != nullptr; each = each->next)
    if (provider == each->fabric_attr->prov_name) return Info(::fi_dupinfo(each));
  return {};
}

/// The addresses of this host's interfaces, as text, without those of the loopback.
std::vector<std::string> own_addresses() {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(all, ::freeifaddrs);
  std::vector<std::string> addresses;
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_LOOPBACK) != 0 || (each->ifa_flags & IFF_UP) == 0) continue;
    const int family = each->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    std::array<char, NI_MAXHOST> text{};
    const socklen_t bytes = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if (::getnameinfo(each->ifa_addr, bytes, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) == 0)
      addresses.emplace_back(text.data());
  }
  return addresses;
}

/// Nothing if the provider offers nothing.
Info find(const std::string& provider, const std::string& host) {
  prepare_library();
  const KeptSignals signals;
  const bool everywhere = host.empty() || host == "0.0.0.0" || host == "::" || provider == "shm";
  Info info = ask(provider, everywhere ? nullptr : host.c_str());
  if (info || !everywhere || !provider.starts_with("verbs")) return info;
  // verbs may know nothing unless it is asked for an address.
  for (const std::string& address : own_addresses())
    if ((info = ask(provider, address.c_str()))) break;
  return info;
}

Info choose(const std::string& provider, const std::string& host) {
  const std::string where = host.empty() ? "on this host" : "at " + host;
  if (!provider.empty()) {
    if (Info info = find(provider, host)) return info;
    throw InputError("transport", "libfabric's provider '" + provider + "' has no endpoint for list I/O " + where,
                     "choose a provider that `fi_info` lists, or transport ofi, which lets Strider choose");
  }
  for (const std::string_view each : preferred)
    if (Info info = find(std::string(each), host)) return info;
  throw InputError("transport", "no provider of libfabric has an endpoint for list I/O " + where,
                   "check the providers that `fi_info` lists, or choose transport tcp");
}

std::uint64_t random_key(std::size_t bytes) {
  std::uint64_t key = 0;
  if (::getrandom(&key, sizeof key, 0) != sizeof key)
    throw std::system_error(errno, std::generic_category(), "getrandom");
  return bytes >= sizeof key ? key : key & ((std::uint64_t{1} << (8 * bytes)) - 1);
}

/// The process that a file of `shm` belongs to, which is named PID:UID:NUMBER; 0 if it is no such file of this user.
pid_t owner_of(const std::string& name) {
  std::array<unsigned, 3> numbers{};
  const char *at = name.data(), *const end = at + name.size();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0 && (at == end || *at++ != ':')) return 0;
    const auto [next, error] = std::from_chars(at, end, numbers[i]);
    if (error != std::errc()) return 0;
    at = next;
  }
  return at == end && numbers[1] == ::geteuid() ? static_cast<pid_t>(numbers[0]) : 0;
}

}  // namespace

Fabric::Fabric(const std::string& provider, const std::string& host) : info_(choose(provider, host)) {
  if (this->provider() == "shm") sweep_shared_memory();
  const KeptSignals signals;
  try {
    fid_fabric* fabric = nullptr;
    check("fi_fabric", ::fi_fabric(info_->fabric_attr, &fabric, nullptr));
    fabric_.reset(fabric);
    fid_domain* domain = nullptr;
    check("fi_domain", ::fi_domain(fabric, info_.get(), &domain, nullptr));
    domain_.reset(domain);
  } catch (const Error& error) {
    throw IoError({"fi_domain", this->provider()}, "libfabric's provider '" + this->provider() + "': " + error.what(),
                  "set FI_LOG_LEVEL=warn to see why, or choose transport tcp");
  }
}

Owned<fid_mr> Fabric::register_memory(std::span<std::byte> memory, Reach reach, fid_ep* endpoint) const {
  std::uint64_t access = FI_READ | FI_WRITE;
  if (reach == Reach::remote_too) access |= FI_REMOTE_READ | FI_REMOTE_WRITE;
  fid_mr* region = nullptr;
  int result = -FI_ENOKEY;
  for (int attempt = 0; result == -FI_ENOKEY && attempt < 8; ++attempt) {  // a key may be taken
    const std::uint64_t key = has_mode(FI_MR_PROV_KEY) ? 0 : random_key(info_->domain_attr->mr_key_size);
    result = ::fi_mr_reg(domain_.get(), memory.data(), memory.size(), access, 0, key, 0, &region, nullptr);
  }
  check("fi_mr_reg", result);
  Owned<fid_mr> owner(region);
  if (reach == Reach::remote_too && has_mode(FI_MR_ENDPOINT)) {
    check("fi_mr_bind", ::fi_mr_bind(region, &endpoint->fid, 0));
    check("fi_mr_enable", ::fi_mr_enable(region));
  }
  return owner;
}

std::span<const std::string_view> preferred_providers() { return preferred; }

bool is_available(const std::string& provider, const std::string& host) { return find(provider, host) != nullptr; }

std::size_t sweep_shared_memory(const std::string& folder) {
  std::size_t swept = 0;
  std::error_code ignored;  // somebody else may sweep as well
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const pid_t process = owner_of(entry.path().filename().string());
    if (process == 0 || ::kill(process, 0) == 0 || errno != ESRCH) continue;
    struct stat status{};
    if (::lstat(entry.path().c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != ::geteuid())
      continue;
    if (std::filesystem::remove(entry.path(), ignored)) ++swept;
  }
  return swept;
}

}  // namespace strider::listio::ofi
