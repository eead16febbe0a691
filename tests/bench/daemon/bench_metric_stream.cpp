// Metric points per second from talk-only workers through the daemon into SQLite: from launching them until every point is committed, then the rows
// are counted. Prints one JSON line.
#include <SQLiteCpp/SQLiteCpp.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

#include "shared/base/error.h"
#include "shared/history/store.h"
#include "tests/support/daemon_process.h"

namespace {

using namespace ringwright;
using Clock = std::chrono::steady_clock;

constexpr double kRunSecondsMax = 600;
constexpr auto kLookEvery = std::chrono::milliseconds(20);  // the daemon is busy: it is asked seldom

struct Settings {
  int workers = 4;
  uint64_t points = 500'000;
  bool stalled_subscriber = false;
  std::string base = std::filesystem::temp_directory_path().string();
  std::string worker = RINGWRIGHT_BINARY_DIR "/tests/test_talk_worker";
};

// What the daemon says of the run.
std::string state_of(const wire::Endpoints& endpoints, const std::string& run) {
  const nlohmann::json runs = wire::ControlClient(endpoints, std::chrono::seconds(30)).request("run.list")["runs"];
  for (const nlohmann::json& record : runs)
    if (record["run"] == run) return record["state"];
  return "";
}

int64_t rows_in(const std::filesystem::path& store, const std::string& run) {
  SQLite::Database database(store.string(), SQLite::OPEN_READONLY);
  SQLite::Statement count(database, "SELECT count(*) FROM point JOIN series ON series.key = point.series JOIN run ON run.key = series.run WHERE run.id = ?");
  count.bind(1, run);
  return count.executeStep() ? count.getColumn(0).getInt64() : 0;
}

int measure(const Settings& settings) {
  const test::TemporaryFolder folder(settings.base);
  test::DaemonOptions options;
  options.worker = settings.worker, options.more.clear();
  const test::DaemonProcess daemon(folder, options);
  std::mutex gate;
  std::unique_ptr<wire::EventStream> console;  // ends after the stall, which would hold it up
  std::unique_lock stall(gate, std::defer_lock);
  if (settings.stalled_subscriber) {
    stall.lock();
    console = std::make_unique<wire::EventStream>(daemon.endpoints(), 0, [&](const wire::Event&) { const std::lock_guard held(gate); });
  }
  wire::ControlClient client(daemon.endpoints(), std::chrono::seconds(30));
  const auto start = Clock::now();
  const std::string run = client.request(
      "run.launch", {{"talk", {{"workers", settings.workers}, {"points", settings.points / static_cast<uint64_t>(settings.workers)}}}})["run"];
  std::string state;
  const auto is_over = [&] {
    state = state_of(daemon.endpoints(), run);
    return !state.empty() && history::is_final(history::run_state_from_string(state));
  };
  if (!test::eventually(is_over, kRunSecondsMax, [] { std::this_thread::sleep_for(kLookEvery); })) throw std::runtime_error("the run does not end");
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const int64_t sent = static_cast<int64_t>(settings.points / static_cast<uint64_t>(settings.workers)) * settings.workers;
  const int64_t rows = rows_in(daemon.store(), run);
  const nlohmann::json counters = client.request("status")["counters"];
  if (stall.owns_lock()) stall.unlock();
  std::cout << nlohmann::json{{"points_per_s", static_cast<double>(rows) / seconds},
                              {"points", sent},
                              {"lost", sent - rows},
                              {"seconds", seconds},
                              {"workers", settings.workers},
                              {"stalled_subscriber", settings.stalled_subscriber},
                              {"daemon_peak_rss_mib", test::memory_mib(daemon.pid(), "VmHWM")},
                              {"daemon_cpu_s", test::cpu_seconds(daemon.pid())},
                              {"daemon_cores", test::cpu_seconds(daemon.pid()) / seconds},
                              {"ledger_full", counters["ledger_full"]}}
                   .dump()
            << "\n";
  return state == "finished" && rows == sent ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  Settings settings;
  CLI::App app("Metric points per second from workers through ringwrightd into SQLite");
  app.add_option("--workers", settings.workers, "talk-only workers")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--points", settings.points, "points of all of them together")->capture_default_str();
  app.add_flag("--stalled-subscriber", settings.stalled_subscriber, "a subscriber that takes nothing while it lasts");
  app.add_option("--folder", settings.base, "where the temporary folder is made")->capture_default_str();
  app.add_option("--worker", settings.worker, "the worker program")->capture_default_str();
  CLI11_PARSE(app, count, arguments);
  try {
    return measure(settings);
  } catch (const Error& error) {
    std::cerr << describe(error.parts()) << "\n";
  } catch (const std::exception& error) {
    std::cerr << "bench_metric_stream: " << error.what() << "\n";
  }
  return 1;
}
