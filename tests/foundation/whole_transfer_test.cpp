#include "foundation/whole_transfer.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <vector>

#include "foundation/descriptor.hpp"

namespace strider {
namespace {

/// Calls that answer one after the other as given; and their requests.
struct Scripted {
  std::vector<std::int64_t> answers;
  std::vector<std::uint64_t> asked;
  std::int64_t operator()(std::uint64_t done) {
    asked.push_back(done);
    return answers.at(asked.size() - 1);
  }
};

Transferred transfer(std::uint64_t length, Scripted& calls) {
  return transfer_whole(length, [&](std::uint64_t done) { return calls(done); });
}

TEST(WholeTransfer, ContinuesShortCallsAndRepeatsInterruptedOnes) {
  Scripted calls{{3, -EINTR, 1, 6}, {}};
  const Transferred moved = transfer(10, calls);
  EXPECT_EQ(moved.bytes, 10U);
  EXPECT_EQ(moved.error_number, 0);
  EXPECT_EQ(calls.asked, (std::vector<std::uint64_t>{0, 3, 3, 4}));
}

TEST(WholeTransfer, EndsWhereNothingIsMoved) {
  Scripted calls{{4, 0}, {}};
  const Transferred moved = transfer(10, calls);
  EXPECT_EQ(moved.bytes, 4U);
  EXPECT_EQ(moved.error_number, 0);
}

TEST(WholeTransfer, EndsWhereACallFails) {
  Scripted calls{{4, -ENOSPC}, {}};
  const Transferred moved = transfer(10, calls);
  EXPECT_EQ(moved.bytes, 4U);
  EXPECT_EQ(moved.error_number, ENOSPC);
}

TEST(WholeTransfer, OfNothingMakesNoCall) {
  Scripted calls;
  EXPECT_EQ(transfer(0, calls).bytes, 0U);
  EXPECT_TRUE(calls.asked.empty());
}

TEST(WholeTransfer, SaysWhereItStopped) {
  std::array<std::byte, 10> memory{};
  const std::string file = "/f";
  const auto move = [&](std::vector<std::int64_t> answers) -> IoError::What {
    Scripted calls{std::move(answers), {}};
    try {
      move_whole({"x_", "pread", file}, memory.data(), memory.size(), 100,
                 [&](std::byte*, std::uint64_t, std::uint64_t offset) { return calls(offset); });
    } catch (const IoError& error) {
      return error.details();
    }
    return {};
  };
  const IoError::What failed = move({4, -EIO});
  EXPECT_EQ(failed.call, "x_pread");
  EXPECT_EQ(failed.offset, 104U);
  EXPECT_EQ(failed.length, 6U);
  EXPECT_EQ(failed.error_number, EIO);
  EXPECT_EQ(move({4, 0}).error_number, 0);
  EXPECT_EQ(move({4, 0}).offset, 104U);
  EXPECT_EQ(move({4, 6}).call, "");
}

/// Copies to pieces of memory at most so many bytes at a time.
struct Source {
  std::string text;
  std::uint64_t at_once;
  std::int64_t operator()(const iovec* pieces, int count, std::uint64_t offset) const {
    std::uint64_t moved = 0;
    for (int i = 0; i < count; ++i)
      for (std::size_t k = 0; k < pieces[i].iov_len; ++k, ++moved) {
        if (moved == at_once || offset + moved == text.size()) return static_cast<std::int64_t>(moved);
        static_cast<char*>(pieces[i].iov_base)[k] = text[offset + moved];
      }
    return static_cast<std::int64_t>(moved);
  }
};

TEST(WholeTransfer, OfPiecesGoesOnInTheMiddleOfOne) {
  for (std::uint64_t at_once = 1; at_once <= 10; ++at_once) {
    std::array<char, 3> first{};
    std::array<char, 5> second{};
    std::vector<iovec> list{{first.data(), 3}, {first.data(), 0}, {second.data(), 5}, {first.data(), 0}};
    std::span<iovec> pieces(list);
    const Transferred moved = transfer_pieces(pieces, 2, Source{"..abcdefgh", at_once});
    EXPECT_EQ(moved.bytes, 8U);
    EXPECT_TRUE(pieces.empty());
    EXPECT_EQ(std::string(first.data(), 3) + std::string(second.data(), 5), "abcdefgh") << at_once;
  }
}

TEST(WholeTransfer, LeavesThePiecesThatWereNotMoved) {
  std::array<char, 8> memory{};
  std::vector<iovec> list{{memory.data(), 3}, {memory.data() + 3, 5}};
  std::span<iovec> pieces(list);
  const Transferred moved = transfer_pieces(pieces, 0, Source{"abcde", 8});
  EXPECT_EQ(moved.bytes, 5U);
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].iov_base, memory.data() + 5);
  EXPECT_EQ(pieces[0].iov_len, 3U);
}

TEST(WholeTransfer, ReadsToTheEndOrToALimit) {
  for (const std::uint64_t most : {5ULL, 100'000ULL}) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const Descriptor from(ends[0]);
    Descriptor to(ends[1]);
    const std::string sent(40'000, 'x');
    ASSERT_EQ(::write(to.get(), sent.data(), sent.size()), 40'000);
    to.close();
    std::string text = "y";
    EXPECT_EQ(read_to_end(from.get(), text, most).error_number, 0);
    EXPECT_EQ(text, "y" + sent.substr(0, most));
  }
  std::string text;
  EXPECT_EQ(read_to_end(-1, text).error_number, EBADF);
}

TEST(ReadToEnd, EndsWhereItMay) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Descriptor from(ends[0]), to(ends[1]);
  const std::string written(30'000, 'x');
  ASSERT_EQ(::write(to.get(), written.data(), written.size()), 30'000);
  std::string text;
  EXPECT_EQ(read_to_end(from.get(), text, 20'000).bytes, 20'000U);
  EXPECT_EQ(text.size(), 20'000U);
}

}  // namespace
}  // namespace strider
