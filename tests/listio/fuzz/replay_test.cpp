// The corpus, and thousands of mutations of it that are the same every time: what can be done without a fuzzer.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "fuzz/target.hpp"
#include "random_lists.hpp"

namespace strider::listio {
namespace {

std::vector<std::vector<std::byte>> corpus() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(STRIDER_LISTIO_CORPUS)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::vector<std::byte>> all;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> text{std::istreambuf_iterator<char>(file), {}};
    const auto bytes = std::as_bytes(std::span(text));
    all.emplace_back(bytes.begin(), bytes.end());
  }
  return all;
}

/// Some bytes changed, to anything or to critical values; a part cut out or doubled.
std::vector<std::byte> mutated(Dice& dice, std::vector<std::byte> bytes) {
  for (std::uint64_t i = dice.roll(1, 4); i > 0 && bytes.size() > 1; --i) {
    const auto at = static_cast<std::ptrdiff_t>(dice.roll(1, bytes.size() - 1));
    const auto length = static_cast<std::ptrdiff_t>(dice.roll(0, std::min<std::size_t>(bytes.size() - 1, 16)));
    const auto end = std::min(at + length, static_cast<std::ptrdiff_t>(bytes.size()));
    switch (dice.roll(0, 4)) {
      case 0: bytes[static_cast<std::size_t>(at)] = static_cast<std::byte>(dice.roll(0, 255)); break;
      case 1: std::fill(bytes.begin() + at, bytes.begin() + end, std::byte{0xff}); break;
      case 2: std::fill(bytes.begin() + at, bytes.begin() + end, std::byte{0}); break;
      case 3: bytes.erase(bytes.begin() + at, bytes.begin() + end); break;
      default: {
        const std::vector<std::byte> part(bytes.begin() + at, bytes.begin() + end);
        bytes.insert(bytes.begin() + at, part.begin(), part.end());
      }
    }
  }
  return bytes;
}

TEST(FuzzTest, NothingFromOutsideHurts) {
  const auto all = corpus();
  ASSERT_GE(all.size(), 10);
  Dice dice(1);
  for (const auto& each : all) {
    take_from_outside(each);
    const bool starts_a_server = !each.empty() && std::to_integer<int>(each.front()) % 4 == 3;
    for (int i = 0; i < (starts_a_server ? 50 : 1000); ++i) take_from_outside(mutated(dice, each));
  }
}

}  // namespace
}  // namespace strider::listio
