#include "console/gui/data/strokes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "console/gui/data/decimate.h"

namespace ringwright::gui {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Piece {
  float x0, y0, x1, y1;
  bool is_bar;
};

std::vector<Piece> strokes_of(const std::vector<double>& x, const std::vector<double>& y, const PlotScale& scale) {
  std::vector<Piece> pieces;
  Strokes strokes(
      scale, [&](float x0, float y0, float x1, float y1) { pieces.push_back({x0, y0, x1, y1, false}); },
      [&](float column, float low, float high) { pieces.push_back({column, low, column, high, true}); });
  strokes.draw(x.data(), y.data(), x.size());
  return pieces;
}

// How far a pixel lies from the nearest stroke; a bar fills its column.
double distance_to(const std::vector<Piece>& pieces, double x, double y) {
  double nearest = 1e9;
  for (const Piece& piece : pieces) {
    double t = 0;
    const double dx = piece.x1 - piece.x0, dy = piece.y1 - piece.y0, length = dx * dx + dy * dy;
    if (length > 0) t = std::clamp(((x - piece.x0) * dx + (y - piece.y0) * dy) / length, 0.0, 1.0);
    const double across = std::abs(x - (piece.x0 + t * dx)) - (piece.is_bar ? 1 : 0), along = y - (piece.y0 + t * dy);
    nearest = std::min(nearest, std::hypot(std::max(0.0, across), along));
  }
  return nearest;
}

TEST(Strokes, T32EveryPointLiesAtWhatIsDrawn) {
  Series series;
  for (int64_t step = 0; step < 200'000; ++step) {
    const double t = static_cast<double>(step);
    series.append({step, step == 123'456 ? 9.0 : std::sin(t / 9000) + 0.2 * std::sin(t * 1.7), -1, step, 0});
  }
  for (const double span : {200'000.0, 20'000.0, 500.0, 90.0}) {
    const double start = 123'400 - span / 3;
    const Decimated drawn = decimate(series, {start, start + span, 400, XAxis::step, 0});
    PlotScale scale{400 / span, -start * 400 / span, -20, 200};
    scale.left = -1, scale.right = 401;
    const std::vector<Piece> pieces = strokes_of(drawn.x, drawn.y, scale);
    EXPECT_LE(pieces.size(), 2u * 400 + 8) << span;
    for (size_t i = 0; i < drawn.x.size(); ++i) {
      const double x = scale.x(drawn.x[i]);
      if (x < 0 || x > 400) continue;
      ASSERT_LE(distance_to(pieces, x, scale.y(drawn.y[i])), 1.5) << span << ", point " << i;
    }
  }
}

TEST(Strokes, NoiseCostsOneBarAColumn) {
  std::vector<double> x, y;
  for (int i = 0; i < 4000; ++i) x.push_back(i * 0.1), y.push_back(i % 2 == 0 ? 10 : 90);
  const std::vector<Piece> pieces = strokes_of(x, y, {});
  EXPECT_EQ(pieces.size(), 400u);
  for (const Piece& piece : pieces) EXPECT_TRUE(piece.is_bar && piece.y0 == 10 && piece.y1 == 90);
}

TEST(Strokes, T31NothingIsDrawnAcrossABreak) {
  const std::vector<Piece> pieces = strokes_of({0, 10, 20, 30, 40}, {1, 2, kNaN, 4, 5}, {});
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[0].x1, 10);
  EXPECT_EQ(pieces[1].x0, 30);
  PlotScale logarithmic{1, 0, 1, 0, true};
  EXPECT_EQ(strokes_of({0, 10, 20, 30, 40}, {1, 2, -3, 4, 5}, logarithmic).size(), 2u) << "what has no logarithm is a break";
  EXPECT_TRUE(strokes_of({}, {}, {}).empty());
}

TEST(Strokes, AStretchWithinOnePixelIsADot) {
  const std::vector<Piece> pieces = strokes_of({5.1, 5.3, 6.2, 9}, {2, 2.2, kNaN, kNaN}, {});
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_TRUE(pieces[0].is_bar);
  EXPECT_EQ(pieces[0].x0, 5);
}

TEST(Strokes, ANeighbourFarOutsideBendsNoLine) {
  PlotScale scale;
  scale.left = 0, scale.right = 500;
  const std::vector<Piece> pieces = strokes_of({-1e12, 1e12}, {-1e5, 1e5}, scale);
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_EQ(pieces[0].x0, 0);
  EXPECT_EQ(pieces[0].x1, 500);
  EXPECT_NEAR(pieces[0].y0, 0, 1e-3);
  EXPECT_TRUE(strokes_of({-20, -10}, {1, 2}, scale).empty());
  for (const Piece& piece : strokes_of({1, 2}, {1e300, -1e300}, scale)) EXPECT_TRUE(std::isfinite(piece.y0) && std::isfinite(piece.y1));
}

}  // namespace
}  // namespace ringwright::gui
