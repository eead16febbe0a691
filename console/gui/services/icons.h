// Glyphs of Material Design Icons (Debian's fonts-materialdesignicons-webfont 1.6.50), with the letter that stands in when it is missing.
#pragma once

#include "console/gui/services/style.h"

namespace ringwright::gui::icons {

inline constexpr Icon check_circle{"\xEF\x97\xA0", "OK"};
inline constexpr Icon cross_circle{"\xEF\x85\x99", "X"};
inline constexpr Icon triangle{"\xEF\x80\xA6", "!"};
inline constexpr Icon plus_circle{"\xEF\x90\x97", "+"};
inline constexpr Icon question_circle{"\xEF\x8B\x97", "?"};
inline constexpr Icon skip_circle{"\xEF\x99\xA1", ">"};
inline constexpr Icon minus_circle{"\xEF\x8D\xB6", "-"};
inline constexpr Icon play{"\xEF\x90\x8A", ">"};
inline constexpr Icon stop{"\xEF\x93\x9B", "#"};
inline constexpr Icon ring{"\xEF\x84\xB0", "o"};
inline constexpr Icon hourglass{"\xEF\x94\x9F", "~"};
inline constexpr Icon clock{"\xEF\x85\x90", "c"};
inline constexpr Icon magnify{"\xEF\x8D\x89", "?"};
inline constexpr Icon bell{"\xEF\x82\x9A", "A"};
inline constexpr Icon moon{"\xEF\x96\x94", "D"};
inline constexpr Icon sun{"\xEF\x96\xA8", "L"};
inline constexpr Icon copy{"\xEF\x86\x8F", "C"};
inline constexpr Icon console{"\xEF\x86\x8D", "$"};
inline constexpr Icon pause{"\xEF\x8F\xA4", "="};
inline constexpr Icon information{"\xEF\x8B\xBC", "i"};
inline constexpr Icon arrow_down{"\xEF\x81\x85", "v"};
inline constexpr Icon unlinked{"\xEF\x8C\x99", "X"};
inline constexpr Icon chevron_down{"\xEF\x85\x80", "v"};
inline constexpr Icon close{"\xEF\x85\x96", "x"};

}  // namespace ringwright::gui::icons
