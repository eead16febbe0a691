// How many metric points per second one writer commits, fed by one thread with events as workers send them. Prints one JSON line.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include "tests/shared/history/temporary_store.h"

namespace {

using namespace ringwright;
using Clock = std::chrono::steady_clock;

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

nlohmann::json points_of(int count, double value) {
  nlohmann::json points;
  for (int i = 0; i < count; ++i) points["bench/metric_" + std::to_string(i)] = value + i;
  return points;
}

}  // namespace

int main(int argument_count, char** arguments) {
  int workers = 4, points = 100;
  int64_t steps = 2500;
  std::string file;
  CLI::App app("Metric points per second into the history file");
  app.add_option("--workers", workers, "ranks that send")->capture_default_str();
  app.add_option("--points", points, "metric points in an event")->capture_default_str();
  app.add_option("--steps", steps, "events of each rank")->capture_default_str();
  app.add_option("--store", file, "where to write (default: a temporary folder)");
  CLI11_PARSE(app, argument_count, arguments);

  const history::testing::TemporaryFolder folder;
  const std::filesystem::path store = file.empty() ? folder.store() : std::filesystem::path(file);
  uint64_t committed = 0, batches = 0;
  const nlohmann::json values = points_of(points, 0.5);
  const double cpu_before = cpu_seconds();
  const auto begin = Clock::now();
  {
    history::Writer writer(store, {[&](std::vector<wire::Event>& events) { committed += events.size(), ++batches; }, nullptr});
    writer.create_run(history::testing::make_run("r_bench"));
    for (int64_t step = 0; step < steps; ++step)
      for (int rank = 0; rank < workers; ++rank)
        writer.append(history::testing::make_event("r_bench", wire::Kind::metric, rank, static_cast<uint64_t>(step + 1),
                                                   {{"step", step}, {"tokens", step * 1024}, {"points", values}}));
    writer.flush();
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  const double total = static_cast<double>(committed) * points;
  std::cout << nlohmann::json{{"points", total},
                              {"seconds", seconds},
                              {"points_per_second", total / seconds},
                              {"cpu_seconds", cpu_seconds() - cpu_before},
                              {"commits", batches},
                              {"file_bytes", std::filesystem::file_size(store)}}
                   .dump()
            << "\n";
  return committed == static_cast<uint64_t>(steps) * static_cast<uint64_t>(workers) ? 0 : 1;
}
