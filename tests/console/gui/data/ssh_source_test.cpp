// The console beside a daemon of another node, which is this one behind a fake ssh.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <memory>

#include "console/gui/data/source.h"
#include "tests/console/gui/data/fake_ssh.h"
#include "tests/support/daemon_process.h"
#include "tests/support/error_of.h"

namespace ringwright::gui {
namespace {

using test::error_of;
using test::eventually;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Remote : public ::testing::Test {
 protected:
  Remote() { ssh_.answer_with(folder_ / "r"); }
  void start_daemon(const std::string& worker = "test_talk_worker") {
    test::DaemonOptions options;
    options.worker = worker;
    daemon_ = std::make_unique<test::DaemonProcess>(folder_, options);
  }
  void open() { source_ = make_ssh_source(queue_, "ssh://head-01"); }
  void close() {
    queue_.close();
    source_.reset();
  }
  ~Remote() override { close(); }
  State& state() {
    for (Update& update : queue_.take(UpdateQueue::kUpdatesMax)) state_.apply(std::move(update));
    for (Notice& notice : state_.take_notices()) notices_.push_back(notice.text + "|" + notice.action);
    return state_;
  }
  bool becomes(LinkState wanted) {
    return eventually([&] { return state().link().state == wanted; });
  }
  bool is_said(const std::string& words) {
    return eventually([&] {
      state();
      return std::any_of(notices_.begin(), notices_.end(), [&](const std::string& notice) { return notice.find(words) != std::string::npos; });
    });
  }

  const test::TemporaryFolder folder_;
  FakeSsh ssh_;  // from here on TMPDIR is its own
  std::unique_ptr<test::DaemonProcess> daemon_;
  UpdateQueue queue_;
  State state_;
  std::vector<std::string> notices_;
  std::unique_ptr<Source> source_;
};

TEST_F(Remote, ARunOfBeforeAndOneThatBeginsAreShownAsTheDaemonHasThem) {
  start_daemon();
  const std::string before = daemon_->talk(2, 640);
  daemon_->wait_for_end(before);
  open();
  ASSERT_TRUE(becomes(LinkState::connected));
  EXPECT_EQ(state().link().place, "ssh://head-01");
  EXPECT_GT(state().link().tunnel_since_unix_ns, 0);
  ASSERT_TRUE(eventually([&] { return state().find(before) != nullptr; }));
  EXPECT_EQ(state().find(before)->record.state, history::RunState::finished);
  state_.mark_reading(before);
  source_->want_details(before);
  ASSERT_TRUE(eventually([&] { return state().find(before)->details == Loading::ready; }));
  const history::Reader reader(daemon_->store());
  const std::vector<std::string> names = reader.metric_names(before);
  ASSERT_FALSE(names.empty());
  for (const std::string& name : names) {
    ASSERT_TRUE(state_.find(before)->metrics.contains(name)) << name;
    EXPECT_EQ(state_.find(before)->metrics.at(name)->size(), reader.metric(before, name).size()) << name;
    EXPECT_TRUE(state_.find(before)->latest.contains(name)) << name;
  }
  EXPECT_EQ(state_.find(before)->parts.ranks.size(), 2u);
  const std::string live = daemon_->talk(1, 320);
  EXPECT_TRUE(eventually([&] {
    const auto run = state().find(live);
    return run && run->record.state == history::RunState::finished && !run->latest.empty();
  }));
  EXPECT_EQ(state_.find(live)->record.name, daemon_->record(live).name);
  for (const std::string& notice : notices_) EXPECT_THAT(notice, ::testing::Not(HasSubstr("reach back"))) << "the journal has all of it";
}

TEST_F(Remote, OrdersReachTheDaemonAndWhatNeedsItsFilesSaysWhereTheyAre) {
  start_daemon("scripted_worker");
  open();
  ASSERT_TRUE(becomes(LinkState::connected));
  EXPECT_EQ(source_->why_no_orders(), "");
  const std::string run = daemon_->launch(1);
  ASSERT_TRUE(eventually([&] { return state().find(run) && state().find(run)->record.state == history::RunState::running; }));
  source_->order(run, Order::kill);
  EXPECT_TRUE(eventually([&] { return history::is_final(state().find(run)->record.state); }, 40));
  const ErrorParts parts = error_of([&] { source_->history_file(); });
  EXPECT_EQ(parts.code, "RW-SSH-009");
  EXPECT_THAT(parts.action, HasSubstr("ssh head-01 ringwright sql"));
  EXPECT_THAT(source_->why_no_edits(), HasSubstr("ssh://head-01"));
  EXPECT_THAT(source_->why_no_launch(), HasSubstr("ssh head-01 ringwright run"));
  EXPECT_EQ(source_->command_here("ringwright stop r_1"), "ssh head-01 'ringwright stop r_1'");
  EXPECT_EQ(source_->command_here("ringwright check a.yaml"), "ringwright check a.yaml") << "the recipe lies here";
}

TEST_F(Remote, ATunnelThatDiesIsLostAndComesBackWithWhatWasMissed) {
  start_daemon();
  const std::string read = daemon_->talk(1, 320);
  daemon_->wait_for_end(read);
  open();
  ASSERT_TRUE(becomes(LinkState::connected));
  ASSERT_TRUE(eventually([&] { return state().find(read) != nullptr; }));
  source_->want_details(read);
  source_->want_details("r_00000000");  // none that the daemon knows: told, and no reason to break off
  ASSERT_TRUE(eventually([&] { return state().find(read)->details == Loading::ready; }));
  const size_t points = state().find(read)->metrics.begin()->second->size();
  ASSERT_TRUE(eventually([&] { return ssh_.pid() > 0; }));
  ssh_.set("refusal", "ssh: connect to host head-01 port 22: No route to host\n");
  ::kill(ssh_.pid(), SIGTERM);
  ASSERT_TRUE(becomes(LinkState::lost));
  EXPECT_TRUE(is_said("the tunnel has ended"));
  EXPECT_THAT(source_->why_no_orders(), HasSubstr("not connected"));
  EXPECT_TRUE(is_said("No route to host"));
  EXPECT_TRUE(eventually([&] { return state().link().retry_unix_ns > 0 && state().link().attempt > 0; }));
  EXPECT_THAT(state().link().trouble, HasSubstr("No route to host"));
  EXPECT_GT(state().link().last_message_unix_ns, 0) << "its age is shown";
  const std::string run = daemon_->talk(1, 320);
  daemon_->wait_for_end(run);
  ssh_.unset("refusal");
  ASSERT_TRUE(becomes(LinkState::connected));
  EXPECT_TRUE(is_said("is back"));
  EXPECT_EQ(state().find(read)->metrics.begin()->second->size(), points);
  EXPECT_EQ(state().link().attempt, 0) << "it stays";
  EXPECT_TRUE(eventually([&] {
    const auto found = state().find(run);
    return found && found->record.state == history::RunState::finished && !found->latest.empty();
  })) << "what happened meanwhile is caught up";
}

TEST_F(Remote, WithoutADaemonThereItSaysSoOnceAndGoesOnTrying) {
  open();
  ASSERT_TRUE(is_said("no daemon answers behind it (ssh://head-01)|look there: ssh head-01 ringwright daemon status"));
  EXPECT_EQ(state().failure()->code, "RW-SSH-004");
  EXPECT_EQ(state().link().state, LinkState::connecting);
  EXPECT_TRUE(eventually([&] { return state().link().attempt >= 3; }));
  EXPECT_EQ(notices_.size(), 1u) << "told once";
  start_daemon();
  EXPECT_TRUE(becomes(LinkState::connected));
}

TEST_F(Remote, ClosingLeavesNoProcessAndNoFolderAlsoWhereSshHangs) {
  start_daemon();
  open();
  ASSERT_TRUE(becomes(LinkState::connected));
  ASSERT_TRUE(eventually([&] { return ssh_.pid() > 0; }));
  EXPECT_FALSE(ssh_.left_nothing()) << "the sockets";
  close();
  EXPECT_TRUE(ssh_.left_nothing());
  EXPECT_TRUE(eventually([&] { return test::gone(ssh_.pid()); }));

  ssh_.set("hang", "");
  ssh_.unset("pid");
  UpdateQueue queue;
  auto hanging = make_ssh_source(queue, "ssh://head-01");
  ASSERT_TRUE(eventually([&] { return ssh_.pid() > 0; }));
  const auto start = std::chrono::steady_clock::now();
  queue.close();
  hanging.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2)) << "T36";
  EXPECT_TRUE(ssh_.left_nothing());
  EXPECT_TRUE(eventually([&] { return test::gone(ssh_.pid()); }));
}

}  // namespace
}  // namespace ringwright::gui
