// The two themes as data: one colour per role. The ratios and distances that these were chosen for are tested (tests/console/gui/look).
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "console/gui/look/color.h"

namespace ringwright::gui {

enum class Token {
  bg0,          // application and bars
  bg1,          // panel and plot
  bg2,          // field, header, card
  bg3,          // hover, button
  sel,          // selected row, active segment
  line,         // hairline
  line2,        // outline that carries meaning
  text,         // values
  text2,        // labels
  text3,        // hints
  accent,       // link, focus, live
  accent_fill,  // primary button, with white text
  ok,
  info,
  warn,
  error,
  padded,
  neutral,
  count
};

inline constexpr size_t kSeriesColors = 10;

struct Theme {
  std::string_view name;
  std::array<Color, static_cast<size_t>(Token::count)> tokens;
  std::array<Color, kSeriesColors> series;

  Color operator[](Token token) const { return tokens[static_cast<size_t>(token)]; }
  // Color i of the palette; it repeats.
  Color series_color(int index) const;
};

const Theme& dark_theme();
const Theme& light_theme();
// "dark" or "light"; throws Error RW-GUI-002 for another name.
const Theme& theme_named(std::string_view name);
std::span<const std::string_view> series_color_names();

}  // namespace ringwright::gui
