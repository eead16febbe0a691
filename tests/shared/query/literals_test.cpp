#include "shared/query/literals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <ctime>

namespace ringwright::query {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kNow = 1'793'534'400 * kSecond;  // 2026-11-01 12:00:00 UTC

class TimeLiterals : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
};

TEST(NumberLiterals, UnitsMeanWhatTheySay) {
  EXPECT_EQ(read_number("2"), 2);
  EXPECT_EQ(read_number("-1.5e-3"), -1.5e-3);
  EXPECT_EQ(read_number("16k"), 16'000);
  EXPECT_EQ(read_number("4Ki"), 4096);
  EXPECT_EQ(read_number("10 GiB"), 10.0 * (1 << 30));
  EXPECT_EQ(read_number("5%"), 0.05);
  EXPECT_TRUE(std::isnan(read_number("NaN").value()));
  EXPECT_EQ(read_number("-inf"), -HUGE_VAL);
  for (const char* text : {"", "k", "2x", "1.2.3", "0x10", "two", "1 2", "--1"}) EXPECT_FALSE(read_number(text)) << text;
}

TEST(DurationLiterals, PartsAddUp) {
  EXPECT_EQ(read_duration_s("90"), 90);
  EXPECT_EQ(read_duration_s("90s"), 90);
  EXPECT_EQ(read_duration_s("1h30m"), 5400);
  EXPECT_EQ(read_duration_s("1 h 30 m"), 5400);
  EXPECT_EQ(read_duration_s("1.5d"), 129'600);
  EXPECT_EQ(read_duration_s("250ms"), 0.25);
  EXPECT_EQ(read_duration_s("2 weeks"), 1'209'600);
  for (const char* text : {"", "h", "1h30", "2y", "1 2"}) EXPECT_FALSE(read_duration_s(text)) << text;
}

TEST_F(TimeLiterals, ADateIsItsWholeDayAndAMinuteItsSeconds) {
  const auto day = read_time("2026-11-01", kNow);
  ASSERT_TRUE(day);
  EXPECT_EQ(day->begin_unix_ns, kNow - 12 * 3600 * kSecond);
  EXPECT_EQ(day->end_unix_ns - day->begin_unix_ns, 86'400 * kSecond);
  const auto minute = read_time("2026-11-01 12:00", kNow);
  ASSERT_TRUE(minute);
  EXPECT_EQ(minute->begin_unix_ns, kNow);
  EXPECT_EQ(minute->end_unix_ns - minute->begin_unix_ns, 60 * kSecond);
  EXPECT_EQ(read_time("2026-11-01T12:00:05", kNow)->begin_unix_ns, kNow + 5 * kSecond);
}

TEST_F(TimeLiterals, ZonesAndWordsOfTheDay) {
  EXPECT_EQ(read_time("2026-11-01T14:00:00+02:00", kNow)->begin_unix_ns, kNow);
  EXPECT_EQ(read_time("2026-11-01T12:00:00Z", kNow)->begin_unix_ns, kNow);
  EXPECT_EQ(read_time("today", kNow)->begin_unix_ns, kNow - 12 * 3600 * kSecond);
  EXPECT_EQ(read_time("yesterday", kNow)->end_unix_ns, kNow - 12 * 3600 * kSecond);
  EXPECT_EQ(read_time("2d ago", kNow)->begin_unix_ns, kNow - 2 * 86'400 * kSecond);
  EXPECT_EQ(read_time("90 minutes ago", kNow)->begin_unix_ns, kNow - 5400 * kSecond);
}

TEST_F(TimeLiterals, NoCalendarHasTheseDays) {
  for (const char* text :
       {"2026-02-30", "2026-13-01", "2026-11-1", "2026-11-01 25:00", "2026-11-01x", "11/01/2026", "2 ago", "ago", "soon", "99999999999d ago"})
    EXPECT_FALSE(read_time(text, kNow)) << text;
  EXPECT_TRUE(read_time("2028-02-29", kNow));
}

// The day on which the clocks go back has 25 hours.
TEST_F(TimeLiterals, ALocalDayIsAsLongAsItIsThere) {
  ::setenv("TZ", "Europe/Berlin", 1);
  ::tzset();
  const auto day = read_time("2026-10-25", kNow);
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  ASSERT_TRUE(day);
  EXPECT_EQ(day->end_unix_ns - day->begin_unix_ns, 25 * 3600 * kSecond);
}

}  // namespace
}  // namespace ringwright::query
