#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <string>
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

// What a walk over the points [begin, end) finds, one after the other.
Summary plain_walk(const Series& series, size_t begin, size_t end) {
  Summary sum;
  for (size_t i = begin; i < end; ++i) {
    const double value = series.value(i);
    if (!std::isfinite(value)) {
      if (sum.nonfinite++ == 0) sum.first_nonfinite = i;
      sum.nans += std::isnan(value) ? 1 : 0;
      continue;
    }
    if (sum.finite == 0 || value < sum.min) sum.min = value, sum.min_index = i;
    if (sum.finite == 0 || value > sum.max) sum.max = value, sum.max_index = i;
    if (sum.finite++ == 0) sum.first_finite = i;
    sum.last_finite = i;
    sum.nonpositive += value <= 0 ? 1 : 0;
  }
  return sum;
}

void expect_same(const Summary& a, const Summary& b, size_t begin, size_t end) {
  const std::string place = "[" + std::to_string(begin) + ", " + std::to_string(end) + ")";
  ASSERT_EQ(a.finite, b.finite) << place;
  ASSERT_EQ(a.nonfinite, b.nonfinite) << place;
  ASSERT_EQ(a.nans, b.nans) << place;
  ASSERT_EQ(a.nonpositive, b.nonpositive) << place;
  if (b.nonfinite > 0) {
    ASSERT_EQ(a.first_nonfinite, b.first_nonfinite) << place;
  }
  if (b.finite == 0) return;
  ASSERT_EQ(a.min, b.min) << place;
  ASSERT_EQ(a.max, b.max) << place;
  ASSERT_EQ(a.min_index, b.min_index) << place;
  ASSERT_EQ(a.max_index, b.max_index) << place;
  ASSERT_EQ(a.first_finite, b.first_finite) << place;
  ASSERT_EQ(a.last_finite, b.last_finite) << place;
}

void expect_every_stretch_equal(const Series& series, size_t stride) {
  for (size_t begin = 0; begin < series.size(); begin += stride)
    for (size_t end = begin; end <= series.size(); end += stride / 2 + 1)
      expect_same(series.summarize(begin, end), plain_walk(series, begin, end), begin, end);
}

std::vector<double> uneven_values(int count) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) {
    const bool lost = i % 13 == 5 || (i >= 640 && i < 800);  // whole blocks without a number, too
    values.push_back(i % 97 == 3 ? -std::numeric_limits<double>::infinity() : lost ? kNaN : std::sin(i * 0.7) * (i % 31));
  }
  return values;
}

TEST(Series, T31T32SummariesOfAnyStretchEqualAPlainWalk) {
  expect_every_stretch_equal(series_of(uneven_values(300)), 7);
  expect_every_stretch_equal(series_of(uneven_values(5000)), 197);
  for (const int count : {0, 1, 31, 32, 33, 127, 128, 129, 2048, 2049}) expect_every_stretch_equal(series_of(uneven_values(count)), 64);
}

TEST(Series, SummariesFollowPointsThatComeLateOrAgain) {
  Series series;
  for (int64_t step = 0; step < 3000; step += 2) series.append({step, std::cos(static_cast<double>(step)), -1, step, 0});
  for (int64_t step = 1; step < 3000; step += 500) series.append({step, step % 3 == 0 ? kNaN : 50.0 - static_cast<double>(step), -1, step, 0});
  series.append({640, 1000, -1, 99'999, 0});
  expect_every_stretch_equal(series, 61);
}

TEST(Series, StepsAreCountedFromAResume) {
  const Series series = series_of({1, 2, 3, 4, 5});
  EXPECT_EQ(series.x(4, XAxis::since_resume, 3), 1);
  EXPECT_EQ(series.lower_bound(0, XAxis::since_resume, 3), 3u);
  EXPECT_EQ(series.upper_bound(-1, XAxis::since_resume, 3), 3u);
  EXPECT_EQ(series.lower_bound_near(0, 1, XAxis::since_resume, 3), 4u);
}

TEST(Series, TheRankIsKnownWhereOneAloneHasSentThePoints) {
  Series series;
  series.append({1, 1, -1, 1, 3});
  series.append({2, 1, -1, 2, 3});
  EXPECT_EQ(series.rank(), 3);
  series.append({3, 1, -1, 3, 0});
  EXPECT_EQ(series.rank(), Series::kMixedRanks);
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

// Column by column from the points themselves: the first, smallest, largest and last, in order.
std::vector<double> plain_columns(const Series& series, const PlotRange& view) {
  const double width = (view.x_max - view.x_min) / static_cast<double>(view.columns);
  std::map<int64_t, std::vector<size_t>> columns;
  for (size_t i = 0; i < series.size(); ++i) {
    const double x = series.x(i, view.axis, view.origin);
    if (x >= view.x_min && x <= view.x_max) columns[static_cast<int64_t>(std::floor((x - view.x_min) / width))].push_back(i);
  }
  std::vector<double> values;
  for (const auto& [column, points] : columns) {
    const Summary sum = plain_walk(series, points.front(), points.back() + 1);
    if (sum.finite == 0) continue;
    std::set<size_t> picks = {sum.first_finite, sum.min_index, sum.max_index, sum.last_finite};
    if (points.size() <= 4) picks.insert(points.begin(), points.end());
    for (const size_t pick : picks)
      if (std::isfinite(series.value(pick))) values.push_back(series.value(pick));
  }
  return values;
}

TEST(Decimate, ThePyramidsPictureIsThatOfThePointsAtEveryZoom) {
  const Series series = series_of(uneven_values(20'000));
  for (const double span : {20'000.0, 7'777.0, 1'024.0, 300.0, 50.0}) {
    for (const double start : {0.0, 611.5, 12'000.0}) {
      const PlotRange view = range(start, std::min(start + span, 19'999.0), 390);
      const Decimated drawn = decimate(series, view);
      std::vector<double> inside;
      for (size_t i = 0; i < drawn.x.size(); ++i)
        if (drawn.x[i] >= view.x_min && drawn.x[i] <= view.x_max && std::isfinite(drawn.y[i])) inside.push_back(drawn.y[i]);
      ASSERT_EQ(inside, plain_columns(series, view)) << start << " + " << span;
      const Summary all = plain_walk(series, series.lower_bound(view.x_min, XAxis::step), series.upper_bound(view.x_max, XAxis::step));
      EXPECT_EQ(drawn.y_min, all.min);
      EXPECT_EQ(drawn.y_max, all.max);
      EXPECT_EQ(drawn.nonfinite_in_view, all.nonfinite);
      EXPECT_EQ(drawn.nonpositive_in_view, all.nonpositive);
      size_t marked = 0, nans = 0;
      for (const NonFiniteMark& mark : drawn.marks) marked += mark.count, nans += mark.nans;
      EXPECT_EQ(marked, all.nonfinite);
      EXPECT_EQ(nans, all.nans);
    }
  }
}

// A pixel column of a thousand points ends where a sum of the pyramid ends; its extremes stand in it or right beside it.
TEST(Decimate, T32DenseColumnsLoseNoExtremeAndMoveNoneByMoreThanAPixel) {
  const Series series = series_of(uneven_values(400'000));
  const PlotRange view = range(1234.5, 390'000, 390);
  const double width = (view.x_max - view.x_min) / 390;
  const Decimated drawn = decimate(series, view);
  const size_t begin = series.lower_bound(view.x_min, XAxis::step), end = series.upper_bound(view.x_max, XAxis::step);
  const Summary all = plain_walk(series, begin, end);
  EXPECT_EQ(drawn.y_min, all.min);
  EXPECT_EQ(drawn.y_max, all.max);
  EXPECT_EQ(drawn.nonfinite_in_view, all.nonfinite);
  EXPECT_EQ(drawn.nonpositive_in_view, all.nonpositive);
  EXPECT_LE(drawn.summaries_read, 392u);
  EXPECT_TRUE(std::is_sorted(drawn.x.begin(), drawn.x.end()));
  for (size_t column = 0; column < 390; ++column) {
    const double left = view.x_min + static_cast<double>(column) * width;
    const Summary exact = plain_walk(series, series.lower_bound(left, XAxis::step), std::min(end, series.lower_bound(left + width, XAxis::step)));
    double low = 1e9, high = -1e9;
    for (size_t i = 0; i < drawn.x.size(); ++i) {
      if (!std::isfinite(drawn.y[i]) || drawn.x[i] < left - width || drawn.x[i] > left + 2 * width) continue;
      low = std::min(low, drawn.y[i]), high = std::max(high, drawn.y[i]);
    }
    ASSERT_LE(low, exact.min) << column;
    ASSERT_GE(high, exact.max) << column;
  }
}

TEST(Decimate, WhatWasUsedBeforeLeavesNothingBehind) {
  const Series long_series = series_of(uneven_values(5000)), short_series = series_of({1, 2, 3});
  Decimated drawn = decimate(long_series, range(0, 5000, 300));
  decimate_into(drawn, short_series, range(0, 2, 100));
  const Decimated fresh = decimate(short_series, range(0, 2, 100));
  EXPECT_EQ(drawn.y, fresh.y);
  EXPECT_TRUE(drawn.marks.empty() && drawn.lone_x.empty() && drawn.nonpositive_x.empty());
  EXPECT_EQ(drawn.nonpositive_in_view, 0u);
  EXPECT_EQ(drawn.y_positive_min, 1);
}

TEST(Decimate, ALogarithmicAxisKnowsWhatItCannotShow) {
  const Decimated drawn = decimate(series_of({0.5, 0, -3, 2, 0.25, kNaN}), range(0, 5, 500));
  EXPECT_EQ(drawn.nonpositive_in_view, 2u);
  EXPECT_EQ(drawn.nonpositive_x, (std::vector<double>{1, 2}));
  EXPECT_EQ(drawn.y_positive_min, 0.25);
}

TEST(Decimate, MarksCloserThanTheDistanceAreOne) {
  std::vector<NonFiniteMark> merged;
  merge_marks_into(merged, {{1, 2, 2}, {5, 1, 0}, {30, 4, 4}}, 10);
  ASSERT_EQ(merged.size(), 2u);
  EXPECT_EQ(merged[0].count, 3u);
  EXPECT_EQ(merged[0].nans, 2u);
  EXPECT_EQ(merged[1].count, 4u);
  EXPECT_EQ(mark_text(merged[0], -1), "NaN, inf x 3");
  EXPECT_EQ(mark_text({1, 6, 6}, 3), "NaN x 6, rank 3");
  EXPECT_EQ(mark_text({1, 1200, 0}, -1), "inf x 1,200");
}

TEST(Smoothing, BiasIsCorrectedAndNaNIsSkipped) {
  SmoothedSeries smoothed;
  const Series raw = series_of({10, 10, kNaN, 10});
  ASSERT_TRUE(smoothed.follow(raw, 0.9));
  EXPECT_NEAR(smoothed.series().value(0), 10, 1e-12);
  EXPECT_NEAR(smoothed.series().value(3), 10, 1e-12);
  EXPECT_TRUE(std::isnan(smoothed.series().value(2)));
}

TEST(Smoothing, NeverCrossesAResume) {
  SmoothedSeries smoothed;
  const Series raw = series_of({10, 10, 10, 2, 2, kNaN, 2});
  ASSERT_TRUE(smoothed.follow(raw, 0.9, {3}));
  EXPECT_NEAR(smoothed.series().value(2), 10, 1e-12);
  EXPECT_NEAR(smoothed.series().value(3), 2, 1e-12) << "nothing of the tens is left";
  EXPECT_NEAR(smoothed.series().value(6), 2, 1e-12);
  EXPECT_FALSE(smoothed.has_followed(raw, 0.9)) << "without the resume it is another line";
  ASSERT_TRUE(smoothed.follow(raw, 0.9));
  EXPECT_GT(smoothed.series().value(3), 7);
  ASSERT_TRUE(smoothed.follow(raw, 0.9, {1, 1, 100})) << "two resumes at a step, and one to come";
  EXPECT_TRUE(smoothed.has_followed(raw, 0.9, {1, 1, 100}));
}

TEST(Smoothing, WorksThroughALongSeriesInBoundedSteps) {
  const Series raw = series_of(std::vector<double>(1000, 3.0));
  SmoothedSeries smoothed;
  EXPECT_FALSE(smoothed.follow(raw, 0.5, {}, 400));
  EXPECT_FALSE(smoothed.follow(raw, 0.5, {}, 400));
  EXPECT_TRUE(smoothed.follow(raw, 0.5, {}, 400));
  EXPECT_EQ(smoothed.series().size(), 1000u);
}

}  // namespace
}  // namespace ringwright::gui
