#include "listio/transfer/sockets.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <string>
#include <thread>

#include "foundation/error.hpp"
#include "test_host.hpp"

namespace strider::listio {
namespace {

/// As a connection of this host may have it.
TEST(SocketsTest, APortThatIsInUseForAMomentIsWaitedFor) {
  const std::string where = address_of(listen_on(test_host() + ":0").get());
  Descriptor other = listen_on(where);
  std::jthread ender([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    other = Descriptor();
  });
  EXPECT_EQ(address_of(listen_on(where).get()), where);
}

TEST(SocketsTest, APortThatStaysInUseIsRefused) {
  const Descriptor other = listen_on(test_host() + ":0");
  EXPECT_THROW(listen_on(address_of(other.get())), InputError);
}

}  // namespace
}  // namespace strider::listio
