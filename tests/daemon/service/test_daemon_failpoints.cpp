// A daemon that is killed at each failpoint, with a worker that sends one event after the other: what it acknowledged is there, once.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <zmq.hpp>

#include "shared/base/failpoint.h"
#include "shared/history/maintenance.h"
#include "tests/deep_tier.h"
#include "tests/support/daemon_process.h"

namespace ringwright {
namespace {

using namespace test;

constexpr uint64_t kEventsMax = 200;

// Speaks to the daemon in place of rank 0, whose process is silent.
class Talker {
 public:
  Talker(const wire::Endpoints& endpoints, const std::string& run) : run_(run), socket_(context_, zmq::socket_type::dealer) {
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::routing_id, run + "/0");
    socket_.connect(endpoints.workers);
  }

  void send(uint64_t sequence) {
    wire::Event event;
    event.run = run_;
    event.kind = wire::Kind::metric;
    event.rank = 0;
    event.worker_sequence = sequence;
    event.time_unix_ns = wire::now_unix_ns();
    const auto step = static_cast<int64_t>(sequence);
    event.body = {{"step", step}, {"tokens", step}, {"points", {{"train/loss", 1.0 / static_cast<double>(step)}}}};
    socket_.send(zmq::buffer(run_), zmq::send_flags::sndmore);
    socket_.send(zmq::buffer(wire::encode_header(event)), zmq::send_flags::sndmore);
    socket_.send(zmq::buffer(wire::encode_body(event.body)), zmq::send_flags::none);
  }
  // The highest acknowledged number so far.
  uint64_t acknowledged() {
    zmq::message_t frame;
    while (socket_.recv(frame, zmq::recv_flags::dontwait)) {
      const nlohmann::json message = wire::decode_body(frame.to_string_view());
      if (message.value("op", "") == "ack") acknowledged_ = std::max(acknowledged_, message.value("sequence", uint64_t{0}));
    }
    return acknowledged_;
  }

 private:
  std::string run_;
  zmq::context_t context_;
  zmq::socket_t socket_;
  uint64_t acknowledged_ = 0;
};

bool has_ended(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

struct Life {
  std::string run;
  uint64_t sent = 0, acknowledged = 0;
  bool killed = false;
};

// Until the daemon is killed, or everything has been sent.
Life talk_until_killed(const TemporaryFolder& folder, const std::string& failpoint) {
  DaemonOptions options;
  options.failpoint = failpoint;
  DaemonProcess daemon(folder, options);
  Life life;
  std::vector<pid_t> workers;
  try {
    life.run = daemon.launch(1, {{"all", {{"silent", true}}}});
    eventually([&] { return has_ended(daemon.pid()) || !(workers = worker_processes(life.run)).empty(); });
  } catch (const Error&) {  // the failpoint was passed by what the launch itself records
    eventually([&] { return has_ended(daemon.pid()); });
  }
  Talker talker(daemon.endpoints(), life.run);
  while (life.sent < kEventsMax && !has_ended(daemon.pid())) {
    talker.send(++life.sent);
    eventually([&] { return talker.acknowledged() >= life.sent || has_ended(daemon.pid()); });
  }
  life.acknowledged = talker.acknowledged();
  life.killed = has_ended(daemon.pid());
  for (const pid_t worker : workers) ::kill(worker, SIGKILL);  // silent, so it would not notice
  for (const pid_t worker : workers) EXPECT_TRUE(eventually([&] { return gone(worker); }));
  return life;
}

void expect_all_once(const DaemonProcess& daemon, const Life& life) {
  const history::CheckReport report = history::check(daemon.store(), false);
  EXPECT_TRUE(report.problems.empty()) << report.problems.front();
  if (life.run.empty()) return;
  const history::Reader reader(daemon.store());
  const std::vector<history::MetricPoint> points = reader.metric(life.run, "train/loss");
  EXPECT_GE(points.size(), life.acknowledged);
  EXPECT_LE(points.size(), life.sent);
  for (size_t i = 0; i < points.size(); ++i) {
    ASSERT_EQ(points[i].step, static_cast<int64_t>(i + 1));
    ASSERT_EQ(points[i].value, 1.0 / static_cast<double>(i + 1));
  }
  EXPECT_EQ(reader.counters(life.run).metrics_replaced, 0);
  if (life.killed) {
    EXPECT_EQ(reader.run(life.run).state, history::RunState::lost);
  }
}

TEST(Failpoints, AKilledDaemonKeepsWhatItAcknowledgedOnce) {
  int killed = 0;
  for (const char* place : kFailpoints) {
    if (std::string_view(place) == "history.migrate") continue;  // tests/shared/history
    for (const int count : by_tier(std::vector<int>{14}, std::vector<int>{6, 8, 10, 12, 15, 20, 30, 50})) {
      SCOPED_TRACE(::testing::Message() << place << ":" << count);
      const TemporaryFolder folder;
      const Life life = talk_until_killed(folder, std::string(place) + ":" + std::to_string(count));
      killed += life.killed;
      expect_all_once(DaemonProcess(folder), life);
    }
  }
  EXPECT_GE(killed, 6);
}

}  // namespace
}  // namespace ringwright
