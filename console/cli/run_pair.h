// Two runs and one metric of both: what `runs compare` and `runs parity` are asked for.
#pragma once

#include <string>

#include "console/cli/command.h"
#include "console/cli/metric_series.h"
#include "shared/history/comparison.h"

namespace ringwright::cli {

struct RunPair {
  std::string a, b, metric = "train/loss";

  void add_to(Command& command) {
    command.add_option("a", a, "one run: its id, the beginning of one, a name, or last").required();
    command.add_option("b", b, "the other run").required();
    command.add_option("-m,--metric", metric, "which metric").show_default();
  }
};

// Errors: those of read_series.
inline history::Comparison compare_series(const history::Reader& reader, const history::RunRecord& a, const history::RunRecord& b,
                                          const std::string& metric) {
  return history::compare(read_series(reader, a, {metric}).front().points, read_series(reader, b, {metric}).front().points);
}

}  // namespace ringwright::cli
