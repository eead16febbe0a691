// What the parts of the Layout view have in common.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "console/gui/services/style.h"
#include "shared/base/text.h"

namespace ringwright::gui {

inline constexpr double kHeadTint = 0.40, kTailTint = 0.24;

inline std::string count_text(int64_t count) { return text::format_count(count); }

// A fill of a rank that carries text, over the ground of a view.
Color tinted(Color fill, double share);
// Padding: slanted lines in an outline, the batch's own rising and the layout's falling.
void hatch(ImDrawList* list, ImVec2 low, ImVec2 high, bool rising);
// A title, and what is to be known about its part at the right, as far as there is room.
void layout_heading(const char* title, std::string_view facts);

}  // namespace ringwright::gui
