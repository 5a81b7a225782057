#include "listio/server/serving.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <system_error>

#include "foundation/descriptor.hpp"
#include "listio/protocol/parse.hpp"
#include "service.hpp"

namespace strider::listio {
namespace {

/// Fails by any exception of a test.
class ThrowingStore final : public DataStore {
 public:
  explicit ThrowingStore(std::function<void()> act) : act_(std::move(act)) {}
  Errno read(FileId, std::span<const ByteRun>, std::span<std::byte>, Extent&) override { return act(); }
  Errno write(FileId, std::span<const ByteRun>, std::span<std::byte>) override { return act(); }
  Errno sync(FileId) override { return act(); }
  Errno stat(FileId, DataStat&) override { return act(); }
  Errno truncate(FileId, std::uint64_t) override { return act(); }
  Errno set_time(FileId, std::int64_t) override { return act(); }
  Errno remove(FileId) override { return act(); }
  Errno list(std::uint64_t, DataPage&) override { return act(); }
  Counters counters() const override { return {}; }

 private:
  Errno act() const {
    act_();
    return 0;
  }
  std::function<void()> act_;
};

std::uint32_t error_of(const ServerStores& stores, const Request& request, const Target& target = {}) {
  const std::vector<std::byte> message = serve(stores, {7, request, target}, {}, 0);
  const auto parsed = parse_server_message(message);
  const auto& reply = std::get<Reply>(std::get<ServerMessage>(parsed));
  EXPECT_EQ(reply.number, 7);
  return reply.error;
}

std::uint32_t error_of(const std::function<void()>& act) {
  ThrowingStore store(act);
  ServerStores stores;
  stores.data = &store;
  return error_of(stores, TruncateRequest{5, 1});
}

TEST(ServingTest, EachExceptionEndsARequestWithAnError) {
  EXPECT_EQ(error_of([] {}), 0);
  EXPECT_EQ(error_of([] { throw std::bad_alloc(); }), ENOMEM);
  EXPECT_EQ(error_of([] { throw std::length_error("vector"); }), EIO);
  EXPECT_EQ(error_of([] { throw std::system_error(ENOSPC, std::generic_category()); }), ENOSPC);
  EXPECT_EQ(error_of([] { throw DamagedData("bits"); }), EIO);
}

TEST(ServingTest, AStartOfAFillDoesNotWaitForRequestsOfThisFill) {
  constexpr std::uint64_t fill = 19;
  const TemporaryFolder place;
  const Descriptor folder(::open(place.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  SecondCopies copies({.volume = {}, .number = 0, .servers = 2}, folder.get(), folder.get(),
                      std::make_unique<ThrowingStore>([] {}));
  ServerStores stores;
  stores.data = copies.data.get();
  stores.copies = &copies;
  EXPECT_EQ(error_of(stores, StartFillRequest{fill, 1, 2}), 0);
  EXPECT_EQ(error_of(stores, StartFillRequest{fill, 1, 2}, {.fill = fill}), 0);
  EXPECT_EQ(error_of(stores, TruncateRequest{5, 1}, {.view = 3}), 0);
}

}  // namespace
}  // namespace strider::listio
