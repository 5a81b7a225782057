#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strider::listio {

/// What travels on a stream connection: a head of 24 bytes, `padding` bytes that mean nothing, then `length` bytes,
/// except after a `get`. All numbers are little-endian. `put` and `get` name memory that the receiver has exposed, by
/// `key` and `offset`; `got` answers the oldest `get` that has no answer yet, and repeats what it names.
struct Frame {
  enum class Kind : std::uint16_t { greeting = 1, message = 2, put = 3, get = 4, got = 5 };
  static constexpr std::size_t head_bytes = 24;
  static constexpr std::uint64_t most_greeting_bytes = 1024;
  static constexpr std::uint16_t most_padding = 128;

  Kind kind = Kind::message;
  std::uint32_t key = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::uint16_t padding = 0;  ///< of `put` and `got` alone
};

using FrameHead = std::array<std::byte, Frame::head_bytes>;

FrameHead write_head(const Frame& frame);
/// Nothing if there is no such kind, a greeting or message is longer than one may be, or there is more padding.
std::optional<Frame> read_head(std::span<const std::byte, Frame::head_bytes> head);

/// The first thing that both sides say: who they are. In every version its frame and its beginning are the same.
struct Greeting {
  /// Of frames. 1: the kind had four bytes, and nothing was padded. 2: `got` named no memory.
  static constexpr std::uint32_t version = 3;

  std::string transport;             ///< its name, at most 16 bytes
  std::uint64_t process = 0;         ///< pid
  std::uint64_t probe_address = 0;   ///< where in the process's memory `probe` is
  std::uint64_t probe = 0;           ///< a random number: whoever reads it there reads the memory of the right process
  std::vector<std::byte> extension;  ///< what a transport on top of streams has to say, such as its own address
};

std::vector<std::byte> write_greeting(const Greeting& greeting);
/// The greeting, or in `refusal` why it is none.
std::optional<Greeting> read_greeting(std::span<const std::byte> bytes, std::string& refusal);

}  // namespace strider::listio
