// For libFuzzer: strider-listio-fuzz tests/listio/fuzz/corpus
#include "fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  strider::listio::take_from_outside({reinterpret_cast<const std::byte*>(data), size});
  return 0;
}
