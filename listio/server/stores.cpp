#include "listio/server/stores.hpp"

#include "foundation/descriptor.hpp"
#include "listio/server/small_files.hpp"

namespace strider::listio {

std::unique_ptr<DataStore> make_store(const ServerOptions& options, int folder) {
  if (options.keeping == Keeping::nothing) return make_discarding_store();
  if (options.checksums == Checksums::off) return make_file_store(folder);
  return make_checked_store(folder, options.volume, options.number);
}

Label label_of(const ServerOptions& options) {
  return {.volume = options.volume,
          .number = options.number,
          .servers = options.servers,
          .checksums = options.checksums,
          .copies = options.copies,
          .replaced = options.replaced};
}

std::unique_ptr<SecondCopies> make_copies(const ServerOptions& options, int folder) {
  if (options.copies == 1) return {};
  const Descriptor second = make_folder(folder, "second");
  return std::make_unique<SecondCopies>(label_of(options), folder, second.get(), make_store(options, second.get()));
}

}  // namespace strider::listio
