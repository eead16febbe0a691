// The console beside a real ringwrightd: what it shows is what the daemon has, and Stop stops.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "shared/base/paths.h"
#include "tests/console/gui/console_fixture.h"
#include "tests/support/daemon_process.h"

namespace ringwright::gui {
namespace {

class Live : public ConsoleTest {
 protected:
  // Where a console looks for its daemon.
  test::DaemonOptions usual_places() const {
    test::DaemonOptions options;
    options.runtime_directory = paths::runtime_directory();
    options.store = paths::default_store();
    return options;
  }
};

TEST_F(Live, ARunAppearsItsPointsArriveAndStopStopsIt) {
  Options options;
  options.scale = 1;
  open(options);  // before the daemon: the console finds it by itself
  ASSERT_TRUE(eventually([&] { return context().state.link().state == LinkState::local; }));
  auto daemon = std::make_unique<test::DaemonProcess>(folder_, usual_places());
  ASSERT_TRUE(eventually([&] { return context().state.link().state == LinkState::connected; })) << "the console does not find the daemon";
  const std::string id = daemon->launch(1, {{"all", {{"metrics", 50}}}});
  ASSERT_TRUE(eventually([&] {
    const auto run = context().state.find(id);
    return run && run->record.state == history::RunState::running && !run->latest.empty();
  }));
  EXPECT_TRUE(eventually([&] {
    const auto run = context().state.find(id);
    return run->details == Loading::ready && !run->metrics.empty() && run->metrics.begin()->second->size() == 50;
  })) << "50 points, each once";
  context().select(id);
  ASSERT_TRUE(context().commands.run("runs.stop", context()));
  EXPECT_TRUE(eventually([&] { return context().state.find(id)->record.state == history::RunState::stopped; }));
  daemon.reset();
  EXPECT_TRUE(eventually([&] { return context().state.link().state != LinkState::connected; }))
      << "the console does not notice that the daemon has ended";
  EXPECT_TRUE(context().commands.refusal("runs.stop", context()).has_value());
}

TEST_F(Live, T36ClosingTheWindowDoesNotWaitForADaemonThatIsNotThere) {
  Options options;
  open(options);
  const auto start = std::chrono::steady_clock::now();
  application_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

// T36: a daemon that is stopped (SIGSTOP) while the console is connected, and a command under way.
TEST_F(Live, T36ClosingTheWindowDoesNotWaitForAFrozenDaemon) {
  Options options;
  options.scale = 1;
  open(options);
  const test::DaemonProcess daemon(folder_, usual_places());
  const std::string id = daemon.launch(1);
  ASSERT_TRUE(eventually([&] {
    const auto run = context().state.find(id);
    return context().state.link().state == LinkState::connected && run && run->record.state == history::RunState::running;
  }));
  context().select(id);
  daemon.kill(SIGSTOP);
  ASSERT_TRUE(context().commands.run("runs.stop", context()));
  EXPECT_TRUE(eventually([&] {
    return std::any_of(context().toasts.begin(), context().toasts.end(),
                       [](const Toast& toast) { return toast.notice.text.find("not stopped") != std::string::npos; });
  })) << "that the command had no effect is said";
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(context().commands.run("runs.stop", context()));  // unanswered when the window closes
  frames(2);
  ::testing::internal::CaptureStderr();
  const auto start = std::chrono::steady_clock::now();
  application_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
  daemon.kill(SIGCONT);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find(id + ": not stopped"), std::string::npos) << said;
  EXPECT_NE(said.find(id + ": not delivered"), std::string::npos) << said;
}

}  // namespace
}  // namespace ringwright::gui
