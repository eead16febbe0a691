// What is wrong with the texts of a frame (console design, section 9): cut without an ellipsis, one over another, too little contrast, too small;
// and corners of what is drawn that lie nowhere.
#pragma once

#include <string>
#include <vector>

#include "tests/console/gui/inspect/drawn_text.h"

namespace ringwright::gui {

inline constexpr float kTextSizeMin = 11.5F;     // design pixels
inline constexpr double kTextContrastMin = 4.5;  // WCAG 2, AA
inline constexpr double kIconContrastMin = 3.0;  // WCAG 2, graphical objects

// `texts` of one frame; `grounds` is the same frame without its texts. One sentence each.
std::vector<std::string> text_faults(const std::vector<DrawnText>& texts, const ImDrawData& grounds);

}  // namespace ringwright::gui
