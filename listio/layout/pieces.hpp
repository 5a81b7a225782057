#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "foundation/extent.hpp"
#include "listio/layout/byte_run.hpp"
#include "listio/layout/striping.hpp"

namespace strider::listio {

/// The pieces of a transfer: byte i of all memory runs, one after the other, belongs to byte i of all file runs. The
/// lists may be cut differently; their lengths have to add up to the same. Each piece is contiguous in memory and in
/// the file, in the order of the lists; neighbours that continue each other on both sides are one piece; runs of no
/// bytes vanish. At most as many pieces as there are runs, in time proportional to that. InputError if the sums differ
/// or a run goes beyond what a file or the memory can have.
std::vector<Extent> match(std::span<const ByteRun> memory, std::span<const ByteRun> file);

/// What each server has to do with a list of pieces: `of(server)` are its pieces, with offsets in its data file instead
/// of the file, in the order of the list. Hence they increase where the list increases.
class ServerLists {
 public:
  std::uint32_t servers() const { return static_cast<std::uint32_t>(begin_.size() - 1); }
  std::span<const Extent> of(std::uint32_t server) const {
    return std::span(pieces_).subspan(begin_[server], begin_[server + 1] - begin_[server]);
  }

 private:
  friend ServerLists distribute(const Striping& striping, std::span<const Extent> pieces);
  std::vector<std::size_t> begin_;  ///< of each server's pieces in `pieces_`, and the end of the last one's
  std::vector<Extent> pieces_;
};

/// Cuts pieces at the ends of strips and sorts them by server. Neighbours on a server that continue each other in its
/// data file and in memory are one piece. Time and memory in proportion to servers plus pieces after cutting.
ServerLists distribute(const Striping& striping, std::span<const Extent> pieces);

/// The inverse for one server: its pieces, cut at the ends of strips, with offsets in the file. In their order.
/// InputError if an offset is beyond any file.
std::vector<Extent> collect(const Striping& striping, std::uint32_t server, std::span<const Extent> server_pieces);

}  // namespace strider::listio
