#include "console/gui/plot/line_drawing.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

namespace ringwright::gui {
namespace {

struct DashPattern {
  float on_px, period_px;
};
constexpr DashPattern kDashes[] = {{1, 1}, {8, 13}, {2, 6}};
constexpr int kCorners = 4, kIndices = 6;  // of a rectangle
constexpr float kLoneDotRadius = 1.2F;     // of the line's weight

// Rectangles at the end of a list: room is asked for once, and what is not used is given back.
class Rectangles {
 public:
  Rectangles(ImDrawList* list, int count_max) : list_(list), left_(count_max) { list_->PrimReserve(count_max * kIndices, count_max * kCorners); }
  ~Rectangles() { list_->PrimUnreserve(left_ * kIndices, left_ * kCorners); }
  Rectangles(const Rectangles&) = delete;
  Rectangles& operator=(const Rectangles&) = delete;

  int left() const { return left_; }
  void add(const ImVec2 (&corners)[kCorners], const ImVec2& uv_a, const ImVec2& uv_b, ImU32 ink) {
    if (left_ == 0) return;
    --left_;
    ImDrawVert* vertex = list_->_VtxWritePtr;
    for (int i = 0; i < kCorners; ++i) vertex[i] = {corners[i], i < 2 ? uv_a : uv_b, ink};
    ImDrawIdx* index = list_->_IdxWritePtr;
    const auto first = static_cast<ImDrawIdx>(list_->_VtxCurrentIdx);
    constexpr ImDrawIdx kOrder[kIndices] = {0, 1, 2, 0, 2, 3};
    for (int i = 0; i < kIndices; ++i) index[i] = first + kOrder[i];
    list_->_VtxWritePtr += kCorners;
    list_->_IdxWritePtr += kIndices;
    list_->_VtxCurrentIdx += kCorners;
  }

 private:
  ImDrawList* list_;
  int left_;
};

class LinePen {
 public:
  LinePen(ImDrawList* list, const LineLook& look, int count_max)
      : rectangles_(list, count_max), ink_(look.ink), dash_(kDashes[static_cast<int>(look.dash)]) {
    is_dashed_ = look.dash != Dash::solid;
    float fringe = 0;
    const float weight = std::max(1.0F, look.weight_px);
    list->_SelectLineTexture(weight, &uv_a_, &uv_b_, &fringe, list->Flags & ImDrawFlags_AALines);
    half_ = (weight + fringe) / 2;
    white_ = list->_Data->TexUvWhitePixel;
    // Columns are a pixel apart: transparent bars that are wider would lie on each other.
    const bool opaque = (look.ink & IM_COL32_A_MASK) == IM_COL32_A_MASK;
    bar_width_ = opaque ? std::floor(weight) : 1;
    bar_shift_ = std::floor((bar_width_ - 1) / 2);
  }

  void segment(float x0, float y0, float x1, float y1) {
    if (!is_dashed_ || x1 - x0 < 1) {
      if (is_on(x0)) piece(x0, y0, x1, y1);
      return;
    }
    const float slope = (y1 - y0) / (x1 - x0);
    for (float from = std::floor(x0 / dash_.period_px) * dash_.period_px; from < x1 && rectangles_.left() > 0; from += dash_.period_px) {
      const float a = std::max(x0, from), b = std::min(x1, from + dash_.on_px);
      if (b > a) piece(a, y0 + (a - x0) * slope, b, y0 + (b - x0) * slope);
    }
  }

  void bar(float column, float low, float high) {
    if (!is_on(column)) return;
    const float left = column - bar_shift_, right = left + bar_width_, top = low - 0.5F, bottom = high + 0.5F;
    rectangles_.add({{left, top}, {right, top}, {right, bottom}, {left, bottom}}, white_, white_, ink_);
  }

 private:
  bool is_on(float x) const { return !is_dashed_ || x - std::floor(x / dash_.period_px) * dash_.period_px < dash_.on_px; }

  void piece(float x0, float y0, float x1, float y1) {
    const float dx = x1 - x0, dy = y1 - y0, squared = dx * dx + dy * dy;
    if (!(squared > 0)) return;
    const float scale = half_ / std::sqrt(squared), nx = dy * scale, ny = -dx * scale;
    rectangles_.add({{x0 + nx, y0 + ny}, {x1 + nx, y1 + ny}, {x1 - nx, y1 - ny}, {x0 - nx, y0 - ny}}, uv_a_, uv_b_, ink_);
  }

  Rectangles rectangles_;
  ImU32 ink_;
  DashPattern dash_;
  bool is_dashed_ = false;
  ImVec2 uv_a_, uv_b_, white_;
  float half_ = 1, bar_width_ = 1, bar_shift_ = 0;
};

void draw_dots(ImDrawList* list, const std::vector<double>& x, const std::vector<double>& y, const PlotScale& scale, float radius, ImU32 ink) {
  for (size_t i = 0; i < x.size(); ++i) {
    if (!scale.shows(y[i]) || scale.x(x[i]) < scale.left || scale.x(x[i]) > scale.right) continue;
    list->AddCircleFilled({static_cast<float>(scale.x(x[i])), static_cast<float>(scale.y(y[i]))}, radius, ink, 8);
  }
}

}  // namespace

void draw_curve(ImDrawList* list, const double* x, const double* y, size_t count, const PlotScale& scale, const LineLook& look) {
  if (count == 0) return;
  // At most a bar and a segment a point; dashes cut long segments into one a period.
  int pieces = static_cast<int>(2 * count + 2);
  if (look.dash != Dash::solid)
    pieces +=
        static_cast<int>((scale.right - scale.left) / static_cast<double>(kDashes[static_cast<int>(look.dash)].period_px)) + static_cast<int>(count);
  LinePen pen(list, look, pieces);
  Strokes strokes(
      scale, [&](float x0, float y0, float x1, float y1) { pen.segment(x0, y0, x1, y1); },
      [&](float column, float low, float high) { pen.bar(column, low, high); });
  strokes.draw(x, y, count);
}

void draw_line(ImDrawList* list, const Decimated& drawn, const PlotScale& scale, const LineLook& look) {
  draw_curve(list, drawn.x.data(), drawn.y.data(), drawn.x.size(), scale, look);
  if (look.dot_radius_px > 0) draw_dots(list, drawn.x, drawn.y, scale, look.dot_radius_px, look.ink);
  draw_dots(list, drawn.lone_x, drawn.lone_y, scale, std::max(look.dot_radius_px, look.weight_px * kLoneDotRadius), look.ink);
}

void draw_band(ImDrawList* list, const double* x, const double* low, const double* high, size_t count, const PlotScale& scale, ImU32 ink) {
  if (count < 2) return;
  Rectangles rectangles(list, static_cast<int>(count));
  const ImVec2 white = list->_Data->TexUvWhitePixel;
  const auto place = [&](size_t i, const double* y) { return ImVec2{static_cast<float>(scale.x(x[i])), static_cast<float>(scale.y(y[i]))}; };
  for (size_t i = 0; i + 1 < count; ++i) {
    if (!scale.shows(low[i]) || !scale.shows(low[i + 1]) || !scale.shows(high[i]) || !scale.shows(high[i + 1])) continue;
    rectangles.add({place(i, low), place(i + 1, low), place(i + 1, high), place(i, high)}, white, white, ink);
  }
}

}  // namespace ringwright::gui
