// How long it takes to open a large history and to read from it, with the file out of the system's cache. `make` writes such a history, the other
// words print one JSON line.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "shared/base/error.h"
#include "shared/history/edits.h"
#include "shared/history/store.h"
#include "tests/shared/history/temporary_store.h"

namespace {

using namespace ringwright;
using namespace ringwright::history;
using Clock = std::chrono::steady_clock;

constexpr const char* kWideRun = "r_f0000001";  // many metrics
constexpr const char* kLongRun = "r_f0000002";  // many points in each
constexpr int64_t kPointsOfSeries = 1'000'000;
constexpr int kPixels = 2000;

struct Settings {
  std::filesystem::path store;
  int runs = 10'000, metrics = 12'000;
  int64_t points = kPointsOfSeries;
};

double milliseconds_since(Clock::time_point start) { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); }

RunRecord finished(const std::string& id, const std::string& name) {
  RunRecord run = history::testing::make_run(id, name);
  run.state = RunState::finished;
  run.started_unix_ns = run.created_unix_ns = 1'700'000'000'000'000'000;
  run.ended_unix_ns = run.started_unix_ns + 1'000'000'000;
  return run;
}

// One of many, with as many settings as a real recipe has.
RunRecord numbered_run(int number) {
  char id[16];
  std::snprintf(id, sizeof id, "r_%08x", static_cast<unsigned>(number));
  RunRecord run = finished(id, "run " + std::to_string(number));
  if (number % 5 == 0) run.state = RunState::failed;
  run.mesh["cp"] = 1 << number % 4;
  run.started_unix_ns += number * 1'000'000'000LL;
  run.recipe["policy"]["model_name"] = number % 3 == 0 ? "Qwen/Qwen2.5-7B" : "meta-llama/Llama-3.1-8B";
  for (int i = 0; i < 60; ++i) run.recipe["policy"]["group_" + std::to_string(i % 6)]["setting_" + std::to_string(i)] = number * 0.5 + i;
  run.recipe_text = run.recipe.dump(2);
  return run;
}

std::vector<MetricPoint> curve(int64_t points, double level) {
  std::vector<MetricPoint> values;
  values.reserve(static_cast<size_t>(points));
  for (int64_t step = 1; step <= points; ++step)
    values.push_back({step, level + std::exp(-1e-6 * static_cast<double>(step)) + 0.01 * static_cast<double>(step * 7919 % 101), step * 1024,
                      1'700'000'000'000'000'000 + step * 1'000'000, 0});
  return values;
}

void make(const Settings& settings) {
  std::filesystem::remove(settings.store);
  Editor editor(settings.store, Editor::Missing::create);
  for (int number = 0; number < settings.runs; ++number)
    editor.import_run(numbered_run(number), [&](RunImport& import) { import.add_points("train/loss", 0, 1, curve(3, number % 7)); });
  if (settings.metrics > 0)
    editor.import_run(finished(kWideRun, "wide"), [&](RunImport& import) {
      for (int i = 0; i < settings.metrics; ++i) import.add_points("layer/" + std::to_string(i) + "/grad_norm", 0, 1, curve(5, i));
    });
  editor.import_run(finished(kLongRun, "long"), [&](RunImport& import) {
    for (int64_t i = 0; i * kPointsOfSeries < settings.points; ++i) {
      std::vector<MetricPoint> values = curve(std::min(kPointsOfSeries, settings.points - i * kPointsOfSeries), static_cast<double>(i));
      values[values.size() / 2].value = 1000;
      values[values.size() / 3].value = std::nan("");
      import.add_points("long/" + std::to_string(i), 0, 1, values);
    }
  });
}

// Its pages are read from the disk again.
void forget_pages(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fdatasync(descriptor);
  ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
  ::close(descriptor);
}

nlohmann::json measure_reduce(const Settings& settings) {
  const int64_t points = std::min(settings.points, kPointsOfSeries);
  forget_pages(settings.store);
  const auto start = Clock::now();
  const Reader reader(settings.store);
  const Reduction reduction = reader.reduce(kLongRun, "long/0", -1, {1, points}, kPixels);
  const double cold_ms = milliseconds_since(start);
  const auto again = Clock::now();
  reader.reduce(kLongRun, "long/0", -1, {points / 7, points / 2}, kPixels);
  const double zoom_ms = milliseconds_since(again);
  int64_t spikes = 0, nans = 0;
  for (const ReducedColumn& column : reduction.columns) spikes += column.sums.maximum == 1000, nans += column.sums.nans;
  return {{"cold_ms", cold_ms},
          {"zoom_ms", zoom_ms},
          {"values_per_pixel", static_cast<double>(reduction.values_read) / kPixels},
          {"lost", (spikes != 1) + (nans != 1)}};
}

nlohmann::json measure_open(const Settings& settings) {
  forget_pages(settings.store);
  const auto start = Clock::now();
  const Reader reader(settings.store);
  const size_t runs = reader.runs(100, Reader::Parts::head).size();
  reader.run("last");
  const size_t metrics = reader.metric_summaries(kLongRun).size();
  return {{"open_ms", milliseconds_since(start)},
          {"runs", runs},
          {"metrics", metrics},
          {"file_mib", static_cast<double>(std::filesystem::file_size(settings.store)) / (1 << 20)}};
}

}  // namespace

int main(int count, char** arguments) {
  Settings settings;
  std::string what;
  CLI::App app("Opening and reading a large history");
  app.add_option("what", what, "make, reduce or open")->required()->check(CLI::IsMember({"make", "reduce", "open"}));
  app.add_option("--store", settings.store, "the history file")->required();
  app.add_option("--runs", settings.runs, "make: runs")->capture_default_str();
  app.add_option("--metrics", settings.metrics, "make: metrics of the wide run")->capture_default_str();
  app.add_option("--points", settings.points, "values of the long run, a million in each series")->capture_default_str();
  CLI11_PARSE(app, count, arguments);
  try {
    if (what == "make") return make(settings), 0;
    const nlohmann::json result = what == "reduce" ? measure_reduce(settings) : measure_open(settings);
    std::cout << result.dump() << "\n";
    return 0;
  } catch (const Error& error) {
    std::cerr << describe(error.parts()) << "\n";
    return 1;
  }
}
