// A verdict of the support matrix as the terminal shows it.
#pragma once

#include <string>

#include "console/cli/terminal.h"
#include "shared/support_matrix/support_matrix.h"

namespace ringwright::cli {

inline Style style_of(support_matrix::Verdict verdict) {
  if (support_matrix::stops(verdict)) return Style::bad;
  if (verdict == support_matrix::Verdict::supported) return Style::good;
  return verdict == support_matrix::Verdict::not_applicable ? Style::dim : Style::warning;
}

inline std::string styled_verdict(support_matrix::Verdict verdict) { return styled(support_matrix::to_string(verdict), style_of(verdict)); }

}  // namespace ringwright::cli
