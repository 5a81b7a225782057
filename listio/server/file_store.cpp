#include <sys/uio.h>

#include <cerrno>
#include <cstring>

#include "listio/server/data_store.hpp"
#include "listio/server/file_calls.hpp"
#include "listio/server/numbered_files.hpp"
#include "listio/server/shards.hpp"

namespace strider::listio {
namespace {

class FileStore final : public DataStore {
 public:
  explicit FileStore(int folder) : data_(folder, "data", std::make_shared<OpenFiles>()) {}

  Errno read(FileId file, std::span<const ByteRun> runs, std::span<std::byte> buffer, Extent& extent) override {
    OpenFiles::Handle handle;
    const Errno error = data_.open(file, 0, handle);
    if (error != 0 && error != ENOENT) return error;
    FileCalls plan(runs, buffer);
    for (FileCall& call : plan.calls()) {
      const Transferred read = handle ? move(::preadv, *handle, call.pieces, call.offset, moved_) : Transferred{};
      moved_.read_bytes += read.bytes;
      if (read.error_number != 0) return read.error_number;
      if (read.bytes == call.bytes) continue;
      extent = Extent::beyond_end;
      for (const iovec& piece : call.pieces) std::memset(piece.iov_base, 0, piece.iov_len);
    }
    return 0;
  }

  Errno write(FileId file, std::span<const ByteRun> runs, std::span<std::byte> buffer) override {
    OpenFiles::Handle handle;
    const Errno error = data_.open(file, O_CREAT, handle);
    if (error != 0) return error;
    FileCalls plan(runs, buffer);
    for (FileCall& call : plan.calls()) {
      const Transferred written = move(::pwritev, *handle, call.pieces, call.offset, moved_);
      moved_.written_bytes += written.bytes;
      if (written.error_number != 0) return written.error_number;
      if (written.bytes < call.bytes) return EIO;
    }
    return 0;
  }

  Errno sync(FileId file) override {
    const Errno error = data_.sync_bytes(file);
    return error != 0 ? error : data_.sync_name(file);
  }

  Errno stat(FileId file, DataStat& stat) override {
    struct stat found{};
    const Errno error = data_.stat(file, found);
    stat = error == 0 ? data_stat_of(found) : DataStat{};
    return error == ENOENT ? 0 : error;
  }

  Errno truncate(FileId file, std::uint64_t bytes) override {
    OpenFiles::Handle handle;
    const Errno error = data_.open(file, bytes > 0 ? O_CREAT : 0, handle);
    if (error != 0) return error == ENOENT ? 0 : error;
    return ::ftruncate(handle->get(), static_cast<off_t>(bytes)) != 0 ? errno : 0;
  }

  Errno set_time(FileId file, std::int64_t modified_ns) override { return data_.set_time(file, modified_ns); }
  Errno remove(FileId file) override { return data_.remove(file); }

  Errno list(std::uint64_t cookie, DataPage& page) override {
    return list_shards(
        cookie, page, [&](unsigned shard, std::vector<FileId>& files) { return data_.list(shard, files); },
        [&](FileId file) {
          DataStat found;
          const Errno error = stat(file, found);
          if (error == 0) page.files.push_back({file, found.bytes});
          return error;
        });
  }

  Counters counters() const override { return {moved_.read_bytes, moved_.written_bytes, moved_.calls}; }

 private:
  NumberedFiles data_;
  Moved moved_;
};

}  // namespace

std::unique_ptr<DataStore> make_file_store(int folder) { return std::make_unique<FileStore>(folder); }

}  // namespace strider::listio
