// What a value's text means where a number, a stretch of time or a point in time is wanted.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ringwright::query {

// "-1.5e-3", "nan", "inf", "-inf"; with a unit: k M G T (powers of 1000), Ki Mi Gi Ti (of 1024), % (a hundredth); "16k", "10 GiB" (a B may follow).
std::optional<double> read_number(std::string_view text);

// Seconds: "90", "90s", "1.5h", "2d", "1h30m", "10 minutes"; ms, s, m (minutes), h, d, w.
std::optional<double> read_duration_s(std::string_view text);

// A point in time, or a stretch of it: a date means its whole day, a minute its 60 seconds. `end` is the first moment after it; the same as `begin`
// for a point.
struct TimeSpan {
  int64_t begin_unix_ns, end_unix_ns;
};
// "2026-11-01", "2026-11-01 12:30", "2026-11-01T12:30:15", with Z or +02:00 behind or else in local time; "2d ago", "90 minutes ago"; now, today,
// yesterday.
std::optional<TimeSpan> read_time(std::string_view text, int64_t now_unix_ns);

// Whether an unquoted word goes on with the value before it: a unit, "ago", a time of day.
bool continues_value(std::string_view word);

}  // namespace ringwright::query
