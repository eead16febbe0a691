// Words of the Metrics view.
#pragma once

#include <string>

#include "console/gui/data/series.h"

namespace ringwright::gui {

// Seconds on the elapsed axis beyond which they count from 1970: no run takes thirty years, and no clock says 2001.
inline constexpr double kClockFrom_s = 1e9;

// "step 1,284", "tokens 40,960", "3:12:08", "03-02 08:48", "12 steps after the resume".
std::string metric_x_text(double x, XAxis axis);

}  // namespace ringwright::gui
