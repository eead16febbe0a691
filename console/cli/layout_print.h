// The report of `ringwright layout` as text, JSON and SVG.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "console/cli/layout_report.h"

namespace ringwright::cli {

// To stdout; width: characters of the strip.
void print_layout(const LayoutReport& report, int width);
nlohmann::json layout_json(const LayoutReport& report);
// A picture of the global sequence by rank, each rank's slots, and its work. Self-contained, for light and dark backgrounds.
std::string layout_svg(const LayoutReport& report);

}  // namespace ringwright::cli
