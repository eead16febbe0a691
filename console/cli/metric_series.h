// The metrics that a user names, read from the history.
#pragma once

#include <string>
#include <vector>

#include "shared/exchange/text_export.h"
#include "shared/history/store.h"

namespace ringwright::cli {

struct Series {
  std::string metric;
  std::vector<history::MetricPoint> points;  // in step order
};

// The named metrics of a run, or all when none is named; rank -1: of the run as a whole. Throws Error RW-CLI-010 (exit code 2) for a metric that
// the run does not have, with the nearest one.
std::vector<Series> read_series(const history::Reader& reader, const history::RunRecord& run, const std::vector<std::string>& names, int rank = -1);

using exchange::csv_field;
using exchange::csv_number;

}  // namespace ringwright::cli
