// A history of very many values opens at once, and any of its curves is reduced from a few of them.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "shared/history/edits.h"
#include "tests/deep_tier.h"
#include "tests/shared/history/temporary_store.h"

namespace ringwright::history {
namespace {

using namespace testing;
using Clock = std::chrono::steady_clock;

constexpr const char* kRun = "r_00000001";
constexpr int kSeries = 100;

void import_series(const std::filesystem::path& file, int64_t points) {
  RunRecord run = make_run(kRun);
  run.state = RunState::finished;
  Editor(file, Editor::Missing::create).import_run(run, [&](RunImport& import) {
    for (int i = 0; i < kSeries; ++i) {
      std::vector<MetricPoint> values;
      for (int64_t step = 1; step <= points; ++step) values.push_back({step, static_cast<double>(step % 100 + i), step, step, 0});
      values[values.size() / 2].value = 1000;
      values[values.size() / 3].value = std::nan("");
      import.add_points("long/" + std::to_string(i), 0, 1, values);
    }
  });
}

TEST(LargeHistory, OpensAtOnce) {
  const TemporaryFolder folder;
  const int64_t points = test::by_tier<int64_t>(2'000, 1'000'000);
  import_series(folder.store(), points);
  const auto start = Clock::now();
  const Reader reader(folder.store());
  EXPECT_EQ(reader.runs().size(), 1u);
  EXPECT_EQ(reader.metric_summaries(kRun).size(), static_cast<size_t>(kSeries));
  const std::chrono::duration<double, std::milli> opened = Clock::now() - start;
  EXPECT_LT(opened.count(), 300);
  for (const char* name : {"long/0", "long/57", "long/99"}) {
    const Reduction reduction = reader.reduce(kRun, name, -1, {1, points}, 2000);
    EXPECT_LE(reduction.values_read, 8000u);
    int64_t spikes = 0, nans = 0, finite = 0;
    for (const ReducedColumn& column : reduction.columns)
      spikes += column.sums.maximum == 1000, nans += column.sums.nans, finite += column.sums.finite;
    EXPECT_EQ(spikes, 1);
    EXPECT_EQ(nans, 1);
    EXPECT_EQ(finite, points - 1);
  }
}

}  // namespace
}  // namespace ringwright::history
