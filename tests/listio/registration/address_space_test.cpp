#include "listio/registration/address_space.hpp"

#include <gtest/gtest.h>

#include "memory.hpp"

namespace strider::listio {
namespace {

class AddressSpaceTest : public testing::TestWithParam<AddressSpace::Source> {
 protected:
  std::vector<Range> accessible(const Range& range, Access access = Access::read_write) {
    return memory_.accessible(range, access);
  }
  AddressSpace memory_{GetParam()};
};

// proves listio: untouched-holes
TEST_P(AddressSpaceTest, AMappedRangeIsAllThere) {
  const Pages pages(8);
  EXPECT_EQ(accessible(pages.pages(2, 4)), (std::vector<Range>{pages.pages(2, 4)}));
  EXPECT_TRUE(memory_.is_accessible(pages.pages(0, 8), Access::read_write));
}

// proves listio: page-query
TEST_P(AddressSpaceTest, HolesAreLeftOut) {
  const Pages pages(8);
  pages.unmap(2);
  pages.protect(5, PROT_NONE);
  EXPECT_EQ(accessible(pages.pages(1, 6)),
            (std::vector<Range>{pages.pages(1, 1), pages.pages(3, 2), pages.pages(6, 1)}));
  EXPECT_FALSE(memory_.is_accessible(pages.pages(0, 8), Access::read));
}

TEST_P(AddressSpaceTest, ReadOnlyMemoryIsThereToRead) {
  const Pages pages(3);
  pages.protect(1, PROT_READ);
  EXPECT_EQ(accessible(pages.pages(0, 3)), (std::vector<Range>{pages.pages(0, 1), pages.pages(2, 1)}));
  EXPECT_EQ(accessible(pages.pages(0, 3), Access::read), (std::vector<Range>{pages.pages(0, 3)}));
}

TEST_P(AddressSpaceTest, NothingIsThereWhereNothingIsMapped) {
  const Pages pages(8);
  pages.unmap(2, 4);
  EXPECT_EQ(accessible(pages.pages(2, 4)), std::vector<Range>{});
  EXPECT_FALSE(memory_.is_accessible(pages.pages(2, 4), Access::read));
}

TEST_P(AddressSpaceTest, MappingsSideBySideAreOneRange) {
  const Pages pages(4);
  ::madvise(pages.at(1), page_bytes(), MADV_DONTFORK);  // a mapping of its own for the kernel
  EXPECT_EQ(accessible(pages.pages(0, 4)), (std::vector<Range>{pages.pages(0, 4)}));
}

// proves listio: page-query
TEST_P(AddressSpaceTest, QuestionsAreCounted) {
  const Pages pages(4);
  accessible(pages.pages(0, 4));
  EXPECT_GT(memory_.queries(), 0);
  EXPECT_GT(memory_.query_us(), 0);
}

INSTANTIATE_TEST_SUITE_P(Sources, AddressSpaceTest,
                         testing::Values(AddressSpace::Source::best, AddressSpace::Source::text),
                         [](const auto& each) { return each.param == AddressSpace::Source::best ? "Best" : "Text"; });

}  // namespace
}  // namespace strider::listio
