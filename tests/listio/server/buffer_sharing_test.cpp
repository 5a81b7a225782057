// More clients than the server has memory for communication buffers.
#include <gtest/gtest.h>

#include <atomic>

#include "foundation/error.hpp"
#include "service.hpp"

namespace strider::listio {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t file_bytes = 300'000;

ClientOptions packing(milliseconds patience = seconds(60)) {
  ClientOptions options;
  options.method = Method::pack;  // does not measure others, which needs buffers too
  options.patience = patience;
  return options;
}

/// A server with memory for the buffers of one client.
ServerOptions of_one_client(std::string_view transport) {
  ServerOptions options;
  options.transport = transport;
  options.buffer_bytes = 65536;
  options.memory_bytes = options.buffers * options.buffer_bytes;
  return options;
}

class BufferSharingTest : public testing::TestWithParam<std::string_view> {};

/// Writes and reads a file of its own some times; whether all of it was right.
bool transfer(const Volume& volume, int number) {
  Client client(volume, packing());
  const File file = client.open("file-" + std::to_string(number), Creation::exclusive);
  std::vector<std::byte> bytes(file_bytes), read(file_bytes);
  for (int round = 0; round < 10; ++round) {
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] =
          static_cast<std::byte>(i + 31 * static_cast<std::size_t>(number) + 7 * static_cast<std::size_t>(round));
    client.write(file, bytes, 0);
    if (client.read(file, read, 0) != read.size() || read != bytes) return false;
    if (client.status(0).buffer_bytes > 2 * 65536) return false;
  }
  return true;
}

// proves listio: server-memory, other-half
TEST_P(BufferSharingTest, ManyClientsShareTheMemoryOfOne) {
  const Service service(1, of_one_client(GetParam()));
  std::vector<std::thread> clients;
  std::atomic<int> right = 0;
  for (int number = 0; number < 12; ++number)
    clients.emplace_back([&, number] { right += transfer(service.volume(), number) ? 1 : 0; });
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(right, 12);
  Client client(service.volume());
  EXPECT_EQ(client.status(0).buffer_bytes, 0U) << "all is given back";
}

/// A client that starts to read into both buffers and stops.
struct Holder {
  explicit Holder(const Volume& volume) : client(volume, packing()), bytes(2 * 65536) {
    const File file = client.open("held", Creation::if_missing);
    client.write(file, bytes, 0);
    const iovec piece{bytes.data(), bytes.size()};
    const ByteRun run{0, bytes.size()};
    ticket = client.start_read_list(file, {&piece, 1}, {&run, 1});
  }
  Client client;
  std::vector<std::byte> bytes;
  Client::Ticket ticket = 0;
};

std::string error_of_writing(const Volume& volume, milliseconds patience) {
  Client client(volume, packing(patience));
  try {
    client.write(client.open("other", Creation::if_missing), std::vector<std::byte>(1000), 0);
  } catch (const IoError& error) {
    return error.what();
  }
  return "(written)";
}

// proves listio: deadline-names-option
TEST_P(BufferSharingTest, WhoWaitsInVainLearnsWhatToRaise) {
  ServerOptions options = of_one_client(GetParam());
  options.most_buffer_idle = std::chrono::hours(1);
  const Service service(1, options);
  Holder holder(service.volume());
  const std::string error = error_of_writing(service.volume(), milliseconds(500));
  EXPECT_NE(error.find("server 0 ("), std::string::npos) << error;
  EXPECT_NE(error.find("raise it: strider listio serve --memory"), std::string::npos) << error;
  holder.client.wait(holder.ticket);
  EXPECT_EQ(error_of_writing(service.volume(), seconds(60)), "(written)");
}

// proves listio: kept-buffer-ends
TEST_P(BufferSharingTest, AnIdleHolderIsEndedForThoseWhoWait) {
  ServerOptions options = of_one_client(GetParam());
  options.most_buffer_idle = milliseconds(100);
  const Service service(1, options);
  Holder holder(service.volume());
  EXPECT_EQ(error_of_writing(service.volume(), seconds(60)), "(written)");
  EXPECT_THROW(holder.client.wait(holder.ticket), IoError) << "its buffers are those of another client now";
  EXPECT_EQ(Client(service.volume()).status(0).refused, 1U);
}

INSTANTIATE_TEST_SUITE_P(All, BufferSharingTest, testing::Values("cma", "tcp"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace strider::listio
