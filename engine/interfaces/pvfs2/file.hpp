#pragma once
#include <array>
#include <string>

#include "interfaces/interface.hpp"
#include "interfaces/pvfs2/calls.hpp"

namespace strider {

enum class Pvfs2Method { multiple, list };

/// The layout that a file has. Throws IoError.
Pvfs2Layout pvfs2_layout_of(const Pvfs2Calls& calls, const std::string& path, PVFS_object_ref file);

class Pvfs2File final : public File {
 public:
  static constexpr std::uint64_t largest_piece = std::uint64_t{1} << 30;
  /// Pieces of a request description that the library encodes into one message: it takes 100 at most.
  static constexpr std::size_t largest_list = 64;

  Pvfs2File(Pvfs2Calls calls, PVFS_object_ref file, std::string path, Pvfs2Method method, Pvfs2Caches caches)
      : calls_(std::move(calls)), file_(file), path_(std::move(path)), method_(method), caches_(caches) {}

  void write(const Request& request) override { move(PVFS_IO_WRITE, request); }
  void read(const Request& request) override { move(PVFS_IO_READ, request); }
  void sync() override;
  /// The system interface has no open files: there is nothing to close.
  void close() override {}
  std::uint64_t size() override;
  Facts facts() const override;

 private:
  void move(enum PVFS_io_type type, const Request& request);
  void move_extent(enum PVFS_io_type type, const Extent& extent, std::byte* memory);
  void move_list(enum PVFS_io_type type, std::span<const Extent> extents, std::byte* memory);

  Pvfs2Calls calls_;
  PVFS_object_ref file_;
  std::string path_;
  Pvfs2Method method_;
  Pvfs2Caches caches_;
};

}  // namespace strider
