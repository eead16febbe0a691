// A series that is too long to be read whole, as the history file's pyramid gives it for the width of a plot.
#pragma once

#include "console/gui/data/decimate.h"
#include "shared/history/reduction.h"

namespace ringwright::gui {

// The extremes of each column in the order in which they come, a break where it has no finite point, and a mark at its first non-finite one. x is
// the step, counted from `origin`.
Decimated decimate(const history::Reduction& reduction, int64_t origin = 0);
// The moving average with bias correction over the columns' means, each as often as it has points: a weight means the same as for a series that is in
// memory. It begins anew with the column of each step of `resumed_at`.
Decimated smooth(const history::Reduction& reduction, double weight, int64_t origin = 0, const std::vector<int64_t>& resumed_at = {});

}  // namespace ringwright::gui
