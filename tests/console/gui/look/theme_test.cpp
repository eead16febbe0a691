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

// The same measure over palettes that others publish gives the figures that the design has for them.
TEST(Theme, OtherPalettesMeasureAsTheDesignSays) {
  struct Palette {
    const char* name;
    std::vector<Color> colors;
    double normal, protan, deutan, tritan;
  };
  const auto of = [](std::initializer_list<uint32_t> list) {
    std::vector<Color> colors;
    for (const uint32_t hex : list) colors.push_back(rgb(hex));
    return colors;
  };
  const Palette palettes[] = {
      {"ImPlot's Deep", of({0x4C72B0, 0xDD8452, 0x55A868, 0xC44E52, 0x8172B3, 0x937860, 0xDA8BC3, 0x8C8C8C, 0xCCB974, 0x64B5CD}), 13.4, 2.2, 4.6,
       8.6},
      {"tab10", of({0x1F77B4, 0xFF7F0E, 0x2CA02C, 0xD62728, 0x9467BD, 0x8C564B, 0xE377C2, 0x7F7F7F, 0xBCBD22, 0x17BECF}), 16.2, 1.3, 3.3, 9.5},
      {"Okabe-Ito", of({0x000000, 0xE69F00, 0x56B4E9, 0x009E73, 0xF0E442, 0x0072B2, 0xD55E00, 0xCC79A7}), 21.7, 12.2, 11.6, 10.9}};
  for (const Palette& palette : palettes) {
    EXPECT_NEAR(smallest_distance(palette.colors, Vision::normal), palette.normal, 0.3) << palette.name;
    EXPECT_NEAR(smallest_distance(palette.colors, Vision::protan), palette.protan, 0.3) << palette.name;
    EXPECT_NEAR(smallest_distance(palette.colors, Vision::deutan), palette.deutan, 0.3) << palette.name;
    EXPECT_NEAR(smallest_distance(palette.colors, Vision::tritan), palette.tritan, 0.3) << palette.name;
  }
}

// Blocks of the Layout view: text on a tint, ink on a solid fill.
TEST(Theme, TextReadsOnTintsAndFills) {
  for (const Theme* theme : {&dark_theme(), &light_theme()}) {
    for (const Color series : theme->series) {
      for (const double alpha : {0.24, 0.40})
        EXPECT_GE(contrast((*theme)[Token::text], blend(with_alpha(series, alpha), (*theme)[Token::bg1])), 4.7) << theme->name << " at " << alpha;
      EXPECT_GE(contrast(series, ink_on(series)), 4.6) << theme->name;
    }
  }
}

// A tint does not tell series apart, which is why each block has a solid edge.
TEST(Theme, TintsDoNotIdentify) {
  constexpr double expected[] = {5.4, 1.2};
  for (const Theme* theme : {&dark_theme(), &light_theme()}) {
    std::vector<Color> tints;
    for (const Color series : theme->series) tints.push_back(blend(with_alpha(series, 0.40), (*theme)[Token::bg1]));
    double smallest = 1000;
    for (const Vision vision : {Vision::normal, Vision::protan, Vision::deutan, Vision::tritan})
      smallest = std::min(smallest, smallest_distance(tints, vision));
    EXPECT_NEAR(smallest, expected[theme == &light_theme() ? 1 : 0], 0.5) << theme->name;
  }
}

// Outlines that carry meaning and the focus ring are seen against every ground that they lie on.
TEST(Theme, MeaningfulLinesAreSeen) {
  for (const Theme* theme : {&dark_theme(), &light_theme()}) {
    const double outline = std::min(contrast((*theme)[Token::line2], (*theme)[Token::bg1]), contrast((*theme)[Token::line2], (*theme)[Token::bg2]));
    EXPECT_NEAR(outline, theme == &dark_theme() ? 2.9 : 3.2, 0.1) << theme->name;
    EXPECT_GE(lowest_contrast(*theme, Token::accent), 3.0) << theme->name;
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
