// What the console's frames cost, and how long it takes from a worker's call to the screen. Prints one JSON line.
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <iostream>
#include <map>
#include <stdexcept>
#include <thread>

#include "console/gui/views/view_layout.h"
#include "console/gui/views/view_logs.h"
#include "console/gui/views/view_metrics.h"
#include "console/gui/views/view_runs.h"
#include "shared/base/error.h"
#include "shared/base/paths.h"
#include "tests/bench/console/allocations.h"
#include "tests/bench/console/stage.h"
#include "tests/bench/support/timing.h"
#include "tests/support/daemon_process.h"
#include "tests/support/program.h"

namespace ringwright::bench {
namespace {

constexpr int kFrames = 200;
constexpr size_t kPageLines = 45;  // of the log at this window's height
constexpr int64_t kSecond = 1'000'000'000, kStart = 1'772'000'000 * kSecond;

history::RunRecord record_of(int index) {
  history::RunRecord record;
  char id[16];
  std::snprintf(id, sizeof id, "r_%08x", index);
  record.id = id;
  record.name = "bench-" + std::to_string(index % 977) + "-cp" + std::to_string(1 << index % 4);
  record.algorithm = "sft";
  record.state = index == 0 ? history::RunState::running : history::RunState::finished;
  record.created_unix_ns = kStart - static_cast<int64_t>(index) * 600 * kSecond;
  record.started_unix_ns = record.created_unix_ns + kSecond;
  if (index > 0) record.ended_unix_ns = record.started_unix_ns + 500 * kSecond;
  record.mesh = {{"cp", 1 << index % 4}, {"tp", 1}};
  record.last_step = 1000;
  record.color_index = index % 10;
  return record;
}

void show_runs(Stage& stage, int count) {
  gui::RunsRead read;
  for (int i = 0; i < count; ++i) read.runs.push_back(record_of(i));
  stage.context().state.apply(std::move(read));
  stage.context().selection.shown.clear();
  stage.context().selection.chosen_by_user = true;
  stage.context().selection.run = "r_00000000";
}

std::shared_ptr<gui::Series> series_of(int seed, int64_t points) {
  const auto series = std::make_shared<gui::Series>();
  double value = 2 + seed * 0.1;
  uint64_t state = static_cast<uint64_t>(seed) + 1;
  for (int64_t step = 1; step <= points; ++step) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    value += (static_cast<double>(state >> 33) / 4294967296.0 - 0.25) * 0.02 - (value - 2) * 0.001;
    series->append({step, value, step * 1024, kStart + step * kSecond, 0});
  }
  return series;
}

// 8 plots of 20 lines. The plots share the 20 series, which would not fit into memory eightfold; each line is decimated and drawn for itself.
nlohmann::json plots(int64_t points, double smoothing) {
  Stage stage("metrics");
  show_runs(stage, 20);
  for (int run = 0; run < 20; ++run) {
    const auto series = series_of(run, points);
    gui::DetailsRead read{record_of(run).id, {}, {}, {}};
    for (int plot = 0; plot < 8; ++plot) read.metrics["bench/metric_" + std::to_string(plot)] = series;
    stage.context().state.apply(std::move(read));
    stage.context().selection.shown.insert(record_of(run).id);
  }
  stage.view<gui::ViewMetrics>("metrics").set_smoothing(smoothing);
  stage.frames(smoothing > 0 ? static_cast<int>(points / 200'000) + 20 : 20);
  nlohmann::json out;
  report(out, "", stage.time(kFrames));
  stage.point_at({700, 300});
  report(out, "zoom_", stage.time(kFrames, [](int i) { ImGui::GetIO().AddMouseWheelEvent(0, i % 40 < 20 ? 1.0F : -1.0F); }));
  out["vertices"] = ImGui::GetDrawData()->TotalVtxCount;
  return out;
}

nlohmann::json layout_view() {
  Stage stage("layout");
  stage.view<gui::ViewLayout>("layout").ask({"round_robin", 64, 1'000'000, 1'000'000});
  stage.frames(20);
  nlohmann::json out;
  report(out, "", stage.time(kFrames));
  stage.point_at(stage.center_of("###layout.strip"));
  report(out, "zoom_", stage.time(kFrames, [](int i) { ImGui::GetIO().AddMouseWheelEvent(0, i % 80 < 40 ? 1.0F : -1.0F); }));
  return out;
}

// Milliseconds from a keystroke until `done`, frames drawn one after the other.
double answer_ms(Stage& stage, const std::function<bool()>& done) {
  const double start_s = now_s(CLOCK_MONOTONIC);
  while (!done()) {
    stage.frames(1);
    if (now_s(CLOCK_MONOTONIC) - start_s > 20) throw std::runtime_error("the filter does not answer");
  }
  return (now_s(CLOCK_MONOTONIC) - start_s) * 1e3;
}

void type_into_filter(Stage& stage, const std::string& view, const std::string& words) {
  stage.application().shell().view(view)->focus_filter();
  stage.frames(3);
  stage.type(words);
}

nlohmann::json runs_view() {
  Stage stage("runs");
  show_runs(stage, 10'000);
  stage.frames(20);
  nlohmann::json out;
  report(out, "", stage.time(kFrames));
  auto& view = stage.view<gui::ViewRuns>("runs");
  stage.point_at({800, 400});
  report(out, "scroll_", stage.time(kFrames, [](int i) { ImGui::GetIO().AddMouseWheelEvent(0, i % 40 < 20 ? -3.0F : 3.0F); }));
  type_into_filter(stage, "runs", "bench-97");
  out["filter_ms"] = answer_ms(stage, [&] { return view.listed().size() < 10'000; });
  out["listed"] = view.listed().size();
  return out;
}

nlohmann::json logs_view(int64_t lines) {
  Stage stage("logs");
  show_runs(stage, 1);
  gui::DetailsRead read{record_of(0).id, {}, {}, {}};
  size_t expected = 0;
  for (int64_t i = 0; i < lines; ++i) {
    const bool rare = i % 300 == 7;
    expected += rare ? 1 : 0;
    read.logs.push_back(
        {static_cast<uint64_t>(i) + 1, kStart + i * 1'000'000, static_cast<int>(i % 8), i % 500 == 0 ? "warn" : "info",
         (rare ? "checkpoint saved at step " : "step ") + std::to_string(i) + " loss 1.2345 grad_norm 0.567 lr 3.000e-04 tokens/s 18400"});
  }
  stage.context().state.apply(std::move(read));
  auto& view = stage.view<gui::ViewLogs>("logs");
  while (view.lines_shown() < static_cast<size_t>(lines)) stage.frames(1);
  nlohmann::json out;
  out["lines"] = view.lines_shown();
  report(out, "", stage.time(kFrames));
  stage.point_at({800, 400});
  report(out, "scroll_", stage.time(kFrames, [](int i) { ImGui::GetIO().AddMouseWheelEvent(0, i % 40 < 20 ? 3.0F : -3.0F); }));
  type_into_filter(stage, "logs", "checkpoint saved");
  // The newest lines are looked at first: the page that is on the screen is right before all lines are known.
  const double page_ms = answer_ms(stage, [&] { return view.lines_shown() < static_cast<size_t>(lines) && view.lines_shown() >= kPageLines; });
  out["filter_ms"] = page_ms;
  out["filter_all_ms"] = page_ms + answer_ms(stage, [&] { return view.lines_shown() == expected; });
  return out;
}

// From the start of main() to the end of the first frame, OpenGL included.
nlohmann::json first_frame(double started_s) {
  gui::Options options;
  options.demo_runs = 12;
  options.theme = "dark";
  options.scale = 1;
  gui::Graphics graphics(gui::Graphics::Mode::offscreen, 1600, 900);
  gui::Application application(options, graphics);
  application.frame();
  nlohmann::json out{{"first_frame_ms", (now_s(CLOCK_MONOTONIC) - started_s) * 1e3}};
  const double before_s = now_s(CLOCK_MONOTONIC);
  for (int i = 0; i < 20; ++i) application.frame();
  out["frame_with_raster_ms"] = (now_s(CLOCK_MONOTONIC) - before_s) / 20 * 1e3;
  return out;
}

// A window on a history in which nothing goes on, and one on the demonstration: CPU time a second after it has settled.
nlohmann::json idle(double seconds) {
  const test::TemporaryFolder folder;
  const std::filesystem::path store = folder / "history.db";
  {
    history::Writer writer(store, {});
  }
  nlohmann::json out;
  test::Environment variables = test::clean_environment(folder.path());
  for (const char* name : {"DISPLAY", "XAUTHORITY", "LIBGL_ALWAYS_SOFTWARE"})
    if (const char* value = ::getenv(name)) variables[name] = value;
  test::Program console(folder.path(), {store.string()}, "ringwright-console", variables);
  std::this_thread::sleep_for(std::chrono::seconds(2));
  const double before_s = test::cpu_seconds(console.pid());
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  out["idle_core"] = (test::cpu_seconds(console.pid()) - before_s) / seconds;
  ::kill(console.pid(), SIGTERM);
  console.wait();
  return out;
}

// A worker's metric calls through daemon, wire and reducer until the frame that shows them has been drawn, the window's waiting included.
nlohmann::json latency(int points) {
  const test::TemporaryFolder folder;
  for (const char* name : {"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"}) ::setenv(name, folder.path().c_str(), 1);
  test::DaemonOptions daemon_options;
  daemon_options.runtime_directory = paths::runtime_directory();
  daemon_options.store = paths::default_store();
  const test::DaemonProcess daemon(folder, daemon_options);
  gui::Graphics graphics(gui::Graphics::Mode::window, 1600, 900);
  gui::Options options;
  options.theme = "dark";
  options.scale = 1;
  gui::Application application(options, graphics);
  const std::string id = daemon.launch(1, {{"all", {{"metrics", points}, {"metric_gap_s", 0.037}}}});
  std::vector<double> waits_ms;
  size_t seen = 0;
  const double end_s = now_s(CLOCK_MONOTONIC) + 60;
  while (seen < static_cast<size_t>(points) && now_s(CLOCK_MONOTONIC) < end_s) {
    application.frame();
    const auto run = application.context().state.find(id);
    const int64_t now_unix_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
    if (run && !run->metrics.empty()) {
      const gui::Series& series = *run->metrics.begin()->second;
      for (; seen < series.size(); ++seen) waits_ms.push_back(static_cast<double>(now_unix_ns - series.time_unix_ns(seen)) / 1e6);
    }
    application.wait();
  }
  if (seen == 0) throw std::runtime_error("no point has come");
  Frames waits{waits_ms};
  return {{"points", seen}, {"p50_ms", waits.percentile(0.5)}, {"p95_ms", waits.percentile(0.95)}};
}

}  // namespace
}  // namespace ringwright::bench

int main(int count, char** arguments) {
  using namespace ringwright;
  const double started_s = bench::now_s(CLOCK_MONOTONIC);
  bench::count_imgui_allocations();
  int64_t points = 1'000'000, lines = 1'000'000;
  double smoothing = 0;
  std::string name;
  CLI::App app("What the console's frames cost");
  const std::map<std::string, std::function<nlohmann::json()>> cases = {{"plots", [&] { return bench::plots(points, smoothing); }},
                                                                        {"layout", bench::layout_view},
                                                                        {"runs", bench::runs_view},
                                                                        {"logs", [&] { return bench::logs_view(lines); }},
                                                                        {"first-frame", [&] { return bench::first_frame(started_s); }},
                                                                        {"idle", [] { return bench::idle(10); }},
                                                                        {"latency", [] { return bench::latency(200); }}};
  std::vector<std::string> names;
  for (const auto& [key, run] : cases) names.push_back(key);
  app.add_option("case", name, "what to measure")->required()->check(CLI::IsMember(names));
  app.add_option("--points", points, "plots: points of each series")->capture_default_str();
  app.add_option("--smoothing", smoothing, "plots: weight of the smoothing, 0 for none")->capture_default_str();
  app.add_option("--lines", lines, "logs: lines")->capture_default_str();
  CLI11_PARSE(app, count, arguments);
  try {
    std::cout << cases.at(name)().dump() << "\n";
    return 0;
  } catch (const Error& error) {
    std::cerr << describe(error.parts()) << "\n";
  } catch (const std::exception& error) {
    std::cerr << "bench_console: " << error.what() << "\n";
  }
  return 1;
}
