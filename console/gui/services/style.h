// Scale, fonts and colours as the views use them.
#pragma once

#include <imgui.h>

#include <string>
#include <vector>

#include "console/gui/look/tokens.h"

namespace ringwright::gui {

// n design pixels at the current scale; whole pixels, so hairlines stay crisp.
float px(float n);
float scale();
// 0.75 to 3.
void set_scale(float scale);

ImU32 to_u32(Color color);
ImVec4 to_vec4(Color color);

// The theme in use. Set before the first frame and between frames.
const Theme& theme();
void set_theme(const Theme& theme);
inline ImU32 color(Token token) { return to_u32(theme()[token]); }
// Up to ten ranks have a colour of the palette; more get a ramp of lightness, and are told apart by row and hover.
Color rank_color(int rank, int ranks);
// Colours, paddings and roundings of ImGui and ImPlot from theme and scale.
void apply_style();

// What a text is for decides its font and size (console design, section 3).
enum class Role { brand, body, label, heading, hint, number, code, axis, count };

// Opens the fonts that were found when the console was built, or that lie in Debian's places. Returns a notice naming those that are
// missing ("" when none is); ImGui's own font stands in for them, and letters for icons.
std::string load_fonts();
ImFont* font(Role role);
float font_px(Role role);

// RAII: this font until the end of the block.
class WithFont {
 public:
  explicit WithFont(Role role);
  ~WithFont();
  WithFont(const WithFont&) = delete;
  WithFont& operator=(const WithFont&) = delete;
};

struct Icon {
  const char* glyph;   // in the icon font
  const char* letter;  // when there is none
};

// An icon of `size` design pixels centred on `center`.
void draw_icon(ImDrawList* list, const Icon& icon, ImVec2 center, float size, ImU32 ink);

}  // namespace ringwright::gui
