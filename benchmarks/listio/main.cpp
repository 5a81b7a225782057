// What registering memory costs, and what grouping it gains: 1024 rows of a page at a stride of two, written to a file
// in memory. Case 1 has no holes, case 2 ten pages between rows that are not mapped, case 3 ten that may not be
// touched.
//
//   strider-registration ROUNDS
//
// Prints a line of JSON for every fit and every round of every (domain, case, strategy).
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "fixed_writer.hpp"
#include "foundation/clock.hpp"
#include "listio/registration/registrar.hpp"

namespace strider::listio {
namespace {

constexpr std::uint64_t rows = 1024;

class Array {
 public:
  explicit Array(int holes_of_case) : bytes_(2 * rows * page_bytes()) {
    memory_ = static_cast<char*>(::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (memory_ == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    ::madvise(memory_, bytes_, MADV_NOHUGEPAGE);
    for (std::size_t i = 0; i < bytes_; i += page_bytes()) memory_[i] = static_cast<char>(i / page_bytes());
    for (std::uint64_t hole = 0; hole < 10 && holes_of_case > 1; ++hole) {
      char* const page = memory_ + (2 * (50 + hole * 97) + 1) * page_bytes();
      if (holes_of_case == 2) ::munmap(page, page_bytes());
      else ::mprotect(page, page_bytes(), PROT_NONE);
    }
    for (std::uint64_t row = 0; row < rows; ++row) {
      const auto begin = reinterpret_cast<std::uintptr_t>(memory_) + 2 * row * page_bytes();
      pieces_.push_back({begin, begin + page_bytes()});
    }
  }
  ~Array() { ::munmap(memory_, bytes_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  std::span<const Range> pieces() const { return pieces_; }

 private:
  std::size_t bytes_;
  char* memory_ = nullptr;
  std::vector<Range> pieces_;
};

/// A file in memory: tmpfs without a name.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(::memfd_create("strider-registration", MFD_CLOEXEC)) {
    if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "memfd_create");
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

/// Writes a list of registered pieces: from fixed buffers where the domain has them and the kernel can, else by
/// pwritev.
class Writer {
 public:
  Writer(const Domain& domain, FixedWriter* fixed)
      : fixed_(domain.name() == "uring" && domain.capabilities().vectored == Vectored::yes ? fixed : nullptr) {}
  const char* name() const { return fixed_ != nullptr ? "WRITEV_FIXED" : "pwritev"; }
  void write(std::span<const Range> pieces, const Lease& lease) {
    if (fixed_ != nullptr) return fixed_->write(file_.get(), pieces, lease);
    std::vector<iovec> vectors;
    for (const Range& piece : pieces) vectors.push_back({reinterpret_cast<void*>(piece.begin), piece.bytes()});
    const ssize_t written = ::pwritev(file_.get(), vectors.data(), static_cast<int>(vectors.size()), 0);
    if (written != static_cast<ssize_t>(rows * page_bytes()))
      throw std::system_error(errno, std::generic_category(), "pwritev");
  }

 private:
  FixedWriter* fixed_;
  MemoryFile file_;
};

double us_since(std::uint64_t start_ns) { return static_cast<double>(monotonic_ns() - start_ns) * 1e-3; }

void print_fit(const Domain& domain, const Calibration& found) {
  std::printf("{\"fit\": \"%s\", \"a\": %.5f, \"a_error\": %.5f, \"b\": %.4f, \"b_error\": %.4f, ",
              std::string(domain.name()).c_str(), found.registering.slope, found.registering.slope_error,
              found.registering.intercept, found.registering.intercept_error);
  std::printf("\"a2\": %.5f, \"a2_error\": %.5f, \"b2\": %.4f, \"b2_error\": %.4f, \"hole_pages\": %llu}\n",
              found.deregistering.slope, found.deregistering.slope_error, found.deregistering.intercept,
              found.deregistering.intercept_error, static_cast<unsigned long long>(domain.model().most_hole_pages()));
}

/// One transfer: register, write, deregister. `ready` is a lease for the ideal, in which registering is for nothing.
void measure(Domain& domain, int number, Strategy strategy, std::span<const Range> pieces, Writer& writer,
             const Lease& ready) {
  const std::uint64_t before = domain.counters().registrations;
  Registrar registrar(domain, {.strategy = strategy});
  const std::uint64_t start = monotonic_ns();
  Registration registration = registrar.acquire(pieces);
  const double register_us = us_since(start);
  std::printf("{\"domain\": \"%s\", \"case\": %d, \"strategy\": \"%s\", \"writer\": \"%s\", \"failed\": %s, ",
              std::string(domain.name()).c_str(), number, std::string(name_of(strategy)).c_str(), writer.name(),
              registration.verdict == Verdict::registered ? "false" : "true");
  double write_us = 0, deregister_us = 0;
  if (registration.verdict == Verdict::registered) {
    const std::uint64_t writing = monotonic_ns();
    writer.write(pieces, strategy == Strategy::none ? ready : registration.lease);
    write_us = us_since(writing);
    const std::uint64_t leaving = monotonic_ns();
    registration.lease = {};
    deregister_us = us_since(leaving);
  }
  std::printf(
      "\"registrations\": %llu, \"register_us\": %.2f, \"write_us\": %.2f, \"deregister_us\": %.2f, \"bytes\": %llu}\n",
      static_cast<unsigned long long>(domain.counters().registrations - before), register_us, write_us, deregister_us,
      static_cast<unsigned long long>(rows * page_bytes()));
}

void measure_domain(Domain& domain, FixedWriter* fixed, int rounds) {
  print_fit(domain, domain.calibrate());
  constexpr std::array strategies{Strategy::none, Strategy::individual, Strategy::single, Strategy::ogr};
  for (int number = 1; number <= 3; ++number) {
    const Array array(number);
    Writer writer(domain, fixed);
    Registrar beforehand(domain, {.strategy = Strategy::ogr});
    for (int round = 0; round <= rounds; ++round)
      for (const Strategy strategy : strategies) {
        Registration ready;
        if (strategy == Strategy::none) ready = beforehand.acquire(array.pieces());
        if (round == 0)
          writer.write(array.pieces(), beforehand.acquire(array.pieces()).lease);  // the file's pages are there
        else measure(domain, number, strategy, array.pieces(), writer, ready.lease);
      }
  }
}

void run(int rounds) {
  const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
  ::setrlimit(RLIMIT_MEMLOCK, &unlimited);  // only for privileged users; the fits show if it was too little
  std::unique_ptr<FixedWriter> fixed;
  for (const std::string name : {"uring", "mlock", "model"}) try {
      std::unique_ptr<Domain> domain;
      if (name == "uring") {
        fixed = std::make_unique<FixedWriter>();
        domain = make_uring_domain({.ring = fixed->ring()});
      } else {
        domain = make_domain(name);
      }
      measure_domain(*domain, fixed.get(), rounds);
    } catch (const std::system_error& error) {
      std::fprintf(stderr, "%s: left out: %s\n", name.c_str(), error.what());
    }
}

}  // namespace
}  // namespace strider::listio

int main(int count, char** words) {
  if (count != 2) {
    std::fprintf(stderr, "usage: strider-registration ROUNDS\n");
    return 2;
  }
  strider::listio::run(std::atoi(words[1]));
  return 0;
}
