// What docs/listio.md promises of a client and no other test shows.
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "listio/client/client.hpp"
#include "service.hpp"

namespace strider::listio {
namespace {

/// Writes pieces of a length, apart from each other in memory and in the file.
void write_pieces(Client& client, const File& file, std::size_t pieces, std::size_t bytes) {
  std::vector<std::byte> memory(2 * pieces * bytes);
  std::vector<iovec> list;
  std::vector<ByteRun> runs;
  for (std::size_t i = 0; i < pieces; ++i) {
    list.push_back({&memory[2 * i * bytes], bytes});
    runs.push_back({2 * i * bytes, bytes});
  }
  client.write_list(file, list, runs);
}

// proves listio: visible-to-all, read-after-write
TEST(ListioPromises, WhatWasWrittenIsSeenByAllWhenTheCallReturns) {
  const Service service(3);
  Client writer(service.volume()), reader(service.volume());
  const File file = writer.open("data", Creation::exclusive);
  const File same = reader.open("data");
  std::vector<std::byte> bytes(300'000), found(bytes.size());
  for (int round = 1; round <= 20; ++round) {
    std::fill(bytes.begin(), bytes.end(), static_cast<std::byte>(round));
    writer.write(file, bytes, 0);
    reader.read(same, found, 0);
    ASSERT_EQ(found, bytes) << "round " << round;
  }
}

// proves listio: threshold-bytes
TEST(ListioPromises, HybridGathersFromItsThresholdOn) {
  const Service service(1);
  ClientOptions options;
  options.method = Method::hybrid;
  options.threshold_bytes = 4096;
  Client client(service.volume(), options);
  const File file = client.open("data", Creation::exclusive);
  write_pieces(client, file, 16, 4095);
  EXPECT_EQ(client.counters().packed_lists, 1U);
  EXPECT_EQ(client.counters().gathered_lists, 0U);
  write_pieces(client, file, 16, 4096);
  EXPECT_EQ(client.counters().packed_lists, 1U);
  EXPECT_EQ(client.counters().gathered_lists, 1U);
}

// proves listio: tcp-or-cma
TEST(ListioPromises, AServerOnCmaServesClientsOfTcpToo) {
  ServerOptions options;
  options.transport = "cma";
  const Service service(2, options);
  ClientOptions over_tcp;
  over_tcp.transport = "tcp";
  Client near(service.volume()), far(service.volume(), over_tcp);
  const File file = near.open("data", Creation::exclusive);
  const std::vector<std::byte> bytes(200'000, std::byte{7});
  near.write(file, bytes, 0);
  std::vector<std::byte> found(bytes.size());
  far.read(far.open("data"), found, 0);
  EXPECT_EQ(found, bytes);
}

// proves listio: store-nothing
TEST(ListioPromises, AServerThatKeepsNothingForgetsWhatIsWritten) {
  ServerOptions options;
  options.keeping = Keeping::nothing;
  const Service service(1, options);
  Client client(service.volume());
  const File file = client.open("data", Creation::exclusive);
  client.write(file, std::vector<std::byte>(100'000, std::byte{7}), 0);
  EXPECT_GT(client.counters().wire_bytes, 100'000U);
  EXPECT_FALSE(std::filesystem::exists(service.folder() + "/server-0/data"));
}

}  // namespace
}  // namespace strider::listio
