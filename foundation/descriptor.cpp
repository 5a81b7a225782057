#include "foundation/descriptor.hpp"

#include <sys/stat.h>

#include "foundation/error.hpp"

namespace strider {

OpenFile::OpenFile(Descriptor descriptor, std::string path)
    : descriptor_(std::move(descriptor)), path_(std::move(path)) {
  if (!descriptor_) throw_errno("open", path_);
}

void OpenFile::sync() const {
  if (::fsync(get()) != 0) throw_errno("fsync", path_);
}

std::uint64_t OpenFile::size() const {
  struct stat status{};
  if (::fstat(get(), &status) != 0) throw_errno("fstat", path_);
  return static_cast<std::uint64_t>(status.st_size);
}

void OpenFile::close() {
  if (descriptor_.close() != 0) throw_errno("close", path_);
}

}  // namespace strider
