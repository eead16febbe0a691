#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "console/gui/data/decimate.h"

namespace ringwright::gui {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Series series_of(const std::vector<double>& values) {
  Series series;
  for (size_t i = 0; i < values.size(); ++i)
    series.append({static_cast<int64_t>(i), values[i], static_cast<int64_t>(i * 10), static_cast<int64_t>(i) * 1'000'000'000, 0});
  return series;
}

PlotRange range(double low, double high, size_t columns) { return {low, high, columns, XAxis::step, 0}; }

TEST(Series, ANearGuessChangesNoBound) {
  Series series;
  for (int64_t i = 0; i < 300; ++i) series.append({i * i / 7 + i, 1.0, i, i, 0});
  for (const double wanted : {-5.0, 0.0, 17.5, 400.0, 5000.0, 99999.0}) {
    for (const size_t guess : {0, 1, 29, 150, 299, 300, 4000})
      EXPECT_EQ(series.lower_bound_near(guess, wanted, XAxis::step), series.lower_bound(wanted, XAxis::step)) << wanted << ", guess " << guess;
  }
}

TEST(Series, SummariesOfAnyStretchEqualAPlainWalk) {
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back(i % 13 == 5 ? kNaN : std::sin(i * 0.7) * (i % 97));
  const Series series = series_of(values);
  for (size_t begin = 0; begin < 1000; begin += 61) {
    for (size_t end = begin + 1; end <= 1000; end += 83) {
      double low = 1e9, high = -1e9;
      size_t finite = 0;
      for (size_t i = begin; i < end; ++i) {
        if (!std::isfinite(values[i])) continue;
        low = std::min(low, values[i]), high = std::max(high, values[i]);
        ++finite;
      }
      const Summary sum = series.summarize(begin, end);
      ASSERT_EQ(sum.finite, finite);
      ASSERT_EQ(sum.nonfinite, end - begin - finite);
      if (finite == 0) continue;
      ASSERT_EQ(sum.min, low);
      ASSERT_EQ(sum.max, high);
      ASSERT_EQ(values[sum.min_index], low);
    }
  }
}

TEST(Series, T29StepsOutOfOrderAreSortedAndARepeatedStepTakesTheLaterValue) {
  Series series;
  for (const int64_t step : {1, 2, 4, 3, 5}) series.append({step, static_cast<double>(step), -1, step, 0});
  ASSERT_EQ(series.size(), 5u);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(series.value(i), static_cast<double>(i + 1));
  series.append({3, 33, -1, 100, 0});
  series.append({4, 44, -1, 1, 0});  // older than what is there
  ASSERT_EQ(series.size(), 5u);
  EXPECT_EQ(series.value(2), 33);
  EXPECT_EQ(series.value(3), 4);
  EXPECT_EQ(series.summarize(0, 5).max, 33);
}

TEST(Series, T33ElapsedTimeNeverRunsBackwards) {
  Series series;
  series.append({1, 1, -1, 5'000'000'000, 0});
  series.append({2, 1, -1, 2'000'000'000, 0});
  EXPECT_EQ(series.x(1, XAxis::elapsed), 5);
}

TEST(Decimate, T31EveryFinitePointIsSeenAndEveryNaNIsCounted) {
  std::vector<double> values;
  for (int i = 0; i < 50; ++i) values.push_back(i % 5 == 0 ? 1 : kNaN);
  const Decimated drawn = decimate(series_of(values), range(0, 49, 500));
  EXPECT_EQ(drawn.nonfinite_in_view, 40u);
  EXPECT_EQ(drawn.lone_x.size(), 10u);  // each stands alone: as a marker
  EXPECT_EQ(drawn.y_min, 1);
  EXPECT_EQ(drawn.y_max, 1);
}

TEST(Decimate, T31LinesDoNotBridgeAGap) {
  const Decimated drawn = decimate(series_of({1, 2, kNaN, 4, kNaN, kNaN, 7}), range(0, 6, 600));
  std::vector<double> finite;
  int breaks = 0;
  for (const double value : drawn.y) {
    if (std::isnan(value)) {
      ++breaks;
    } else {
      finite.push_back(value);
    }
  }
  EXPECT_EQ(finite, (std::vector<double>{1, 2, 4, 7}));
  EXPECT_EQ(breaks, 2);
  EXPECT_EQ(drawn.lone_y, (std::vector<double>{4, 7}));
  const Decimated infinite = decimate(series_of({1, std::numeric_limits<double>::infinity(), 3}), range(0, 2, 100));
  EXPECT_EQ(infinite.nonfinite_in_view, 1u);
  EXPECT_EQ(infinite.y_max, 3);
}

TEST(Decimate, T32ASpikeInAMillionPointsIsDrawnAtEveryZoom) {
  Series series;
  for (int64_t step = 0; step < 1'000'000; ++step) series.append({step, step == 543'210 ? 1000.0 : step == 700'000 ? kNaN : 0.0, -1, step, 0});
  const Decimated all = decimate(series, range(0, 1'000'000, 2000));
  EXPECT_EQ(all.y_max, 1000);
  const auto spike = std::find(all.y.begin(), all.y.end(), 1000.0);
  ASSERT_NE(spike, all.y.end());
  EXPECT_EQ(static_cast<int>(all.x[static_cast<size_t>(spike - all.y.begin())] / 500), 1086);
  ASSERT_EQ(all.marks.size(), 1u);
  EXPECT_EQ(all.marks[0].x, 700'000);
  EXPECT_LE(all.summaries_read, 2001u);
  EXPECT_LE(all.x.size(), 4u * 2001 + 4);
  for (double span = 1'000'000; span >= 1000; span /= 2) {
    const Decimated zoomed = decimate(series, range(543'210 - span / 2, 543'210 + span / 2, 2000));
    EXPECT_EQ(zoomed.y_max, 1000) << span;
    EXPECT_LE(zoomed.summaries_read, 2001u);
  }
  const Decimated close = decimate(series, range(543'000, 544'000, 2000));
  EXPECT_EQ(close.points_in_view, 1001u);
  const auto exact = std::find(close.y.begin(), close.y.end(), 1000.0);
  ASSERT_NE(exact, close.y.end());
  EXPECT_EQ(close.x[static_cast<size_t>(exact - close.y.begin())], 543'210);
  const Decimated again = decimate(series, range(0, 1'000'000, 2000));
  EXPECT_EQ(again.x, all.x) << "the same picture each time";
  ASSERT_EQ(again.y.size(), all.y.size());
  EXPECT_EQ(std::memcmp(again.y.data(), all.y.data(), all.y.size() * sizeof(double)), 0);
}

TEST(Decimate, MarksCloserThanTheDistanceAreOne) {
  const auto merged = merge_marks({{1, 2}, {5, 1}, {30, 4}}, 10);
  ASSERT_EQ(merged.size(), 2u);
  EXPECT_EQ(merged[0].count, 3u);
  EXPECT_EQ(merged[1].count, 4u);
}

TEST(Smoothing, BiasIsCorrectedAndNaNIsSkipped) {
  SmoothedSeries smoothed;
  const Series raw = series_of({10, 10, kNaN, 10});
  ASSERT_TRUE(smoothed.follow(raw, 0.9));
  EXPECT_NEAR(smoothed.series().value(0), 10, 1e-12);
  EXPECT_NEAR(smoothed.series().value(3), 10, 1e-12);
  EXPECT_TRUE(std::isnan(smoothed.series().value(2)));
}

TEST(Smoothing, WorksThroughALongSeriesInBoundedSteps) {
  const Series raw = series_of(std::vector<double>(1000, 3.0));
  SmoothedSeries smoothed;
  EXPECT_FALSE(smoothed.follow(raw, 0.5, 400));
  EXPECT_FALSE(smoothed.follow(raw, 0.5, 400));
  EXPECT_TRUE(smoothed.follow(raw, 0.5, 400));
  EXPECT_EQ(smoothed.series().size(), 1000u);
}

}  // namespace
}  // namespace ringwright::gui
