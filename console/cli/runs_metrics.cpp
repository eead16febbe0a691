#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "console/cli/metric_series.h"
#include "console/cli/run_text.h"
#include "console/cli/runs.h"
#include "console/cli/store_option.h"
#include "console/cli/table.h"
#include "shared/base/printable.h"
#include "shared/base/text.h"

namespace ringwright::cli {
namespace {

struct Options {
  StoreOption store;
  std::string run;
  std::vector<std::string> metrics;
  int rank = -1;
  bool csv = false;
};

// Step -> one cell for each series, empty where it has no point.
std::map<int64_t, std::vector<std::string>> by_step(const std::vector<Series>& all, std::string (*format)(double)) {
  std::map<int64_t, std::vector<std::string>> rows;
  for (size_t i = 0; i < all.size(); ++i)
    for (const history::MetricPoint& point : all[i].points) {
      std::vector<std::string>& row = rows[point.step];
      row.resize(all.size());
      row[i] = format(point.value);
    }
  return rows;
}

void print_csv(const std::vector<Series>& all) {
  std::string header = "step";
  for (const Series& series : all) header += "," + csv_field(series.metric);
  std::puts(header.c_str());
  for (const auto& [step, cells] : by_step(all, csv_number)) fmt::print("{},{}\n", step, fmt::join(cells, ","));
}

void print_points(const std::vector<Series>& all) {
  std::vector<Column> columns = {{"step", Align::right}};
  for (const Series& series : all) columns.push_back({text::printable(series.metric), Align::right});
  Table table(std::move(columns));
  for (auto& [step, cells] : by_step(all, text::format_value)) {
    std::vector<std::string> row = {std::to_string(step)};
    row.insert(row.end(), cells.begin(), cells.end());
    table.add_row(std::move(row));
  }
  table.print();
}

// Smallest and largest of the finite values; NaN when there are none.
std::pair<double, double> finite_range(const std::vector<history::MetricPoint>& points) {
  std::pair<double, double> range{std::nan(""), std::nan("")};
  for (const history::MetricPoint& point : points) {
    if (!std::isfinite(point.value)) continue;
    range.first = std::fmin(range.first, point.value);
    range.second = std::fmax(range.second, point.value);
  }
  return range;
}

void print_overview(const std::vector<Series>& all) {
  Table table({{"metric"},
               {"points", Align::right},
               {"first", Align::right},
               {"last", Align::right},
               {"min", Align::right},
               {"max", Align::right},
               {"not finite", Align::right}});
  for (const Series& series : all) {
    const auto& points = series.points;
    if (points.empty()) continue;
    const auto [low, high] = finite_range(points);
    const auto odd = std::count_if(points.begin(), points.end(), [](const auto& point) { return !std::isfinite(point.value); });
    table.add_row({text::printable(series.metric), text::format_count(static_cast<int64_t>(points.size())), text::format_value(points.front().value),
                   text::format_value(points.back().value), text::format_value(low), text::format_value(high), text::format_count(odd)});
  }
  table.print();
}

void print_json(const history::RunRecord& run, const std::vector<Series>& all) {
  nlohmann::json json = {{"run", run.id}, {"name", run.name}, {"metrics", nlohmann::json::object()}};
  for (const Series& series : all) {
    nlohmann::json& list = json["metrics"][series.metric] = nlohmann::json::array();
    for (const history::MetricPoint& point : series.points) list.push_back(to_json(point));
  }
  std::fputs(dump_document(json).c_str(), stdout);
}

int metrics(const Options& options, const Invocation& invocation) {
  const history::Reader reader = options.store.open();
  const history::RunRecord run = reader.run(options.run);
  const std::vector<Series> all = read_series(reader, run, options.metrics, options.rank);
  if (invocation.json)
    print_json(run, all);
  else if (options.csv)
    print_csv(all);
  else if (options.metrics.empty())
    print_overview(all);
  else
    print_points(all);
  return 0;
}

}  // namespace

void build_runs_metrics(Command& runs, Invocation& invocation) {
  Command command = add_subverb(runs, "metrics", "A run's metrics: an overview, or every point of those named");
  auto options = std::make_shared<Options>();
  command.add_option("run", options->run, "the run's id, the beginning of one, a name, or last").required();
  command.add_option("-m,--metric", options->metrics, "a metric's name; may be given more than once").type_name("NAME");
  command.add_option("--rank", options->rank, "the points that this rank sent (default: those of the run as a whole)");
  command.add_flag("--csv", options->csv, "one line for each step, one column for each metric");
  options->store.add_to(command);
  set_action(command, invocation, [options, &invocation] { return metrics(*options, invocation); });
}

}  // namespace ringwright::cli
