#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>
#include <zmq.hpp>

#include "daemon/worker/runtime/channel.h"
#include "daemon/worker/runtime/talk.h"
#include "shared/base/error.h"
#include "shared/wire/message.h"
#include "tests/support/eventually.h"
#include "tests/support/processes.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::worker {
namespace {

using std::chrono::milliseconds;
using test::eventually;
using test::gone;
using test::TemporaryFolder;

class ChannelTest : public testing::Test {
 protected:
  void SetUp() override {
    router_.set(zmq::sockopt::linger, 0);
    router_.bind(options().endpoint);
  }

  ChannelOptions options() const {
    ChannelOptions options;
    options.endpoint = "ipc://" + (folder_ / "workers.sock").string();
    options.run = "r_00000001";
    options.rank = 3;
    options.directory = folder_.path();
    return options;
  }
  // The next event, heartbeats left out.
  wire::Event receive() {
    while (true) {
      zmq::message_t frames[4];
      for (zmq::message_t& frame : frames) EXPECT_TRUE(router_.recv(frame));
      EXPECT_EQ(frames[0].to_string_view(), "r_00000001/3");
      wire::Event event;
      event.run = frames[1].to_string();
      wire::decode_header(frames[2].to_string_view(), event);
      event.body = wire::decode_body(frames[3].to_string_view());
      EXPECT_EQ(event.worker_sequence, ++received_) << "a gap in the numbers";
      if (event.kind != wire::Kind::heartbeat) return event;
      ++heartbeats_;
    }
  }
  void send(const nlohmann::json& message) {
    router_.send(zmq::str_buffer("r_00000001/3"), zmq::send_flags::sndmore);
    router_.send(zmq::buffer(wire::encode_body(message)), zmq::send_flags::none);
  }
  void acknowledge_all() { send({{"op", "ack"}, {"sequence", received_}}); }

  const TemporaryFolder folder_;
  zmq::context_t context_;
  zmq::socket_t router_{context_, zmq::socket_type::router};
  uint64_t received_ = 0, heartbeats_ = 0;
};

TEST_F(ChannelTest, SendsEachKindWithItsFields) {
  Channel channel(options());
  channel.metric(7, 70, {{"train/loss", 2.5}});
  channel.log("warn", "careful");
  channel.event("checkpoint.saved", {{"step", 7}, {"path", "/x"}});
  channel.span("forward", 7, 10, 20);
  channel.sample(7, {{"prompt", "a"}, {"reply", "b"}});
  const wire::Event metric = receive();
  EXPECT_EQ(metric.kind, wire::Kind::metric);
  EXPECT_EQ(metric.rank, 3);
  EXPECT_EQ(metric.run, "r_00000001");
  EXPECT_EQ(metric.body, (nlohmann::json{{"step", 7}, {"tokens", 70}, {"points", {{"train/loss", 2.5}}}}));
  EXPECT_EQ(receive().body, (nlohmann::json{{"level", "warn"}, {"text", "careful"}}));
  EXPECT_EQ(receive().body, (nlohmann::json{{"name", "checkpoint.saved"}, {"step", 7}, {"path", "/x"}}));
  EXPECT_EQ(receive().body, (nlohmann::json{{"phase", "forward"}, {"step", 7}, {"begin_ns", 10}, {"end_ns", 20}}));
  EXPECT_EQ(receive().body, (nlohmann::json{{"step", 7}, {"prompt", "a"}, {"reply", "b"}}));
}

TEST_F(ChannelTest, FirstHeartbeatComesAtOnce) {
  const Channel channel(options());
  zmq::message_t frames[4];
  const auto start = std::chrono::steady_clock::now();
  for (zmq::message_t& frame : frames) ASSERT_TRUE(router_.recv(frame));
  EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(900)) << "not only a second later";
  wire::Event event;
  wire::decode_header(frames[2].to_string_view(), event);
  EXPECT_EQ(event.kind, wire::Kind::heartbeat);
  EXPECT_GT(wire::decode_body(frames[3].to_string_view())["resident_bytes"].get<uint64_t>(), 100'000u);
}

TEST_F(ChannelTest, FinishWaitsForTheAcknowledgement) {
  Channel channel(options());
  channel.log("info", "last words");
  std::atomic<bool> finished{false};
  std::thread waiting([&] { finished = channel.finish(); });
  receive();
  EXPECT_FALSE(finished);
  EXPECT_TRUE(eventually([&] {
    acknowledge_all();
    zmq::message_t frame;
    while (router_.recv(frame, zmq::recv_flags::dontwait))  // heartbeats go on
      if (!frame.more()) ++received_;
    return finished.load();
  }));
  waiting.join();
}

TEST_F(ChannelTest, ProducerWaitsWhenTooMuchIsUnacknowledged) {
  ChannelOptions few = options();
  few.unacknowledged_events_max = 4;
  Channel channel(few);
  std::atomic<int> sent{0};
  std::thread producer([&] {
    for (int i = 0; i < 10; ++i) {
      channel.log("info", std::to_string(i));
      ++sent;
    }
  });
  ASSERT_TRUE(eventually([&] { return channel.counters().waits > 0; }));
  EXPECT_LE(sent, 4);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(receive().body["text"], std::to_string(i));
    acknowledge_all();
  }
  producer.join();
  EXPECT_EQ(sent, 10);
  EXPECT_GT(channel.counters().heartbeats_skipped + channel.counters().waits, 0u);
}

TEST_F(ChannelTest, StopIsSeen) {
  const Channel channel(options());
  zmq::message_t frame;
  ASSERT_TRUE(router_.recv(frame));  // connected
  EXPECT_FALSE(channel.stop_requested());
  send({{"op", "ping"}});
  send({{"op", "stop"}});
  EXPECT_TRUE(eventually([&] { return channel.stop_requested(); }));
}

TEST_F(ChannelTest, WhatIsToBeDoneOnceIsTakenOnce) {
  Channel channel(options());
  zmq::message_t frame;
  ASSERT_TRUE(router_.recv(frame));  // connected
  send({{"op", "pause"}});
  send({{"op", "checkpoint"}});
  send({{"op", "set"}, {"key", "optimizer.lr"}, {"value", -1}});  // no such rate: as if it had not come
  send({{"op", "set"}, {"key", "optimizer.weight_decay"}, {"value", 0.5}});
  send({{"op", "stop"}, {"after", "checkpoint"}});
  Wishes wishes;
  bool saved = false;
  std::optional<double> rate, decay;
  ASSERT_TRUE(eventually([&] {
    channel.wait_for_word(milliseconds(5));
    wishes = channel.take_wishes();
    saved |= wishes.checkpoint;
    if (wishes.settings.at(0)) rate = wishes.settings[0];
    if (wishes.settings.at(1)) decay = wishes.settings[1];
    return wishes.stop_after_checkpoint;
  }));
  EXPECT_TRUE(saved);
  EXPECT_EQ(rate, std::nullopt);
  EXPECT_EQ(decay, 0.5);
  const Wishes again = channel.take_wishes();
  EXPECT_FALSE(again.checkpoint);
  EXPECT_EQ(again.settings.at(1), std::nullopt);
  EXPECT_TRUE(again.pause && again.stop_after_checkpoint) << "these hold";
  EXPECT_FALSE(again.stop);
  send({{"op", "resume"}});
  EXPECT_TRUE(eventually([&] { return !channel.pause_requested(); }));
}

// A word ends the wait, however long it would have been.
TEST_F(ChannelTest, AWordWakesWhoeverWaits) {
  Channel channel(options());
  zmq::message_t frame;
  ASSERT_TRUE(router_.recv(frame));
  std::thread waiting([&] { channel.wait_for_word(std::chrono::minutes(10)); });
  send({{"op", "pause"}});
  waiting.join();
  EXPECT_TRUE(channel.pause_requested());
}

TEST_F(ChannelTest, TooLargeAnEventIsRefusedAndTheRestGoesOn) {
  Channel channel(options());
  EXPECT_THROW(channel.log("info", std::string(wire::kBodyBytesMax + 1, 'x')), Error);
  channel.log("info", "still here");
  EXPECT_EQ(receive().body["text"], "still here");
}

TEST_F(ChannelTest, TalkSendsExactlySoManyPoints) {
  Channel channel(options());
  uint64_t points = 0;
  std::atomic<uint64_t> sent = 0;
  std::thread talker([&] { sent = talk(channel, {.points = 1000}, 0); });
  for (bool more = true; more;) {
    const wire::Event event = receive();
    more = event.kind != wire::Kind::log;
    if (more) points += event.body["points"].size();
    acknowledge_all();
  }
  ASSERT_TRUE(eventually([&] {
    acknowledge_all();
    return channel.counters().acknowledged >= received_;
  }));
  std::thread answering([&] {
    EXPECT_TRUE(eventually([&] {
      zmq::message_t frame;
      while (router_.recv(frame, zmq::recv_flags::dontwait))
        if (!frame.more()) ++received_;
      acknowledge_all();
      return sent != 0;
    }));
  });
  talker.join();
  answering.join();
  EXPECT_EQ(sent, 1000u);
  EXPECT_EQ(points, 1000u);
}

// T41: a worker whose daemon has died ends by itself, its children with it, also when its main thread hangs in a collective.
TEST_F(ChannelTest, T41OrphanEndsItselfAndItsChildren) {
  int pids[2];
  ASSERT_EQ(::pipe(pids), 0);
  const pid_t daemon = ::fork();
  if (daemon == 0) {
    if (const pid_t worker = ::fork(); worker == 0) {
      ::setpgid(0, 0);
      const pid_t child = ::fork();
      if (child == 0)
        while (true) ::pause();
      ChannelOptions orphan = options();
      orphan.orphan_grace_s = 0.2;
      const Channel channel(orphan);
      const pid_t both[2] = {::getpid(), child};
      [[maybe_unused]] const ssize_t written = ::write(pids[1], both, sizeof both);
      while (true) ::pause();
    }
    while (true) ::pause();
  }
  pid_t both[2];
  ASSERT_EQ(::read(pids[0], both, sizeof both), static_cast<ssize_t>(sizeof both));
  EXPECT_FALSE(gone(both[0]));
  ::kill(daemon, SIGKILL);
  ::waitpid(daemon, nullptr, 0);
  EXPECT_TRUE(eventually([&] { return gone(both[0]) && gone(both[1]); }, 6));
  std::ifstream log(folder_ / "rank3.log");
  std::string line;
  std::getline(log, line);
  EXPECT_NE(line.find("the daemon has been gone for 0.2 s"), std::string::npos) << line;
  ::close(pids[0]);
  ::close(pids[1]);
}

}  // namespace
}  // namespace ringwright::worker
