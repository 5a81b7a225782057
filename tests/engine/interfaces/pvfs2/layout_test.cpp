// How OrangeFS describes the layout of a file, and how that is compared with the one asked for; without OrangeFS.
#include "interfaces/pvfs2/layout.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace strider {
namespace {

using Bytes = std::vector<std::byte>;

void append(Bytes& bytes, std::uint64_t number, std::size_t length) {
  for (std::size_t i = 0; i < length; ++i) bytes.push_back(std::byte(number >> (8 * i) & 0xffU));
}

/// The beginning of a distribution: the length of its name, the name with a zero behind it, zeros up to a multiple
/// of 8.
Bytes named(std::string_view name) {
  Bytes bytes;
  append(bytes, name.size(), 4);
  for (const char letter : name) bytes.push_back(std::byte(letter));
  do bytes.push_back({});
  while (bytes.size() % 8 != 0);
  return bytes;
}

TEST(Pvfs2Distribution, HasANameAndTheSizeOfAStripe) {
  Bytes simple = named("simple_stripe");
  append(simple, 65536, 8);
  const auto found = decode_distribution(simple);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->distribution, "simple_stripe");
  EXPECT_EQ(found->stripe_size, 65536U);
}

TEST(Pvfs2Distribution, OfGroupsHasTheirNumberBeforeTheSize) {
  Bytes grouped = named("twod_stripe");
  append(grouped, 2, 4);  // groups
  append(grouped, 1U << 20U, 8);
  append(grouped, 256, 4);  // stripes of a group
  const auto found = decode_distribution(grouped);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->distribution, "twod_stripe");
  EXPECT_EQ(found->stripe_size, 1U << 20U);
}

TEST(Pvfs2Distribution, MayHaveNoStripes) {
  for (const char* name : {"basic_dist", "varstrip_dist", "of_tomorrow"}) {
    Bytes bytes = named(name);
    append(bytes, ~0U, 4);
    const auto found = decode_distribution(bytes);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(found->distribution, name);
    EXPECT_EQ(found->stripe_size, 0U) << name;
  }
}

TEST(Pvfs2Distribution, IsNoneWhereBytesAreMissing) {
  for (const char* name : {"simple_stripe", "twod_stripe"}) {
    Bytes bytes = named(name);
    append(bytes, 2, name[0] == 't' ? 4 : 0);
    append(bytes, 65536, 8);
    ASSERT_TRUE(decode_distribution(bytes)) << name;
    while (!bytes.empty()) {
      bytes.pop_back();
      EXPECT_FALSE(decode_distribution(bytes)) << name << " of " << bytes.size() << " bytes";
    }
  }
}

TEST(Pvfs2Distribution, IsNoneWhereTheLengthIsNone) {
  for (const std::uint64_t length : {0ULL, 60ULL, 0xffffffffULL}) {
    Bytes bytes;
    append(bytes, length, 4);
    append(bytes, 0, 60);
    EXPECT_FALSE(decode_distribution(bytes)) << length;
  }
}

const Pvfs2Layout found{.distribution = "simple_stripe", .stripe_size = 65536, .data_files = 4};

std::string message_of(const Pvfs2Layout& asked, const Pvfs2Layout& in_force = found) {
  const auto difference = difference_of(asked, in_force);
  return difference ? difference->message : "";
}

TEST(Pvfs2Difference, IsNoneWhereTheLayoutIsAsAskedFor) {
  EXPECT_EQ(message_of({}), "");
  EXPECT_EQ(message_of(found), "");
  EXPECT_EQ(message_of({.data_files = 4}), "");
  EXPECT_EQ(message_of({.distribution = "simple_stripe"}), "");
}

TEST(Pvfs2Difference, NamesBothValues) {
  EXPECT_EQ(message_of({.distribution = "twod_stripe"}),
            "the new file has the distribution \"simple_stripe\" instead of \"twod_stripe\"");
  EXPECT_EQ(message_of({.stripe_size = 4096}), "the new file has a stripe size of 65536 bytes instead of 4096");
  EXPECT_EQ(message_of({.data_files = 99}),
            "the new file has 4 data files instead of 99: OrangeFS has at most one on each server, and one in all with "
            "basic_dist");
  EXPECT_EQ(message_of({.data_files = 3}, {"basic_dist", 0, 1}).substr(0, 45),
            "the new file has 1 data file instead of 3: Or");
}

TEST(Pvfs2Difference, HasTheValueInForceAsRemedy) {
  EXPECT_EQ(difference_of({.data_files = 99}, found)->remedy, "set pvfs2.data_files to 4, or to 0");
}

}  // namespace
}  // namespace strider
