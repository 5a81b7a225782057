#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

namespace strider::listio {

/// Memory for clients' communication buffers, in a range of addresses that is reserved once. A client that is believed
/// dead may still be about to write into its buffers, and cannot be stopped; so memory that is given back goes to the
/// kernel, and its addresses are used again only after all others were (a terabyte later).
class Windows {
 public:
  /// std::system_error if not even a gigabyte of addresses is free.
  Windows();
  ~Windows();
  Windows(const Windows&) = delete;
  Windows& operator=(const Windows&) = delete;

  /// Readable and writable addresses at the begin of a huge page; empty if there are not so many. A page of them takes
  /// memory when it is first used.
  std::span<std::byte> take(std::size_t bytes);
  /// Takes the memory of a window that will be used often, in huge pages as far as it fills them.
  static void populate(std::span<std::byte> window);
  /// Gives the memory of the whole pages in a part of a window back to the kernel. The addresses stay taken.
  static void discard(std::span<std::byte> part);
  void give_back(std::span<std::byte> window);

 private:
  /// Where the next window of so many bytes may begin, at `offset` or later; none up to the end of the addresses.
  std::optional<std::size_t> find_free(std::size_t offset, std::size_t size) const;

  std::byte* begin_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t next_ = 0;                     ///< where the next window may begin
  std::map<std::size_t, std::size_t> used_;  ///< beginnings and ends
};

}  // namespace strider::listio
