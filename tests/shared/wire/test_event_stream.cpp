#include <gtest/gtest.h>

#include <numeric>
#include <optional>

#include "shared/wire/control.h"
#include "tests/deep_tier.h"
#include "tests/shared/wire/small_daemon.h"

namespace ringwright::wire {
namespace {

using Connection = EventStream::Connection;

// Collects the numbers that were delivered; can be held up inside the callback, as a console that sleeps.
class Collector {
 public:
  std::function<void(const Event&)> callback() {
    return [this](const Event& event) {
      const std::lock_guard hold(gate);
      const std::lock_guard lock(mutex_);
      numbers_.push_back(event.body.at("number").get<uint64_t>());
    };
  }
  std::vector<uint64_t> numbers() const {
    const std::lock_guard lock(mutex_);
    return numbers_;
  }
  size_t count() const {
    const std::lock_guard lock(mutex_);
    return numbers_.size();
  }
  std::mutex gate;

 private:
  mutable std::mutex mutex_;
  std::vector<uint64_t> numbers_;
};

std::vector<uint64_t> range(uint64_t from, uint64_t to) {
  std::vector<uint64_t> numbers(to - from + 1);
  std::iota(numbers.begin(), numbers.end(), from);
  return numbers;
}

// T34: connecting while messages are being published, and once more in the middle: 1-15 exactly once, no sleeps.
TEST(EventStream, T34NothingIsLostOnConnecting) {
  const TemporaryFolder folder;
  SmallDaemon daemon(endpoints_in(folder.path()));
  daemon.publish(3);  // before anyone listens
  Collector all, first_part, second_part;
  const EventStream whole(endpoints_in(folder.path()), 0, all.callback());
  uint64_t seen = 0;
  {
    const EventStream stream(endpoints_in(folder.path()), 0, first_part.callback());
    daemon.publish(5);
    ASSERT_TRUE(eventually([&] { return first_part.count() == 8; }));
    seen = stream.status().node_sequence;
  }
  EXPECT_EQ(seen, 8u);
  daemon.publish(3);  // while the console restarts
  const EventStream stream(endpoints_in(folder.path()), seen, second_part.callback());
  daemon.publish(4);
  ASSERT_TRUE(eventually([&] { return second_part.count() >= 7 && all.count() >= 15; }));
  EXPECT_EQ(first_part.numbers(), range(1, 8));
  EXPECT_EQ(second_part.numbers(), range(9, 15));
  EXPECT_EQ(all.numbers(), range(1, 15));
}

// T35: 10,000 (deep tier: 100,001) messages of 1 KiB to a console that sleeps, default high-water mark: the loss is counted, and repaired from the
// store.
TEST(EventStream, T35DropsAreSeenAndRepaired) {
  const size_t messages = test::by_tier<size_t>(10'000, 100'001);
  const TemporaryFolder folder;
  SmallDaemon daemon(endpoints_in(folder.path()));
  Collector collector;
  const EventStream stream(endpoints_in(folder.path()), 0, collector.callback());
  ASSERT_TRUE(eventually([&] { return stream.status().connection == Connection::connected; }));
  {
    const std::lock_guard stalled(collector.gate);
    daemon.publish(messages, 1024);
    ControlClient client(endpoints_in(folder.path()));
    for (int i = 0; i < 2; ++i) client.request("hello");  // the second is answered after the last of them was published
  }
  ASSERT_TRUE(eventually([&] { return collector.count() >= messages; }, 120));
  EXPECT_EQ(collector.numbers(), range(1, messages));
  const EventStream::Status status = stream.status();
  EXPECT_GT(status.gaps, 0u) << "the default mark of 1000 was to be passed";
  EXPECT_EQ(status.repaired, status.gaps);
  EXPECT_EQ(status.node_sequence, messages);
}

TEST(EventStream, LossAtTheEndOfABurstIsSeenByTheNextWelcome) {
  const TemporaryFolder folder;
  SmallDaemon daemon(endpoints_in(folder.path()));
  Collector collector;
  const EventStream stream(endpoints_in(folder.path()), 0, collector.callback());
  daemon.publish(2);
  ASSERT_TRUE(eventually([&] { return collector.count() == 2; }));
  daemon.lose(3);
  ASSERT_TRUE(eventually([&] { return collector.count() == 5; }));
  EXPECT_EQ(stream.status().gaps, 3u);
  EXPECT_EQ(stream.status().repaired, 3u);
}

TEST(EventStream, GapIsFilledBeforeWhatComesAfterIt) {
  const TemporaryFolder folder;
  SmallDaemon daemon(endpoints_in(folder.path()));
  Collector collector;
  const EventStream stream(endpoints_in(folder.path()), 0, collector.callback());
  daemon.publish(1);
  ASSERT_TRUE(eventually([&] { return collector.count() == 1; }));
  daemon.set_answering(false);
  daemon.lose(1);
  daemon.publish(2);
  daemon.set_answering(true);
  ASSERT_TRUE(eventually([&] { return collector.count() >= 4; }));
  EXPECT_EQ(collector.numbers(), range(1, 4));
}

TEST(EventStream, OnlyTheRunThatWasAskedFor) {
  const TemporaryFolder folder;
  SmallDaemon daemon(endpoints_in(folder.path()));
  Collector collector;
  daemon.publish(2, 0, "r_00000001");
  const EventStream stream(endpoints_in(folder.path()), 0, collector.callback(), "r_00000002");
  daemon.publish(2, 0, "r_00000002");
  daemon.publish(1, 0, "r_00000001");
  ASSERT_TRUE(eventually([&] { return stream.status().node_sequence == 5; }));
  EXPECT_EQ(collector.numbers(), range(3, 4));
}

TEST(EventStream, ConnectionStateFollowsTheDaemon) {
  const TemporaryFolder folder;
  std::optional<SmallDaemon> daemon(endpoints_in(folder.path()));
  Collector collector;
  const EventStream stream(endpoints_in(folder.path()), 0, collector.callback());
  ASSERT_TRUE(eventually([&] { return stream.status().connection == Connection::connected; }));
  daemon.reset();
  ASSERT_TRUE(eventually([&] { return stream.status().connection != Connection::connected; }));
  ASSERT_TRUE(eventually([&] { return stream.status().connection == Connection::lost; }, 10)) << "nobody listens: lost before the 15 s are over";
  daemon.emplace(endpoints_in(folder.path()));
  EXPECT_TRUE(eventually([&] { return stream.status().connection == Connection::connected; }));
}

TEST(EventStream, ConnectingUntilTheFirstMessage) {
  const TemporaryFolder folder;
  const EventStream stream(endpoints_in(folder.path()), 0, [](const Event&) {});
  EXPECT_EQ(stream.status().connection, Connection::connecting);
}

}  // namespace
}  // namespace ringwright::wire
