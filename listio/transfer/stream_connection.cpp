#include "listio/transfer/stream_connection.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "foundation/bounds.hpp"

namespace strider::listio {
namespace {

constexpr std::size_t buffer_bytes = 16384;
/// The kernel copies data to where the head ends in a page. Processors copy slowly to a place that is some bytes,
/// modulo a page, after where it comes from (a store seems to be what the next load needs): half as fast, where memory
/// begins 16 bytes into a page, as large blocks of malloc do. Padding moves the place away from the beginning of pages,
/// where most memory begins.
constexpr std::uint16_t padding = 104;
constexpr std::size_t least_padded = 4096;
constexpr std::array<std::byte, padding> nothing{};

Frame padded(Frame frame) {
  if (frame.length >= least_padded) frame.padding = padding;
  return frame;
}

iovec padding_of(const Frame& frame) { return {const_cast<std::byte*>(nothing.data()), frame.padding}; }  // only read

constexpr int most_reads = 16;  // system calls before others have their turn

[[noreturn]] void fail(int error) { throw StreamError(std::generic_category().message(error), error); }

bool carries_text(Frame::Kind kind) { return kind == Frame::Kind::greeting || kind == Frame::Kind::message; }

}  // namespace

void StreamConnection::Cursor::advance(std::size_t bytes) {
  while (at_ < pieces_.size() && bytes >= pieces_[at_].iov_len) bytes -= pieces_[at_++].iov_len;
  if (at_ == pieces_.size()) return;
  pieces_[at_].iov_base = static_cast<char*>(pieces_[at_].iov_base) + bytes;
  pieces_[at_].iov_len -= bytes;
}

StreamConnection::StreamConnection(Descriptor socket) : socket_(std::move(socket)) {}

std::size_t StreamConnection::send_now(std::span<const iovec> pieces) const {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(pieces.data());  // the kernel does not write to it
  message.msg_iovlen = std::min(pieces.size(), most_pieces);
  for (;;) {
    const ssize_t sent = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) return static_cast<std::size_t>(sent);
    if (errno == EAGAIN || errno == EWOULDBLOCK) return 0;
    if (errno != EINTR) fail(errno);
  }
}

/// Keeps what the socket did not take: all of head, copy and pieces except the first `sent` bytes.
void StreamConnection::push(const Frame& frame, std::vector<std::byte> copy, std::vector<iovec> pieces,
                            std::optional<std::uint64_t> token, std::size_t sent) {
  Outgoing& item = out_.emplace_back();
  item.head = write_head(frame);
  item.copy = std::move(copy);
  item.token = token;
  item.kind = frame.kind;
  if (frame.kind == Frame::Kind::got) ++answers_;
  std::vector<iovec> all;
  all.reserve(pieces.size() + 3);
  all.push_back({item.head.data(), item.head.size()});
  all.push_back(padding_of(frame));
  if (!item.copy.empty()) all.push_back({item.copy.data(), item.copy.size()});
  all.insert(all.end(), pieces.begin(), pieces.end());
  item.rest = Cursor(std::move(all));
  item.rest.advance(sent);
}

void StreamConnection::send(Frame::Kind kind, std::span<const std::byte> bytes) {
  const Frame frame{kind, 0, 0, bytes.size()};
  std::size_t sent = 0;
  if (out_.empty()) {
    FrameHead head = write_head(frame);
    const iovec pieces[] = {{head.data(), head.size()},
                            {const_cast<std::byte*>(bytes.data()), bytes.size()}};  // only read
    sent = send_now(pieces);
    if (sent == head.size() + bytes.size()) return;
  }
  push(frame, {bytes.begin(), bytes.end()}, {}, {}, sent);
}

bool StreamConnection::put(const Frame& bare, std::span<const iovec> pieces, std::uint64_t token) {
  const Frame frame = padded(bare);
  const std::size_t all = Frame::head_bytes + frame.padding + frame.length;
  std::size_t sent = 0;
  if (out_.empty()) {
    FrameHead head = write_head(frame);
    scratch_.assign({{head.data(), head.size()}, padding_of(frame)});
    scratch_.insert(scratch_.end(), pieces.begin(),
                    pieces.begin() + static_cast<std::ptrdiff_t>(std::min(pieces.size(), most_pieces - 2)));
    sent = send_now(scratch_);
    if (sent == all) return true;
  }
  push(frame, {}, {pieces.begin(), pieces.end()}, token, sent);
  return false;
}

void StreamConnection::get(const Frame& frame, std::span<const iovec> pieces, std::uint64_t token) {
  gets_.push_back({Cursor({pieces.begin(), pieces.end()}), frame, token});
  std::size_t sent = 0;
  if (out_.empty()) {
    FrameHead head = write_head(frame);
    const iovec piece{head.data(), head.size()};
    sent = send_now({&piece, 1});
    if (sent == head.size()) return;
  }
  push(frame, {}, {}, {}, sent);
}

std::uint32_t StreamConnection::expose(std::span<std::byte> memory) {
  exposed_.push_back(memory);
  return static_cast<std::uint32_t>(exposed_.size() - 1);
}

std::span<std::byte> StreamConnection::exposed(const Frame& frame) const {
  if (frame.key >= exposed_.size()) throw StreamError("addressed memory that was not exposed to it");
  const std::span<std::byte> memory = exposed_[frame.key];
  if (!ends_within(frame.offset, frame.length, memory.size()))
    throw StreamError("names " + std::to_string(frame.length) + " bytes at " + std::to_string(frame.offset) + " of " +
                      std::to_string(memory.size()) + " that were exposed to it");
  return memory.subspan(frame.offset, frame.length);
}

void StreamConnection::answer_get(const Frame& frame) {
  const std::span<std::byte> memory = exposed(frame);
  push(padded({Frame::Kind::got, frame.key, frame.offset, frame.length}), {}, {{memory.data(), memory.size()}}, {}, 0);
}

void StreamConnection::write(StreamEvents& events) {
  while (!out_.empty()) {
    Outgoing& item = out_.front();
    while (!item.rest.done()) {
      const std::size_t sent = send_now(item.rest.rest());
      if (sent == 0) return;
      item.rest.advance(sent);
    }
    const std::optional<std::uint64_t> token = item.token;
    if (item.kind == Frame::Kind::got) --answers_;
    out_.pop_front();
    if (token) events.completed(*token);
    if (stopped_) return;
  }
}

bool StreamConnection::read_some() {
  const bool direct = frame_ && !into_.done() && begin_ == end_;
  if (begin_ == end_) begin_ = end_ = 0;
  iovec buffer{buffer_.data() + end_, buffer_.size() - end_};
  msghdr message{};
  message.msg_iov = direct ? into_.rest().data() : &buffer;
  message.msg_iovlen = direct ? std::min(into_.rest().size(), most_pieces) : 1;
  std::size_t room = 0;
  for (const iovec& piece : std::span(message.msg_iov, message.msg_iovlen)) room += piece.iov_len;
  for (;;) {
    const ssize_t count = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT);
    if (count == 0) throw StreamError("the other side has closed the connection");
    if (count > 0) {
      if (direct) into_.advance(static_cast<std::size_t>(count));
      else end_ += static_cast<std::size_t>(count);
      return static_cast<std::size_t>(count) == room;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) return false;
    if (errno != EINTR) fail(errno);
  }
}

void StreamConnection::shrink() {
  if (!was_read_ && begin_ == end_) buffer_ = {};
  was_read_ = false;
}

void StreamConnection::read(StreamEvents& events) {
  bool more = true;
  was_read_ = true;
  if (buffer_.empty()) buffer_.resize(buffer_bytes);
  for (int i = 0; i < most_reads && more && !stopped_ && wants_to_read(); ++i) {
    more = read_some();
    while (!stopped_ && consume(events)) continue;
  }
  if (!stopped_ && wants_to_write()) write(events);
}

/// Takes the next step with what was read; whether there was one.
bool StreamConnection::consume(StreamEvents& events) {
  if (!frame_) {
    if (end_ - begin_ < Frame::head_bytes) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
      return false;
    }
    consume_head();
    return true;
  }
  if (carries_text(frame_->kind)) {
    if (begin_ == end_ && text_.size() < frame_->length) return false;
    consume_text(events);
    return true;
  }
  fill_from_buffer();
  if (!into_.done()) return false;
  end_transfer(events);
  return true;
}

void StreamConnection::consume_head() {
  const auto head = std::span<const std::byte>(buffer_).subspan(begin_).first<Frame::head_bytes>();
  begin_ += Frame::head_bytes;
  const std::optional<Frame> frame = read_head(head);
  if (!frame) throw StreamError("sent an invalid frame");
  switch (frame->kind) {
    case Frame::Kind::get: answer_get(*frame); return;
    case Frame::Kind::put: {
      const std::span<std::byte> memory = exposed(*frame);
      into_ = Cursor({{memory.data(), memory.size()}});
      break;
    }
    case Frame::Kind::got:
      if (gets_.empty() || !gets_.front().is_answered_by(*frame)) throw StreamError("sent data that was not requested");
      into_ = std::move(gets_.front().into);
      break;
    case Frame::Kind::greeting:
    case Frame::Kind::message: text_.clear();
  }
  if (frame->padding > 0) into_.prepend({ignored_.data(), frame->padding});
  frame_ = frame;
}

void StreamConnection::consume_text(StreamEvents& events) {
  const std::size_t count = std::min<std::size_t>(end_ - begin_, frame_->length - text_.size());
  const std::span<const std::byte> fresh(buffer_.data() + begin_, count);
  begin_ += count;
  const bool whole = count == frame_->length;  // so that it need not be copied
  if (!whole) text_.insert(text_.end(), fresh.begin(), fresh.end());
  if (!whole && text_.size() < frame_->length) return;
  const Frame::Kind kind = frame_->kind;
  frame_.reset();
  const std::span<const std::byte> text = whole ? fresh : std::span<const std::byte>(text_);
  if (kind == Frame::Kind::greeting) events.greeted(text);
  else events.received(text);
}

void StreamConnection::fill_from_buffer() {
  while (begin_ < end_ && !into_.done()) {
    const iovec piece = into_.rest().front();
    const std::size_t count = std::min(end_ - begin_, piece.iov_len);
    std::memcpy(piece.iov_base, buffer_.data() + begin_, count);
    begin_ += count;
    into_.advance(count);
  }
}

void StreamConnection::end_transfer(StreamEvents& events) {
  const Frame::Kind kind = frame_->kind;
  frame_.reset();
  if (kind != Frame::Kind::got) return;
  const std::uint64_t token = gets_.front().token;
  gets_.pop_front();
  events.completed(token);
}

}  // namespace strider::listio
