#define IMGUI_DEFINE_MATH_OPERATORS
#include "tests/console/gui/inspect/text_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "console/gui/look/color.h"
#include "console/gui/services/style.h"

namespace ringwright::gui {
namespace {

constexpr float kClipTolerance = 1.5F, kOverlapMin = 2;
constexpr float kCellPx = 32;

Color color_of(ImU32 packed) {
  const auto channel = [&](int shift) { return static_cast<uint8_t>(packed >> shift & 0xFF); };
  return {channel(IM_COL32_R_SHIFT), channel(IM_COL32_G_SHIFT), channel(IM_COL32_B_SHIFT), channel(IM_COL32_A_SHIFT)};
}

// The icon font has nothing but glyphs of the private use area.
bool is_icon(const DrawnText& drawn) { return drawn.text.size() == 3 && static_cast<uint8_t>(drawn.text[0]) == 0xEF; }

std::string named(const DrawnText& drawn) {
  return fmt::format("'{}' at {:.0f},{:.0f} in {}", drawn.text.substr(0, 60), drawn.place.Min.x, drawn.place.Min.y,
                     drawn.window != nullptr ? drawn.window->RootWindow->Name : "no window");
}

// A place on the screen, and the colour that the fills up to a draw list give it.
struct GroundPoint {
  ImVec2 place;
  int last_list;
  Color ground = rgb(0x000000);
};

// Finds the points that a triangle may cover without looking at all of them.
class PointGrid {
 public:
  explicit PointGrid(std::vector<GroundPoint>& points) : points_(points) {
    for (const GroundPoint& point : points) size_ = {std::max(size_.x, point.place.x), std::max(size_.y, point.place.y)};
    across_ = static_cast<int>(size_.x / kCellPx) + 1;
    cells_.resize(static_cast<size_t>(across_) * (static_cast<size_t>(size_.y / kCellPx) + 1));
    for (size_t i = 0; i < points.size(); ++i) cells_[cell(points[i].place)].push_back(i);
  }

  template <class Visit>
  void each_in(const ImRect& box, Visit visit) {
    const int left = static_cast<int>(std::max(0.0F, box.Min.x) / kCellPx), right = static_cast<int>(std::min(size_.x, box.Max.x) / kCellPx);
    const int top = static_cast<int>(std::max(0.0F, box.Min.y) / kCellPx), bottom = static_cast<int>(std::min(size_.y, box.Max.y) / kCellPx);
    for (int y = top; y <= bottom; ++y) {
      for (int x = left; x <= right; ++x) {
        for (const size_t i : cells_[static_cast<size_t>(y * across_ + x)]) {
          if (box.Contains(points_[i].place)) visit(points_[i]);
        }
      }
    }
  }

 private:
  size_t cell(ImVec2 place) const { return static_cast<size_t>(static_cast<int>(place.y / kCellPx) * across_ + static_cast<int>(place.x / kCellPx)); }

  std::vector<GroundPoint>& points_;
  ImVec2 size_{0, 0};
  int across_ = 1;
  std::vector<std::vector<size_t>> cells_;
};

// Share of the ink at a place of the font atlas, which has fills, rounded corners and lines beside the glyphs.
float coverage(ImVec2 uv) {
  ImTextureData& atlas = *ImGui::GetIO().Fonts->TexData;
  const int x = std::clamp(static_cast<int>(uv.x * static_cast<float>(atlas.Width)), 0, atlas.Width - 1);
  const int y = std::clamp(static_cast<int>(uv.y * static_cast<float>(atlas.Height)), 0, atlas.Height - 1);
  const auto* pixel = static_cast<const uint8_t*>(atlas.GetPixelsAt(x, y));
  return static_cast<float>(pixel[atlas.BytesPerPixel - 1]) / 255;
}

// Blends a triangle's colour over the points that it covers.
void blend_triangle(const std::array<const ImDrawVert*, 3>& corners, const ImRect& clip, int list, PointGrid& grid) {
  ImRect box(corners[0]->pos, corners[0]->pos);
  for (const ImDrawVert* corner : corners) box.Add(corner->pos);
  box.ClipWith(clip);
  if (box.IsInverted()) return;
  grid.each_in(box, [&](GroundPoint& point) {
    if (list > point.last_list || !ImTriangleContainsPoint(corners[0]->pos, corners[1]->pos, corners[2]->pos, point.place)) return;
    std::array<float, 3> weight{};
    ImTriangleBarycentricCoords(corners[0]->pos, corners[1]->pos, corners[2]->pos, point.place, weight[0], weight[1], weight[2]);
    ImVec4 mixed{0, 0, 0, 0};
    ImVec2 uv{0, 0};
    for (size_t i = 0; i < 3; ++i) {
      mixed += ImGui::ColorConvertU32ToFloat4(corners[i]->col) * ImVec4(weight[i], weight[i], weight[i], weight[i]);
      uv += corners[i]->uv * weight[i];
    }
    mixed.w *= coverage(uv);
    point.ground = blend(color_of(ImGui::ColorConvertFloat4ToU32(mixed)), point.ground);
  });
}

void find_grounds(std::vector<GroundPoint>& points, const ImDrawData& data) {
  const Color base = theme()[Token::bg0];
  for (GroundPoint& point : points) point.ground = base;
  PointGrid grid(points);
  for (int l = 0; l < data.CmdLists.Size; ++l) {
    const ImDrawList& list = *data.CmdLists[l];
    for (const ImDrawCmd& command : list.CmdBuffer) {
      if (command.UserCallback != nullptr) continue;
      const ImDrawVert* vertices = list.VtxBuffer.Data + command.VtxOffset;
      const ImDrawIdx* indices = list.IdxBuffer.Data + command.IdxOffset;
      for (unsigned i = 0; i + 2 < command.ElemCount; i += 3)
        blend_triangle({&vertices[indices[i]], &vertices[indices[i + 1]], &vertices[indices[i + 2]]}, ImRect(command.ClipRect), l, grid);
    }
  }
}

int index_of(const ImDrawList* list, const ImDrawData& data) {
  for (int l = 0; l < data.CmdLists.Size; ++l) {
    if (data.CmdLists[l] == list) return l;
  }
  return -1;
}

constexpr std::array<float, 3> kSampleShares = {0.1F, 0.5F, 0.9F};

void find_contrast_faults(const std::vector<DrawnText>& texts, const ImDrawData& data, std::vector<std::string>& faults) {
  std::vector<GroundPoint> points;
  for (const DrawnText& drawn : texts) {
    for (const float share : kSampleShares)
      points.push_back({{ImLerp(drawn.visible.Min.x, drawn.visible.Max.x, share), drawn.visible.GetCenter().y}, index_of(drawn.list, data)});
  }
  if (points.empty()) return;
  find_grounds(points, data);
  for (size_t i = 0; i < texts.size(); ++i) {
    if (points[i * 3].last_list < 0) continue;  // of a window that was hidden in the end
    double lowest = 21;
    Color ground;
    for (size_t s = 0; s < 3; ++s) {
      const Color under = points[i * 3 + s].ground;
      const double ratio = contrast(blend(color_of(texts[i].ink), under), under);
      if (ratio < lowest) lowest = ratio, ground = under;
    }
    if (lowest >= (is_icon(texts[i]) ? kIconContrastMin : kTextContrastMin) - 0.005) continue;
    const Color ink = color_of(texts[i].ink);
    faults.push_back(fmt::format("contrast {:.2f}, ink {:02X}{:02X}{:02X}/{:02X} on {:02X}{:02X}{:02X}: {}", lowest, ink.red, ink.green, ink.blue,
                                 ink.alpha, ground.red, ground.green, ground.blue, named(texts[i])));
  }
}

// Of a list's corners, those whose place is no number: what a renderer makes of them is its own business.
void find_broken_corners(const ImDrawData& data, std::vector<std::string>& faults) {
  for (const ImDrawList* list : data.CmdLists) {
    const auto broken = std::count_if(list->VtxBuffer.begin(), list->VtxBuffer.end(),
                                      [](const ImDrawVert& corner) { return !std::isfinite(corner.pos.x) || !std::isfinite(corner.pos.y); });
    if (broken > 0)
      faults.push_back(fmt::format("{} corners without a place in {}", broken, list->_OwnerName != nullptr ? list->_OwnerName : "a list"));
  }
}

bool is_cut(const DrawnText& drawn) {
  const bool cut_x = drawn.visible.GetWidth() < drawn.place.GetWidth() - kClipTolerance && !drawn.scrolls_x;
  const bool cut_y = drawn.visible.GetHeight() < drawn.place.GetHeight() * 0.75F && !drawn.scrolls_y;
  return !drawn.in_field && (cut_x || cut_y);
}

// Where the ink is: a line's top and bottom are room for accents and descenders.
ImRect inked(const DrawnText& drawn) {
  ImRect box = drawn.visible;
  const float margin = drawn.size_px * 0.2F;
  if (box.GetHeight() > 2 * margin) box.Min.y += margin, box.Max.y -= margin;
  return box;
}

bool overlap(const DrawnText& a, const DrawnText& b) {
  if (a.window == nullptr || b.window == nullptr || a.window->RootWindow != b.window->RootWindow) return false;
  ImRect shared = inked(a);
  const ImRect other = inked(b);
  if (!shared.Overlaps(other)) return false;
  shared.ClipWith(other);
  return shared.GetWidth() > kOverlapMin && shared.GetHeight() > kOverlapMin;
}

}  // namespace

std::vector<std::string> text_faults(const std::vector<DrawnText>& texts, const ImDrawData& grounds) {
  std::vector<std::string> faults;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].size_px < kTextSizeMin * scale() - 0.5F) faults.push_back(fmt::format("{} px: {}", texts[i].size_px / scale(), named(texts[i])));
    if (is_cut(texts[i]))
      faults.push_back(fmt::format("cut to {:.0f}x{:.0f} of {:.0f}x{:.0f}: {}", texts[i].visible.GetWidth(), texts[i].visible.GetHeight(),
                                   texts[i].place.GetWidth(), texts[i].place.GetHeight(), named(texts[i])));
    for (size_t j = 0; j < i; ++j) {
      if (overlap(texts[i], texts[j])) faults.push_back("over another: " + named(texts[i]) + ", " + named(texts[j]));
    }
  }
  find_contrast_faults(texts, grounds, faults);
  find_broken_corners(grounds, faults);
  return faults;
}

}  // namespace ringwright::gui
