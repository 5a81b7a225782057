#include "listio/server/buffer_grants.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

namespace strider::listio {
namespace {

/// Grants as text: peer, first buffer, term.
std::string text_of(const std::vector<BufferGrants::Granted>& granted) {
  std::string text;
  for (const BufferGrants::Granted& each : granted)
    text += (text.empty() ? "" : " ") + std::to_string(each.peer) + ":" + std::to_string(each.grant.buffer) +
            (each.grant.term == Term::connection ? "*" : "");
  return text;
}

std::string grant(BufferGrants& grants, Peer peer, std::uint32_t buffers = 1) {
  grants.request(peer, buffers);
  return text_of(grants.grant());
}

// proves listio: half-in-windows, other-half, 64-clients-keep
TEST(BufferGrantsTest, HalfOfTheMemoryIsGrantedForWholeConnections) {
  BufferGrants grants(8, 2);
  EXPECT_EQ(grant(grants, 1), "1:0*");
  EXPECT_TRUE(grants.has(1, 0) && grants.has(1, 1));
  EXPECT_EQ(grant(grants, 2), "2:0*");
  EXPECT_EQ(grants.granted(), 4);
  EXPECT_EQ(grant(grants, 3), "3:0") << "half of the memory is for single requests";
  EXPECT_FALSE(grants.has(3, 1));
  grants.end(1);
  EXPECT_EQ(grant(grants, 4), "4:0*");
}

// proves listio: turns-for-buffers
TEST(BufferGrantsTest, ClientsThatWaitGetOneBufferEachInTurn) {
  BufferGrants grants(2, 2);
  EXPECT_EQ(grant(grants, 1, 2), "1:0 1:1");
  EXPECT_EQ(grant(grants, 2, 2), "");
  EXPECT_EQ(grant(grants, 3, 1), "");
  EXPECT_TRUE(grants.release(1, 1));
  EXPECT_EQ(grant(grants, 1, 1), "2:0") << "who waits longest is first";
  EXPECT_TRUE(grants.release(1, 0));
  EXPECT_EQ(text_of(grants.grant()), "3:0") << "2 has had its turn";
  EXPECT_TRUE(grants.release(3, 0));
  EXPECT_TRUE(grants.release(2, 0));
  EXPECT_EQ(text_of(grants.grant()), "1:0 2:0");
  EXPECT_EQ(grants.granted(), 2);
}

// proves listio: client-buffers
TEST(BufferGrantsTest, NoClientHasMoreThanItsOwn) {
  BufferGrants grants(3, 2);
  EXPECT_EQ(grant(grants, 1, 100), "1:0 1:1");
  EXPECT_EQ(grant(grants, 1, 1), "");
  EXPECT_EQ(grants.granted(), 2);
}

TEST(BufferGrantsTest, WhatAClientDoesNotHaveIsNotReleased) {
  BufferGrants grants(8, 2);
  EXPECT_FALSE(grants.release(1, 0));
  grant(grants, 1);
  EXPECT_FALSE(grants.release(1, 0)) << "granted until the connection ends";
  EXPECT_FALSE(grants.has(2, 0));
}

TEST(BufferGrantsTest, TheEndOfAClientReleasesWhatItHas) {
  BufferGrants grants(2, 2);
  grant(grants, 1, 2);
  grant(grants, 2, 2);
  grant(grants, 3, 1);
  grants.cancel(2);
  grants.end(1);
  EXPECT_EQ(text_of(grants.grant()), "3:0");
  grants.end(3);
  EXPECT_EQ(grants.granted(), 0);
}

TEST(BufferGrantsTest, WindowsTakeNoMoreThanThereIs) {
  BufferGrants grants(5, 2);
  EXPECT_TRUE(grants.grant_window(1));
  EXPECT_TRUE(grants.grant_window(2));
  EXPECT_FALSE(grants.grant_window(3));
  grants.end(1);
  EXPECT_TRUE(grants.grant_window(3));
}

TEST(BufferGrantsTest, HoldersAreNamedWhileOthersWait) {
  BufferGrants grants(2, 2);
  grant(grants, 1, 2);
  const Deadline later = in(std::chrono::seconds(1));
  EXPECT_EQ(grants.holders_since(later), std::vector<Peer>{}) << "no client waits";
  grant(grants, 2);
  EXPECT_EQ(grants.holders_since(later), std::vector<Peer>{1});
  EXPECT_EQ(grants.holders_since(in(std::chrono::seconds(-60))), std::vector<Peer>{});
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const Deadline before = in(std::chrono::milliseconds(0));
  EXPECT_EQ(grants.holders_since(before), std::vector<Peer>{1});
  grants.touch(1);
  EXPECT_EQ(grants.holders_since(before), std::vector<Peer>{}) << "a request of it has just ended";
}

}  // namespace
}  // namespace strider::listio
