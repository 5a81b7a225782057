#include "phases/hole_map.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace strider {

HoleMap::HoleMap(const Capabilities& interface, const std::string& path) {
  if (interface.client != StorageClient::kernel || interface.format == FileFormat::own) return;
  file_ = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

bool HoleMap::is_hole(std::uint64_t begin, std::uint64_t end) {
  if (!file_) return false;
  if (begin < asked_ || begin >= data_) {
    asked_ = begin;
    const off_t found = ::lseek(file_.get(), static_cast<off_t>(begin), SEEK_DATA);
    data_ = found >= 0 ? static_cast<std::uint64_t>(found) : errno == ENXIO ? ~std::uint64_t{0} : begin;
  }
  return end <= data_;
}

Mismatch HoleMap::explain(Mismatch mismatch) {
  for (Damage& damage : mismatch.causes)
    if (damage.cause == Cause::zero && is_hole(damage.file_offset, damage.file_offset + damage.bytes))
      damage.cause = Cause::hole;
  return mismatch;
}

}  // namespace strider
