#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "shared/history/edits.h"
#include "shared/history/pyramid.h"
#include "tests/deep_tier.h"
#include "tests/shared/history/temporary_store.h"

namespace ringwright::history {
namespace {

using namespace testing;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();
constexpr const char* kRun = "r_00000001";

using Curve = std::map<int64_t, double>;

void import_curve(const std::filesystem::path& file, const Curve& curve) {
  std::vector<MetricPoint> points;
  for (const auto& [step, value] : curve) points.push_back({step, value, -1, step, 0});
  RunRecord run = make_run(kRun);
  run.state = RunState::finished;
  Editor(file, Editor::Missing::create).import_run(run, [&](RunImport& import) { import.add_points("train/loss", 0, 1, points); });
}

size_t values_allowed(size_t pixels) { return 4 * std::max<size_t>(pixels, 256); }

// What columns of a reduction say together.
Bucket whole(const Reduction& reduction) {
  Bucket sums;
  for (const ReducedColumn& column : reduction.columns) sums.add(column.sums);
  return sums;
}

Bucket sums_of(const Curve& curve, int64_t first, int64_t last) {
  Bucket sums;
  for (auto at = curve.lower_bound(first); at != curve.end() && at->first <= last; ++at) sums.add(at->first, at->second);
  return sums;
}

void expect_equal(const Bucket& got, const Bucket& expected) {
  EXPECT_EQ(got.finite, expected.finite);
  EXPECT_EQ(got.nans, expected.nans);
  EXPECT_EQ(got.positive_infinities, expected.positive_infinities);
  EXPECT_EQ(got.negative_infinities, expected.negative_infinities);
  EXPECT_EQ(got.minimum, expected.minimum);
  EXPECT_EQ(got.maximum, expected.maximum);
  if (expected.finite > 0) {
    EXPECT_EQ(got.minimum_step, expected.minimum_step);
    EXPECT_EQ(got.maximum_step, expected.maximum_step);
  }
  if (expected.nonfinite() > 0) {
    EXPECT_EQ(got.nonfinite_step, expected.nonfinite_step);
  }
  EXPECT_NEAR(got.total, expected.total, 1e-9 * (1 + std::abs(expected.total)));
}

const ReducedColumn* column_of(const Reduction& reduction, int64_t step) {
  const auto span = static_cast<long double>(reduction.range.last - reduction.range.first + 1);
  const auto pixel = static_cast<size_t>(static_cast<long double>(step - reduction.range.first) * static_cast<long double>(reduction.pixels) / span);
  for (const ReducedColumn& column : reduction.columns)
    if (column.pixel == pixel) return &column;
  return nullptr;
}

// T32: one spike and one NaN among a million steps stand in their column at every zoom.
TEST(Pyramid, T32SpikesAndNansShowAtEveryZoom) {
  TemporaryFolder folder;
  Curve curve;
  for (int64_t step = 0; step < 1'000'000; step += test::by_tier(5, 1)) curve[step] = 0;
  curve[543'210] = 1000;
  curve[700'000] = kNan;
  import_curve(folder.store(), curve);
  const Reader reader(folder.store());
  const Reduction all = reader.reduce(kRun, "train/loss", -1, {0, 999'999}, 2000);
  EXPECT_LE(all.values_read, values_allowed(2000));
  EXPECT_GE(all.columns.size(), 1900u);
  std::vector<size_t> with_spike, with_nan;
  for (const ReducedColumn& column : all.columns) {
    if (column.sums.maximum == 1000) with_spike.push_back(column.pixel);
    if (column.sums.nans > 0) with_nan.push_back(column.pixel);
  }
  EXPECT_THAT(with_spike, ::testing::ElementsAre(1086));
  EXPECT_THAT(with_nan, ::testing::ElementsAre(1400));
  for (int64_t span = 1'000'000; span > 10; span /= 3) {
    for (const int64_t step : {int64_t{543'210}, int64_t{700'000}}) {
      const Reduction zoomed = reader.reduce(kRun, "train/loss", -1, {step - span / 2, step + span / 3}, 2000);
      ASSERT_LE(zoomed.values_read, values_allowed(2000)) << span;
      const ReducedColumn* column = column_of(zoomed, step);
      ASSERT_NE(column, nullptr) << span;
      const bool spike = step == 543'210;
      EXPECT_EQ(column->sums.maximum == 1000, spike) << span;
      EXPECT_EQ(column->sums.nans, spike ? 0 : 1) << span;
    }
  }
  const Reduction near = reader.reduce(kRun, "train/loss", -1, {543'000, 544'000}, 2000);
  EXPECT_EQ(near.columns.size(), static_cast<size_t>(test::by_tier(201, 1001)));  // every point by itself
}

// T31: points and NaN marks of short series, one column each.
TEST(Pyramid, T31IsolatedPointsBetweenNansAreThere) {
  TemporaryFolder folder;
  Curve curve;
  for (int64_t step = 1; step <= 50; ++step) curve[step] = step % 5 == 0 ? 1 : kNan;
  import_curve(folder.store(), curve);
  const Reader reader(folder.store());
  const Reduction reduction = reader.reduce(kRun, "train/loss", -1, {1, 50}, 1000);
  ASSERT_EQ(reduction.columns.size(), 50u);
  EXPECT_EQ(whole(reduction).nans, 40);
  EXPECT_EQ(whole(reduction).finite, 10);
  EXPECT_TRUE(std::isnan(reader.reduce(kRun, "train/loss", -1, {1, 49}, 1).columns.at(0).sums.last));
  EXPECT_TRUE(reader.reduce(kRun, "no/such", -1, {1, 49}, 10).columns.empty());
  EXPECT_TRUE(reader.reduce(kRun, "train/loss", -1, {51, 99}, 10).columns.empty());
}

// Steps as runs have them: dense, in strides, with gaps, out of order, some twice.
struct Script {
  std::vector<std::pair<int64_t, double>> points;  // in the order of sending
  size_t per_batch = 1;
};

Script random_script(std::mt19937_64& random, size_t count) {
  Script script;
  const int64_t stride = std::array<int64_t, 5>{1, 1, 3, 100, 4096}[random() % 5];
  int64_t step = static_cast<int64_t>(random() % 1000) - 500;
  for (size_t i = 0; i < count; ++i) {
    step += stride * (random() % 97 == 0 ? 1 + static_cast<int64_t>(random() % 5000) : 1);
    const int64_t at = random() % 61 == 0 ? step - static_cast<int64_t>(random() % 3000) * stride : step;
    const double value = random() % 50 == 0 ? std::array<double, 3>{kNan, kInfinity, -kInfinity}[random() % 3]
                                            : std::ldexp(1.0, static_cast<int>(random() % 20)) - 1000;
    script.points.emplace_back(at, value);
  }
  script.per_batch = std::array<size_t, 4>{1, 7, 64, 1000}[random() % 4];
  return script;
}

Curve send(const Script& script, Writer& writer) {
  Curve curve;
  uint64_t sequence = 0;
  for (const auto& [step, value] : script.points) {
    writer.append(metric(kRun, 0, ++sequence, step, "train/loss", value));
    curve[step] = value;
    if (sequence % script.per_batch == 0 && script.per_batch > 1) writer.flush();
  }
  writer.flush();
  return curve;
}

void check_ranges(const Reader& reader, const Curve& curve, std::mt19937_64& random) {
  const int64_t first = curve.begin()->first, last = curve.rbegin()->first;
  for (int i = 0; i < 40; ++i) {
    int64_t from = first - 5 + static_cast<int64_t>(random() % static_cast<uint64_t>(last - first + 10));
    int64_t to = first - 5 + static_cast<int64_t>(random() % static_cast<uint64_t>(last - first + 10));
    if (from > to) std::swap(from, to);
    if (i == 0) from = first, to = last;
    const size_t pixels = std::array<size_t, 4>{1, 100, 256, 1000}[random() % 4];
    SCOPED_TRACE(::testing::Message() << from << " to " << to << " in " << pixels);
    const Reduction reduction = reader.reduce(kRun, "train/loss", -1, {from, to}, pixels);
    EXPECT_LE(reduction.values_read, values_allowed(pixels));
    const Bucket expected = sums_of(curve, from, to);
    expect_equal(whole(reduction), expected);
    if (expected.finite > 0) {
      ASSERT_NE(column_of(reduction, expected.maximum_step), nullptr);
      EXPECT_EQ(column_of(reduction, expected.maximum_step)->sums.maximum, expected.maximum);
      EXPECT_EQ(column_of(reduction, expected.minimum_step)->sums.minimum, expected.minimum);
    }
    for (size_t c = 1; c < reduction.columns.size(); ++c) ASSERT_LT(reduction.columns[c - 1].pixel, reduction.columns[c].pixel);
  }
}

TEST(Pyramid, ReducesWhatWasSentWhateverItsOrder) {
  for (uint64_t seed = 1; seed <= test::by_tier<uint64_t>(12, 200); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    TemporaryFolder folder;
    Writer writer(folder.store(), {});
    writer.create_run(make_run(kRun));
    const Curve curve = send(random_script(random, 200 + random() % test::by_tier<size_t>(4000, 50'000)), writer);
    const Reader reader(folder.store());
    check_ranges(reader, curve, random);
    const MetricSummary summary = reader.metric_summaries(kRun).at(0);
    const Bucket expected = sums_of(curve, INT64_MIN, INT64_MAX);
    EXPECT_EQ(summary.finite, expected.finite);
    EXPECT_EQ(summary.nans, expected.nans);
    EXPECT_EQ(summary.minimum, expected.minimum);
    EXPECT_EQ(summary.maximum, expected.maximum);
    EXPECT_NEAR(*summary.mean, expected.total / static_cast<double>(expected.finite), 1e-9 * std::abs(expected.maximum - expected.minimum));
    EXPECT_EQ(summary.first_step, curve.begin()->first);
    EXPECT_EQ(summary.last_step, curve.rbegin()->first);
    EXPECT_TRUE(summary.last == expected.last || (std::isnan(summary.last) && std::isnan(expected.last)));
  }
}

// A resumed run's curve is reduced as it is read: the later segment from its first step on.
TEST(Pyramid, T29ReducesTheNewestSegments) {
  TemporaryFolder folder;
  Writer writer(folder.store(), {});
  writer.create_run(make_run(kRun));
  for (int64_t step = 1; step <= 5000; ++step) writer.append(metric(kRun, 0, static_cast<uint64_t>(step), step, "train/loss", 1.0));
  writer.append(make_event(kRun, wire::Kind::event, -1, 0, {{"name", "run.segment"}, {"segment", 2}, {"step", 3999}}));
  for (int64_t step = 4000; step <= 4500; ++step) writer.append(metric(kRun, 0, static_cast<uint64_t>(step - 3999), step, "train/loss", 2.0));
  writer.flush();
  const Reader reader(folder.store());
  const Bucket sums = whole(reader.reduce(kRun, "train/loss", -1, {1, 5000}, 500));
  EXPECT_EQ(sums.finite, 4500);
  EXPECT_EQ(sums.total, 3999 + 2 * 501);
  EXPECT_EQ(reader.metric(kRun, "train/loss").size(), 4500u);
  EXPECT_EQ(reader.metric(kRun, "train/loss", -1, -1, 1).size(), 5000u);
  EXPECT_EQ(reader.metric_range(kRun, "train/loss")->last, 4500);
  EXPECT_EQ(reader.last_metric(kRun, "train/loss")->value, 2.0);
  ASSERT_EQ(reader.segments(kRun).size(), 2u);
  EXPECT_EQ(reader.segments(kRun)[1].first_step, 4000);
}

TEST(Pyramid, BlocksPassThroughBytes) {
  std::vector<Bucket> buckets(2);
  buckets[0].first_step = 5 * 1024 + 64 * 3, buckets[1].first_step = 5 * 1024 + 64 * 15;
  buckets[0].add(buckets[0].first_step + 7, -1.5);
  buckets[0].add(buckets[0].first_step + 63, 2.5);
  buckets[1].add(buckets[1].first_step + 1, kNan);
  buckets[1].add(buckets[1].first_step + 2, -kInfinity);
  const std::string bytes = encode_block(buckets, 3);
  const std::vector<Bucket> back = decode_block(bytes, 3, 5);
  ASSERT_EQ(back.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(back[i].first_step, buckets[i].first_step);
    expect_equal(back[i], buckets[i]);
  }
  for (size_t cut = 1; cut < bytes.size(); ++cut) try {
      EXPECT_EQ(decode_block(bytes.substr(0, cut), 3, 5).size(), 1u);
    } catch (const SQLite::Exception& error) {
      EXPECT_EQ(error.getErrorCode(), 11);
    }
  EXPECT_THROW(decode_block(bytes + bytes, 3, 5), SQLite::Exception);
}

}  // namespace
}  // namespace ringwright::history
