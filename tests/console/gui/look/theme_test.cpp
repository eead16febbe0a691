// The themes keep what they were chosen for: contrasts and distances, recomputed from the tokens.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "console/gui/look/tokens.h"
#include "shared/base/error.h"

namespace ringwright::gui {
namespace {

constexpr Token kGrounds[] = {Token::bg0, Token::bg1, Token::bg2, Token::bg3, Token::sel};

double lowest_contrast(const Theme& theme, Token ink) {
  double lowest = 21;
  for (const Token ground : kGrounds) lowest = std::min(lowest, contrast(theme[ink], theme[ground]));
  return lowest;
}

double smallest_distance(const std::vector<Color>& colors, Vision vision) {
  double smallest = 1000;
  for (size_t i = 0; i < colors.size(); ++i) {
    for (size_t j = 0; j < i; ++j) smallest = std::min(smallest, distance(colors[i], colors[j], vision));
  }
  return smallest;
}

std::vector<Color> state_colors(const Theme& theme) {
  return {theme[Token::ok], theme[Token::info], theme[Token::warn], theme[Token::error], theme[Token::padded], theme[Token::neutral]};
}

TEST(Theme, LowestContrastOfEachInkOverAllGroundsIsTheDesignsTable) {
  struct Row {
    Token ink;
    double dark, light;
  };
  constexpr Row rows[] = {{Token::text, 11.1, 13.1}, {Token::text2, 6.5, 6.4},  {Token::text3, 5.3, 4.9}, {Token::accent, 5.5, 5.1},
                          {Token::ok, 8.4, 5.1},     {Token::info, 4.8, 5.1},   {Token::warn, 7.5, 4.7},  {Token::error, 4.8, 8.1},
                          {Token::padded, 7.5, 9.4}, {Token::neutral, 5.1, 7.0}};
  for (const Row& row : rows) {
    EXPECT_NEAR(lowest_contrast(dark_theme(), row.ink), row.dark, 0.1) << "dark, token " << static_cast<int>(row.ink);
    EXPECT_NEAR(lowest_contrast(light_theme(), row.ink), row.light, 0.1) << "light, token " << static_cast<int>(row.ink);
  }
}

TEST(Theme, WhiteReadsOnThePrimaryButton) {
  EXPECT_NEAR(contrast(dark_theme()[Token::accent_fill], rgb(0xFFFFFF)), 5.3, 0.1);
  EXPECT_NEAR(contrast(light_theme()[Token::accent_fill], rgb(0xFFFFFF)), 6.4, 0.1);
}

TEST(Theme, StatesDifferUnderFourVisions) {
  constexpr Vision visions[] = {Vision::normal, Vision::protan, Vision::deutan, Vision::tritan};
  constexpr double dark[] = {21.3, 11.9, 13.9, 11.9}, light[] = {20.9, 13.4, 12.7, 11.4};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(smallest_distance(state_colors(dark_theme()), visions[i]), dark[i], 0.3) << "dark, vision " << i;
    EXPECT_NEAR(smallest_distance(state_colors(light_theme()), visions[i]), light[i], 0.3) << "light, vision " << i;
  }
}

TEST(Theme, SeriesDifferUnderFourVisionsAndShowOnThePlot) {
  constexpr Vision visions[] = {Vision::normal, Vision::protan, Vision::deutan, Vision::tritan};
  constexpr double dark[] = {20.8, 13.1, 13.2, 13.2}, light[] = {18.5, 12.4, 10.6, 11.1};
  for (const Theme* theme : {&dark_theme(), &light_theme()}) {
    const std::vector<Color> series(theme->series.begin(), theme->series.end());
    for (size_t i = 0; i < 4; ++i)
      EXPECT_NEAR(smallest_distance(series, visions[i]), theme == &dark_theme() ? dark[i] : light[i], 0.3) << theme->name << ", vision " << i;
    for (const Color color : series) {
      EXPECT_GE(contrast(color, (*theme)[Token::bg1]), 3.0);
      EXPECT_GE(contrast(color, ink_on(color)), 4.5);
    }
  }
}

TEST(Color, DistanceAgreesWithPublishedPairs) {
  // Black against white is 100 by definition; a colour has no distance to itself.
  EXPECT_NEAR(distance(rgb(0x000000), rgb(0xFFFFFF)), 100, 0.01);
  EXPECT_EQ(distance(rgb(0x3764D7), rgb(0x3764D7)), 0);
  EXPECT_NEAR(contrast(rgb(0x000000), rgb(0xFFFFFF)), 21, 1e-9);
}

TEST(Theme, UnknownNameIsAnErrorThatNamesBoth) {
  try {
    theme_named("sepia");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.parts().code, "RW-GUI-002");
    EXPECT_EQ(error.parts().expected, "dark or light");
  }
}

}  // namespace
}  // namespace ringwright::gui
