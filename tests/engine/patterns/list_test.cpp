// The pattern that reads a file: what it makes of it, and what it says of mistakes.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "foundation/error.hpp"
#include "foundation/folder.hpp"
#include "patterns/pattern.hpp"

namespace strider {
namespace {

class ListOf : public testing::Test {
 protected:
  std::unique_ptr<Pattern> list(const std::string& text) {
    std::ofstream(path_) << text;
    Settings settings;
    settings.set("file", path_);
    return find_pattern("list")->make(settings);
  }
  /// The message for a mistake, without the name of the file that it must begin with.
  std::string mistake(const std::string& text) {
    try {
      list(text);
    } catch (const InputError& error) {
      EXPECT_EQ(error.key(), "file");
      EXPECT_NE(error.remedy(), "");
      const std::string message = error.what();
      EXPECT_EQ(message.substr(0, path_.size()), path_);
      return message.substr(path_.size());
    }
    return "none";
  }
  Folder folder_;
  std::string path_ = folder_.file("extents.csv");
};

constexpr const char* header = "rank,request,file_offset,length\n";

TEST_F(ListOf, LinesMayComeInAnyOrder) {
  const auto pattern = list(std::string("# recorded\n") + header + "1,0,100,5\n0,1,60,4\n\n0,0,20,2\n0,0,10,3\n");
  EXPECT_EQ(pattern->requests({0, 2}, Direction::write), 2U);
  EXPECT_EQ(pattern->requests({1, 2}, Direction::write), 1U);
  EXPECT_EQ(pattern->requests({2, 3}, Direction::write), 0U);
  EXPECT_EQ(pattern->file_size(2), 105U);
  std::vector<Extent> extents(2);
  pattern->fill_request({0, 2}, 0, extents);
  EXPECT_EQ(extents, (std::vector<Extent>{{10, 0, 3}, {20, 3, 2}}));
}

TEST_F(ListOf, ColumnsMayComeInAnyOrderAndWithMemoryOffsets) {
  const auto pattern = list("length, memory_offset, rank, request, file_offset\r\n7, 64, 0, 0, 1000\r\n");
  Extent extent;
  pattern->fill_request({0, 1}, 0, {&extent, 1});
  EXPECT_EQ(extent, (Extent{1000, 64, 7}));
  EXPECT_EQ(pattern->memory_bytes({0, 1}), 71U);
}

TEST_F(ListOf, RequestsThatOverlapAreNotDisjoint) {
  EXPECT_TRUE(list(std::string(header) + "0,0,0,10\n0,1,10,10\n")->disjoint(1));
  EXPECT_FALSE(list(std::string(header) + "0,0,0,10\n0,1,9,10\n")->disjoint(1));
  EXPECT_FALSE(list(std::string(header) + "0,0,0,10\n1,0,5,1\n")->disjoint(2));
}

TEST_F(ListOf, NeedsAsManyRanksAsItNames) {
  const auto pattern = list(std::string(header) + "0,0,0,10\n3,0,9,10\n");
  EXPECT_NO_THROW(pattern->check(4));
  EXPECT_NO_THROW(pattern->check(5));
  EXPECT_THROW(pattern->check(3), InputError);
}

TEST_F(ListOf, NamesTheLineOfAMistake) {
  const std::string h = header;
  EXPECT_EQ(mistake("rank,request,file_offset\n"), ":1: there is no column length");
  EXPECT_EQ(mistake("rank,request,file_offset,length,operation\n"), ":1: unknown column \"operation\"");
  EXPECT_EQ(mistake("rank,request,file_offset,length,rank\n"), ":1: the column rank appears twice");
  EXPECT_EQ(mistake(h + "0,0,0,4KiB\n"), ":2: length must be a whole number below 2^62, not \"4KiB\"");
  EXPECT_EQ(mistake(h + "0,0,-1,4\n"), ":2: file_offset must be a whole number below 2^62, not \"-1\"");
  EXPECT_EQ(mistake(h + "0,0,99999999999999999999,4\n"),
            ":2: file_offset must be a whole number below 2^62, not \"99999999999999999999\"");
  EXPECT_EQ(mistake(h + "0,0,0,\n"), ":2: length must be a whole number below 2^62, not \"\"");
  EXPECT_EQ(mistake(h + "\n# a\n0,0,0\n"), ":4: has 3 fields, the header 4");
  EXPECT_EQ(mistake(h + "0,0,0,0\n"), ":2: length is 0");
  EXPECT_EQ(mistake(h + "1000000,0,0,1\n"), ":2: rank is out of range: 1000000");
  EXPECT_EQ(mistake(h + "0,0,0,1\n0,2,5,1\n"), ":3: rank 0 has request 2 but no request 1");
  EXPECT_EQ(mistake(h + "0,0,10,4\n0,0,4,7\n"), ":3: overlaps line 2 of the same request in file");
  EXPECT_EQ(mistake("rank,request,file_offset,length,memory_offset\n0,0,0,4,0\n0,0,8,4,3\n"),
            ":3: overlaps line 2 of the same request in memory");
  EXPECT_EQ(mistake(h), ":1: lists no extents");
  EXPECT_EQ(mistake("# nothing\n"), ":1: has no lines");
}

// The path may lead to a file that whoever reads the message may not read.
TEST_F(ListOf, WhatIsNoListIsNotQuoted) {
  EXPECT_EQ(mistake("root:$6$secret:19000:0:99999:7:::\n"), ":1: is not a header");
  EXPECT_EQ(mistake("secret, rank, word\n"), ":1: is not a header");
  EXPECT_EQ(mistake("rank,request,\x1b[2J\n"), ":1: unknown column a value with U+001B in it");
  EXPECT_EQ(mistake(std::string(header) + "0,0,0,\xff\n"),
            ":2: length must be a whole number below 2^62, not a value with a byte that is no UTF-8 in it");
}

TEST_F(ListOf, WhatIsNoRegularFileIsNotOpened) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  Settings settings;
  for (const std::string& path : {path_, std::string("/dev/zero"), testing::TempDir()}) {
    settings.set("file", path);
    EXPECT_THROW(find_pattern("list")->make(settings), InputError) << path;
  }
}

TEST_F(ListOf, AParquetFileIsDistinguishedFromBadText) {
  EXPECT_EQ(mistake(std::string("PAR1\x15\x04\0\x00PAR1", 12)), ":1: is a Parquet file");
}

TEST_F(ListOf, AFileThatIsNotThereIsNamed) {
  Settings settings;
  settings.set("file", folder_.file("missing.csv"));
  EXPECT_THROW(find_pattern("list")->make(settings), InputError);
  EXPECT_THROW(find_pattern("list")->make({}), InputError);
}

}  // namespace
}  // namespace strider
