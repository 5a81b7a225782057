#pragma once
#include <mpi.h>

#include <optional>
#include <string>

#include "interfaces/interface.hpp"
#include "interfaces/mpi/calls.hpp"
#include "interfaces/mpi_datatype.hpp"

namespace strider {

/// How a request of several extents is done.
enum class Method {
  multiple,  ///< an MPI call for each extent
  list,      ///< one call; a file view made for the request
  view,      ///< one call; one file view for all requests, where they repeat regularly
};
enum class Preallocation { no, yes };
enum class Atomicity { no, yes };
enum class Form { whole, split };

struct MpiOptions {
  Participation participation = Participation::independent;
  Method method = Method::list;
  Pointer pointer = Pointer::none;
  Form form = Form::whole;
  Preallocation preallocation = Preallocation::no;
  Atomicity atomicity = Atomicity::no;
};

/// What one MPI call moves.
struct Piece {
  MPI_Offset offset = 0;  ///< in the file view, where the call takes one
  void* memory = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_BYTE;
  std::uint64_t file_offset = 0;  ///< of its first byte
  std::uint64_t bytes = 0;
  std::uint64_t end = 0;  ///< in the file, behind its last byte
};

/// An open MPI file of one rank: where its requests lie, and everything but the transfers.
class MpiHandle {
 public:
  MpiHandle(const OpenRequest& request, std::string name, MpiOptions options, MPI_Info hints);
  MpiHandle(const MpiHandle&) = delete;
  MpiHandle& operator=(const MpiHandle&) = delete;
  ~MpiHandle();

  MPI_File get() const { return file_; }
  const std::string& name() const { return name_; }
  const MpiOptions& options() const { return options_; }
  void sync();
  void close();
  /// Bytes of the file, as the file system says.
  std::uint64_t size() const;
  /// Throws where a read that MPI calls complete went beyond the end of the file. ROMIO claims that noncontiguous,
  /// collective and atomic reads moved all they should, and what it hands out is whatever was in its buffers.
  void check_end(const char* call, const Piece& piece);
  /// Lets go of the locks of a transfer that failed: ROMIO keeps that of a window which it could not write, and other
  /// ranks would wait for it for ever. All locks that a process has on a file end when it closes any descriptor of it.
  void release_locks() const;
  /// The hints in force, and the driver where it is known.
  Facts facts() const;

  /// A request goes by one call for each extent; else all of it by one call.
  bool by_extents() const { return !lists_; }
  static Piece piece_of(const Extent& extent, std::byte* memory);
  /// A whole request; sets the view unless one serves all. `memory_type` has to live as long as the transfer.
  Piece piece_of(const Request& request, std::optional<ExtentType>& memory_type);
  /// Brings the file pointer to the piece, where transfers go by one: before the call. Throws where a shared pointer
  /// will be elsewhere.
  void go_to(const Piece& piece);
  /// The individual pointer may be anywhere.
  void lose_position() { position_ = nowhere; }

 private:
  void prepare(const OpenRequest& request);
  void preallocate(const OpenRequest& request);
  void view_all(const RegularRequests& regular);
  void view_request(const Request& request);
  void set_view(MPI_Datatype type);
  void follow_order(const Piece& piece);

  static constexpr MPI_Offset nowhere = -1;
  MPI_File file_ = MPI_FILE_NULL;
  std::string name_;
  std::string path_;
  MpiOptions options_;
  Place place_;
  bool size_tells_ = false;       ///< whether a read was complete: MPI's count does not
  std::uint64_t known_size_ = 0;  ///< bytes that the file has at least
  bool lists_ = false;            ///< requests have several extents and go by one call
  std::uint64_t view_bytes_ = 0;  ///< of a request, where one view serves all
  MPI_Offset position_ = 0;       ///< of the pointer by which transfers go
};

/// Bytes that a finished transfer moved.
std::uint64_t bytes_moved(MPI_Status& status);

}  // namespace strider
