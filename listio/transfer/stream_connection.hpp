#pragma once
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "foundation/descriptor.hpp"
#include "listio/transfer/frame.hpp"

namespace strider::listio {

/// A connection that cannot go on; `what` says why.
class StreamError : public std::runtime_error {
 public:
  explicit StreamError(const std::string& reason, int error_number = 0)
      : std::runtime_error(reason), error_number_(error_number) {}
  /// errno of the call that failed; 0 if none did.
  int error_number() const { return error_number_; }

 private:
  int error_number_;
};

/// What comes out of a stream connection.
class StreamEvents {
 public:
  virtual ~StreamEvents() = default;
  virtual void greeted(std::span<const std::byte> greeting) = 0;
  virtual void received(std::span<const std::byte> message) = 0;
  virtual void completed(std::uint64_t token) = 0;
};

/// One stream socket (which it owns and never waits on) and the frames on it, both directions. StreamError from any
/// call that reads or writes: the connection is of no use then.
class StreamConnection {
 public:
  explicit StreamConnection(Descriptor socket);
  StreamConnection(const StreamConnection&) = delete;
  StreamConnection& operator=(const StreamConnection&) = delete;

  int socket() const { return socket_.get(); }
  /// What there is to wait for. Nothing is read while too many answers wait for a peer that does not take them.
  bool wants_to_read() const { return answers_ < most_answers; }
  bool wants_to_write() const { return !out_.empty(); }

  /// Sends a copy, now or when the socket takes it.
  void send(Frame::Kind kind, std::span<const std::byte> bytes);
  /// Sends the pieces. Whether they are all in the socket: otherwise `completed` reports it later.
  bool put(const Frame& frame, std::span<const iovec> pieces, std::uint64_t token);
  /// Asks for what `frame` says, to be written to the pieces.
  void get(const Frame& frame, std::span<const iovec> pieces, std::uint64_t token);
  /// The key by which the peer names `memory` from now on.
  std::uint32_t expose(std::span<std::byte> memory);

  /// Takes what has arrived, up to some megabytes, so that others have their turn.
  void read(StreamEvents& events);
  /// Sends what waits.
  void write(StreamEvents& events);
  /// Frees the memory to read into if nothing has been read since the last call.
  void shrink();
  /// From within an event: `read` returns without looking at anything more.
  void stop() { stopped_ = true; }

 private:
  static constexpr std::size_t most_answers = 256;
  static constexpr std::size_t most_pieces = 1024;  // of one system call

  /// Pieces of memory that are filled or emptied step by step.
  class Cursor {
   public:
    Cursor() = default;
    explicit Cursor(std::vector<iovec> pieces) : pieces_(std::move(pieces)) { advance(0); }
    std::span<iovec> rest() { return std::span(pieces_).subspan(at_); }
    bool done() const { return at_ == pieces_.size(); }
    void prepend(const iovec& piece) { pieces_.insert(pieces_.begin() + static_cast<std::ptrdiff_t>(at_), piece); }
    void advance(std::size_t bytes);

   private:
    std::vector<iovec> pieces_;
    std::size_t at_ = 0;
  };
  struct Outgoing {
    FrameHead head;
    std::vector<std::byte> copy;
    Cursor rest;
    std::optional<std::uint64_t> token;
    Frame::Kind kind = Frame::Kind::message;
  };
  struct Pending {  // a get without an answer
    Cursor into;
    Frame asked;
    std::uint64_t token = 0;
    bool is_answered_by(const Frame& got) const {
      return got.key == asked.key && got.offset == asked.offset && got.length == asked.length;
    }
  };

  void begin_frame(const Frame& frame);
  bool consume(StreamEvents& events);
  void consume_head();
  void consume_text(StreamEvents& events);
  void fill_from_buffer();
  void end_transfer(StreamEvents& events);
  /// Whether there may be more.
  bool read_some();
  /// The bytes that `frame` speaks of.
  std::span<std::byte> exposed(const Frame& frame) const;
  void answer_get(const Frame& frame);
  void push(const Frame& frame, std::vector<std::byte> copy, std::vector<iovec> pieces,
            std::optional<std::uint64_t> token, std::size_t sent);
  /// The bytes that the socket took; 0 if it is full.
  std::size_t send_now(std::span<const iovec> pieces) const;

  Descriptor socket_;
  bool stopped_ = false;
  std::deque<Outgoing> out_;
  std::size_t answers_ = 0;  ///< to gets, among `out_`
  std::deque<Pending> gets_;
  std::vector<std::span<std::byte>> exposed_;

  bool was_read_ = false;  ///< since the last `shrink`
  std::vector<std::byte>
      buffer_;  ///< empty where nothing was read lately. What was read and not yet looked at is from `begin_` to `end_`
  std::size_t begin_ = 0, end_ = 0;
  std::optional<Frame> frame_;   ///< whose head was read
  std::vector<std::byte> text_;  ///< what there is of a greeting or message
  Cursor into_;                  ///< what is missing of a put or got
  std::array<std::byte, Frame::most_padding> ignored_{};
  std::vector<iovec> scratch_;
};

}  // namespace strider::listio
