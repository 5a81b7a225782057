#include "listio/server/views.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <fstream>
#include <system_error>

#include "service.hpp"

namespace strider::listio {
namespace {

using std::chrono::milliseconds;

/// Server 0 of a volume of five, with a clock that the test sets.
class ViewsTest : public ::testing::Test {
 protected:
  Errno lease(std::uint32_t suspect = LeaseRequest::no_server) {
    return views_->lease({suspect, view_.number}, now_, view_);
  }
  /// Takes a server out, and waits until the view has changed.
  void take_out(std::uint32_t server) {
    ASSERT_EQ(lease(), 0);
    ASSERT_EQ(lease(server), EAGAIN);
    now_ += Views::term;
    ASSERT_EQ(lease(), 0);
  }
  void restart() { views_.emplace(folder_.get(), 5, now_); }

  TemporaryFolder place_;
  Descriptor folder_{::open(place_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  Deadline now_ = std::chrono::steady_clock::now();
  std::optional<Views> views_{std::in_place, folder_.get(), 5, now_};
  ServerView view_;
};

// proves listio: out
TEST_F(ViewsTest, TheNextViewWaitsForTheLeasesOfTheLast) {
  ASSERT_EQ(lease(), 0);
  EXPECT_EQ(view_, (ServerView{1, 1000, {}}));
  now_ += milliseconds(700);
  ASSERT_EQ(lease(), 0);  // another client's, which lasts longer
  EXPECT_EQ(lease(2), EAGAIN);
  EXPECT_EQ(lease(), EAGAIN) << "a lease of a view that is to end";
  now_ += milliseconds(999);
  EXPECT_EQ(lease(), EAGAIN) << "the last lease has not ended";
  now_ += milliseconds(1);
  ASSERT_EQ(lease(), 0);
  EXPECT_EQ(view_, (ServerView{2, 1000, {2}}));
}

TEST_F(ViewsTest, ASuspicionOfAnEarlierViewCountsForNothing) {
  take_out(2);
  ServerView now;
  EXPECT_EQ(views_->lease({4, 1}, now_, now), 0);
  EXPECT_EQ(now.out, std::vector<std::uint32_t>{2});
  EXPECT_EQ(lease(2), 0) << "it is out already";
}

TEST_F(ViewsTest, TheNeighbourOfOneThatIsOutMayNotBeOut) {
  EXPECT_EQ(lease(), 0);
  EXPECT_EQ(lease(7), EBUSY) << "there is none";
  take_out(2);
  EXPECT_EQ(lease(1), EBUSY);
  EXPECT_EQ(lease(3), EBUSY);
  take_out(4);
  EXPECT_EQ(lease(0), EBUSY) << "the last one's neighbour";
  EXPECT_EQ(view_.out, (std::vector<std::uint32_t>{2, 4}));
}

TEST_F(ViewsTest, ARestartKnowsTheViewAndThatLeasesMayLast) {
  take_out(3);
  const ServerView before = view_;
  restart();
  EXPECT_EQ(lease(), EAGAIN);
  now_ += Views::term;
  ASSERT_EQ(lease(), 0);
  EXPECT_EQ(view_, before);
}

TEST_F(ViewsTest, ARestartBeforeTheFirstChangeKnowsThatLeasesMayLast) {
  ASSERT_EQ(lease(), 0);
  now_ += milliseconds(100);
  restart();
  EXPECT_EQ(lease(2), EAGAIN);
  now_ += milliseconds(899);
  EXPECT_EQ(lease(), EAGAIN);
}

/// A thread read the clock first, and gives its lease later than another one.
TEST_F(ViewsTest, NoLeaseShortensAnother) {
  ServerView other;
  ASSERT_EQ(views_->lease({}, now_ + milliseconds(500), other), 0);
  ASSERT_EQ(lease(), 0);
  now_ += milliseconds(600);
  EXPECT_EQ(lease(2), EAGAIN);
  now_ += milliseconds(899);
  EXPECT_EQ(lease(), EAGAIN);
}

// proves listio: continue-meanwhile
TEST_F(ViewsTest, AnAdmissionNeedsAPauseInWhichNobodyHasALease) {
  take_out(3);
  EXPECT_EQ(views_->admit({17, 3}, now_), EAGAIN);
  EXPECT_EQ(views_->pause({17, 3}, now_), EAGAIN) << "a lease lasts";
  EXPECT_EQ(views_->admit({17, 3}, now_), EAGAIN);
  EXPECT_EQ(lease(), EAGAIN);
  EXPECT_EQ(views_->pause({18, 3}, now_), EBUSY) << "another fill";
  now_ += Views::term;
  ASSERT_EQ(views_->pause({17, 3}, now_), 0);
  EXPECT_EQ(lease(), EAGAIN) << "nobody changes data meanwhile";
  EXPECT_EQ(views_->admit({18, 3}, now_), EAGAIN);
  EXPECT_EQ(views_->admit({17, 3}, now_), 0);
  ASSERT_EQ(lease(), 0);
  EXPECT_EQ(view_, (ServerView{3, 1000, {}}));
}

TEST_F(ViewsTest, APauseThatTakesTooLongEndsAndAdmitsNobody) {
  take_out(3);
  now_ += Views::term;
  ASSERT_EQ(views_->pause({17, 3}, now_), 0);
  now_ += Views::most_pause;
  EXPECT_EQ(views_->admit({17, 3}, now_), EAGAIN);
  ASSERT_EQ(lease(), 0);
  EXPECT_EQ(view_.out, std::vector<std::uint32_t>{3});
  EXPECT_EQ(views_->admit({17, 3}, now_), EAGAIN) << "others change data again";
}

// proves listio: second-and-missed
TEST_F(ViewsTest, ADamagedFileIsRefused) {
  take_out(3);
  const std::string path = place_.path() + "/view";
  std::string text;
  std::getline(std::ifstream(path), text);
  for (std::size_t i = 0; i <= text.size(); ++i) {
    std::string damaged = text + "\n";
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    std::ofstream(path, std::ios::trunc) << damaged;
    EXPECT_THROW(restart(), std::system_error) << damaged;
  }
}

}  // namespace
}  // namespace strider::listio
