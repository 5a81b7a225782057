#include "listio/transfer/frame.hpp"

#include <algorithm>

#include "listio/protocol/bytes.hpp"
#include "listio/transfer/transport.hpp"

namespace strider::listio {
namespace {

constexpr std::uint64_t magic = 0x6f69'7473'696c'7473;  // "stlistio"
constexpr std::size_t name_bytes = 16;

}  // namespace

FrameHead write_head(const Frame& frame) {
  ByteWriter writer;
  writer.number(static_cast<std::uint16_t>(frame.kind)).number(frame.padding).number(frame.key);
  writer.number(frame.offset).number(frame.length);
  const std::vector<std::byte> bytes = writer.take();
  FrameHead head;
  std::copy(bytes.begin(), bytes.end(), head.begin());
  return head;
}

std::optional<Frame> read_head(std::span<const std::byte, Frame::head_bytes> head) {
  ByteReader reader(head);
  Frame frame;
  frame.kind = static_cast<Frame::Kind>(reader.number<std::uint16_t>());
  frame.padding = reader.number<std::uint16_t>();
  frame.key = reader.number<std::uint32_t>();
  frame.offset = reader.number<std::uint64_t>();
  frame.length = reader.number<std::uint64_t>();
  const bool has_data = frame.kind == Frame::Kind::put || frame.kind == Frame::Kind::got;
  if (frame.padding > (has_data ? Frame::most_padding : 0)) return {};
  switch (frame.kind) {
    case Frame::Kind::greeting: return frame.length <= Frame::most_greeting_bytes ? std::optional(frame) : std::nullopt;
    case Frame::Kind::message:
      return frame.length <= Transport::most_message_bytes ? std::optional(frame) : std::nullopt;
    case Frame::Kind::put:
    case Frame::Kind::get:
    case Frame::Kind::got: return frame;
  }
  return {};
}

std::vector<std::byte> write_greeting(const Greeting& greeting) {
  std::array<char, name_bytes> name{};
  std::copy_n(greeting.transport.begin(), std::min(greeting.transport.size(), name.size()), name.begin());
  ByteWriter writer;
  writer.number(magic).number(Greeting::version).raw(std::as_bytes(std::span(name)));
  writer.number(greeting.process).number(greeting.probe_address).number(greeting.probe).raw(greeting.extension);
  return writer.take();
}

std::optional<Greeting> read_greeting(std::span<const std::byte> bytes, std::string& refusal) {
  ByteReader reader(bytes);
  if (reader.number<std::uint64_t>() != magic) {
    refusal = "does not speak the list-I/O protocol";
    return {};
  }
  const auto version = reader.number<std::uint32_t>();
  if (version != Greeting::version) {
    refusal = "speaks version " + std::to_string(version) + " of the transport, but this side version " +
              std::to_string(Greeting::version) + "; use the same release of Strider on both sides";
    return {};
  }
  Greeting greeting;
  const std::span<const std::byte> name = reader.raw(name_bytes);
  greeting.transport.assign(reinterpret_cast<const char*>(name.data()), name.size());
  greeting.transport.resize(std::min(greeting.transport.find('\0'), greeting.transport.size()));
  greeting.process = reader.number<std::uint64_t>();
  greeting.probe_address = reader.number<std::uint64_t>();
  greeting.probe = reader.number<std::uint64_t>();
  const std::span<const std::byte> extension = reader.raw(reader.rest().size());
  greeting.extension.assign(extension.begin(), extension.end());
  if (!reader.complete()) {
    refusal = "sent a greeting that is too short";
    return {};
  }
  return greeting;
}

}  // namespace strider::listio
