#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include "listio/registration/address_space.hpp"
#include "listio/registration/cost.hpp"
#include "listio/registration/range.hpp"

namespace strider::listio {

/// How an attempt to register ended: `fault` is EFAULT, a page that is not mapped or does not allow the access;
/// `no_memory` is ENOMEM, the limit of pinned memory; `no_region`, as many regions as there can be.
enum class Outcome { registered, fault, no_memory, no_region };

/// Whether one transfer can gather from several places of a region, or scatter to them.
enum class Vectored { no, yes };

struct Capabilities {
  std::size_t most_regions = 0;  ///< live at a time
  std::uint64_t most_bytes = 0;  ///< of one region
  Access access = Access::read_write;
  Vectored vectored = Vectored::no;
};

/// Registered memory: whole pages, and the domain's number for them.
struct Region {
  Range range;
  std::uint32_t slot = 0;
  bool operator==(const Region&) const = default;
};

/// What a fit of T = a·p + b found, with standard errors, and the times it was found from.
struct Calibration {
  struct Sample {
    std::uint64_t pages = 0;
    double register_us = 0, deregister_us = 0;  ///< lower quartiles
  };
  Line registering, deregistering;  ///< slopes a, a' in µs per page; intercepts b, b' in µs
  std::vector<Sample> samples;
};

/// A way of making memory ready for transfers without copies, and what that costs: a memory registration domain. Counts
/// and times what it does. Not for several threads at once.
class Domain {
 public:
  struct Counters {
    std::uint64_t registrations = 0, deregistrations = 0;
    std::uint64_t faults = 0;                   ///< attempts that ended with `fault`
    std::uint64_t refusals = 0;                 ///< … with `no_memory` or `no_region`
    std::uint64_t pages = 0;                    ///< registered, all registrations together
    double register_us = 0, deregister_us = 0;  ///< spent, failed attempts included
  };
  struct Result {
    Outcome outcome = Outcome::fault;
    Region region;
  };

  virtual ~Domain() = default;
  virtual std::string_view name() const = 0;
  virtual Capabilities capabilities() const = 0;

  /// Registers whole pages, all of them or none. std::system_error if the domain itself is broken.
  Result register_range(const Range& pages);
  void deregister(const Region& region);

  /// What is believed to be the cost: defaults measured elsewhere until `calibrate` is called.
  const CostModel& model() const { return model_; }
  /// Fits the cost on this machine, with 1, 2, 4 … 1024 touched pages of ordinary size, and believes it from now on.
  /// Takes some tenths of a second; not counted. std::system_error with ENOMEM if too little memory may be pinned.
  Calibration calibrate();

  const Counters& counters() const { return counters_; }

  /// From now on remembers which regions are live, for `is_live`: to check who uses them, not while costs are measured.
  void track();
  bool is_live(const Region& region) const;

 protected:
  explicit Domain(const CostModel& model) : model_(model) {}

 private:
  virtual Result pin(const Range& pages) = 0;
  virtual void unpin(const Region& region) = 0;

  using Live = std::multiset<std::tuple<std::uintptr_t, std::uintptr_t, std::uint32_t>>;

  CostModel model_;
  Counters counters_;
  std::optional<Live> live_;  ///< if tracked: beginnings, ends, slots
};

struct UringOptions {
  int ring = -1;  ///< descriptor of the ring whose fixed buffers to use; otherwise a ring of its own
  std::uint32_t most_regions = 4096;  ///< slots of the table; at most 16384
};
/// Fixed buffers of io_uring: the kernel pins pages for good, as for a network card. Linux 5.19. std::system_error
/// where the kernel has no io_uring or forbids it.
std::unique_ptr<Domain> make_uring_domain(const UringOptions& options = {});

/// mlock(2), counting how often each page is registered, since locks of the kernel do not add up.
std::unique_ptr<Domain> make_mlock_domain();

struct ModelOptions {
  CostModel cost;  ///< to be spent
  std::size_t most_regions = std::size_t{1} << 20;
  std::uint64_t most_pages = std::uint64_t{1} << 40;  ///< registered at a time; beyond them `no_memory`
};
/// A card that exists only as a cost model: spends T busily, and faults where the kernel says that pages are missing.
std::unique_ptr<Domain> make_model_domain(const ModelOptions& options = {});

/// Memory registration of libfabric, on the best provider that it has. InputError if there is none, or the build has no
/// libfabric.
std::unique_ptr<Domain> make_ofi_domain();

/// The domain of a name: `uring`, `mlock`, `model` or `ofi`. InputError for others.
std::unique_ptr<Domain> make_domain(std::string_view name);

}  // namespace strider::listio
