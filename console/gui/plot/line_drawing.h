// Draws the lines of plots into ImGui's lists: at a hundred thousand strokes a frame, each is a rectangle of four corners and nothing else.
#pragma once

#include <imgui.h>

#include "console/gui/data/decimate.h"
#include "console/gui/data/strokes.h"

namespace ringwright::gui {

// Lines that share a colour are told apart by it.
enum class Dash { solid, dashed, dotted };

struct LineLook {
  ImU32 ink;
  float weight_px;
  Dash dash = Dash::solid;
  float dot_radius_px = 0;  // of the points, 0: none are drawn
};

// The line, its lone points as dots, and with dot_radius_px every other point.
void draw_line(ImDrawList* list, const Decimated& drawn, const PlotScale& scale, const LineLook& look);
// Straight from point to point, broken where a value is not shown.
void draw_curve(ImDrawList* list, const double* x, const double* y, size_t count, const PlotScale& scale, const LineLook& look);
// The area between two curves over the same x, from left to right.
void draw_band(ImDrawList* list, const double* x, const double* low, const double* high, size_t count, const PlotScale& scale, ImU32 ink);

}  // namespace ringwright::gui
