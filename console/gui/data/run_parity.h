// Whether two runs did the same, metric by metric.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shared/history/comparison.h"

namespace ringwright::gui {

struct ParityRow {
  std::string metric;
  int64_t common = 0, equal_bits = 0, only_one = 0;  // steps
  double mean_difference = 0, largest_difference = 0;
  std::optional<int64_t> first_different_step;
  bool within_tolerance = false;
};

struct RunParity {
  std::string a, b;
  std::vector<ParityRow> rows;  // metrics that both have, by name
  std::string not_comparable;   // why single steps say nothing; "" when they do
};
// Reads both runs' series one after the other.
RunParity compare_metrics(const history::Reader& reader, const std::string& a, const std::string& b);

}  // namespace ringwright::gui
