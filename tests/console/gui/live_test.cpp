// The console beside a real ringwrightd: what it shows is what the daemon has, and Stop stops.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

#include "shared/base/paths.h"
#include "shared/wire/control.h"
#include "tests/console/gui/console_fixture.h"

namespace ringwright::gui {
namespace {

class Daemon {
 public:
  Daemon() {
    pid_ = ::fork();
    if (pid_ == 0) {
      ::execl(RINGWRIGHT_BINARY_DIR "/ringwrightd", "ringwrightd", "--foreground", "--log-level", "off", "--worker",
              RINGWRIGHT_BINARY_DIR "/tests/scripted_worker", "--stop-grace-s", "0.5", "--orphan-grace-s", "0.3", nullptr);
      ::_exit(127);
    }
  }
  ~Daemon() { end(); }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
};

nlohmann::json recipe(int metrics) {
  return {{"sft", {{"max_num_steps", 1}}},
          {"policy",
           {{"model_name", "model"},
            {"tokenizer", {{"name", "model"}}},
            {"train_global_batch_size", 1},
            {"train_micro_batch_size", 1},
            {"max_total_sequence_length", 128},
            {"precision", "float32"},
            {"dtensor_cfg", {{"enabled", true}, {"tensor_parallel_size", 1}, {"context_parallel_size", 1}}}}},
          {"data", {{"train", {{"data_path", "text.txt"}}}}},
          {"cluster", {{"num_nodes", 1}, {"gpus_per_node", 1}}},
          {"script", {{"all", {{"metrics", metrics}}}}}};
}

class Live : public ConsoleTest {
 protected:
  bool eventually(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < deadline) {
      frames(1);
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return false;
  }
  static std::string launch(int metrics) {
    wire::ControlClient client(wire::endpoints_in(paths::runtime_directory()), std::chrono::seconds(20));
    return client.request("run.launch", {{"name", "live"}, {"recipe", recipe(metrics)}, {"world_size", 1}, {"mesh", {{"dp_shard", 1}}}}).at("run");
  }
};

TEST_F(Live, ARunAppearsItsPointsArriveAndStopStopsIt) {
  Options options;
  options.scale = 1;
  open(options);  // before the daemon: the console finds it by itself
  ASSERT_TRUE(eventually([&] { return context().state.link().state == LinkState::local; }));
  Daemon daemon;
  ASSERT_TRUE(eventually([&] { return context().state.link().state == LinkState::connected; })) << "the console does not find the daemon";
  const std::string id = launch(50);
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
  daemon.end();
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

}  // namespace
}  // namespace ringwright::gui
