#pragma once
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>

#include "listio/layout/byte_run.hpp"
#include "listio/protocol/file_time.hpp"
#include "listio/protocol/messages.hpp"

namespace strider::listio {

/// How a call on the store ended: 0, or the error number.
using Errno = int;

/// A data file differs from the written data. The message names the data file, and the bytes as far as they are known.
class DamagedData : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A server's data files: its parts of the files of the volume. For several threads at once. A store with checksums
/// throws DamagedData instead of returning or changing bytes that do not fit them.
class DataStore {
 public:
  struct Counters {
    std::uint64_t read_bytes = 0, written_bytes = 0;
    std::uint64_t calls = 0;  ///< system calls that read or write
  };
  /// Whether all runs lie before the end of the data file; bytes beyond it read as 0.
  enum class Extent { whole, beyond_end };

  virtual ~DataStore() = default;
  virtual Errno read(FileId file, std::span<const ByteRun> runs, std::span<std::byte> buffer, Extent& extent) = 0;
  virtual Errno write(FileId file, std::span<const ByteRun> runs, std::span<std::byte> buffer) = 0;
  /// Everything that was written before is on stable storage, and found again.
  virtual Errno sync(FileId file) = 0;
  /// A data file that was never written has no bytes.
  virtual Errno stat(FileId file, DataStat& stat) = 0;
  virtual Errno truncate(FileId file, std::uint64_t bytes) = 0;
  /// Of a data file that is there; when it changed, in ns since 1970.
  virtual Errno set_time(FileId file, std::int64_t modified_ns) = 0;
  virtual Errno remove(FileId file) = 0;
  /// Adds the next data files to the page.
  virtual Errno list(std::uint64_t cookie, DataPage& page) = 0;
  /// Compares blocks with their checksums. EOPNOTSUPP without checksums.
  virtual Errno verify(const VerifyRequest&, Verified&) { return EOPNOTSUPP; }
  virtual Counters counters() const = 0;
};

/// Plain files in `folder`, an open directory: data/XX/XXXXXXXXXXXXXXXX, where XX are the last two of the 16
/// hexadecimal digits of the file's number. std::system_error if the folder data cannot be made.
std::unique_ptr<DataStore> make_file_store(int folder);
/// Pages of checksums in memory: 64 MiB, for 64 GiB of data.
constexpr std::size_t default_sum_pages = 16384;
/// The same, with the checksums of data/XX/XXXXXXXXXXXXXXXX in sums/XX/XXXXXXXXXXXXXXXX; for server `number` of a
/// volume. At most so many pages of 4096 bytes have checksums in memory.
/// Its destructor makes all checksums durable. Files of a process that ended without that are summed again when
/// they are used first.
std::unique_ptr<DataStore> make_checked_store(int folder, const VolumeState& volume, std::uint32_t number,
                                              std::size_t most_sum_pages = default_sum_pages);
/// Keeps how long files are and nothing that is written, reads nothing: to measure the way there, as null-aio of
/// OrangeFS does.
std::unique_ptr<DataStore> make_discarding_store();

}  // namespace strider::listio
