#include "console/cli/metric_series.h"

#include <algorithm>

#include "shared/base/text.h"

namespace ringwright::cli {
namespace {

Error no_metric(const history::RunRecord& run, const std::string& name, const std::vector<std::string>& known) {
  const std::string nearest = text::nearest(name, known);
  return Error({"RW-CLI-010", "run " + run.id + " has no metric \"" + name + "\"", run.name,
                known.empty()
                    ? "a run that has sent metrics"
                    : "one of its " + std::to_string(known.size()) + " metrics" + (nearest.empty() ? "" : "; the nearest is \"" + nearest + "\""),
                "list them with: ringwright runs metrics " + run.id, ExitCode::usage});
}

}  // namespace

std::vector<Series> read_series(const history::Reader& reader, const history::RunRecord& run, const std::vector<std::string>& names, int rank) {
  const std::vector<std::string> known = reader.metric_names(run.id);
  std::vector<Series> all;
  for (const std::string& name : names.empty() ? known : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) throw no_metric(run, name, known);
    all.push_back({name, reader.metric(run.id, name, rank)});
  }
  return all;
}

}  // namespace ringwright::cli
