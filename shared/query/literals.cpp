#include "shared/query/literals.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <ctime>
#include <limits>
#include <string>

namespace ringwright::query {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;
constexpr double kSecondsMax = 1e9;  // some 30 years, so that times stay within 64 bits

struct Unit {
  const char* name;
  double factor;
};
constexpr double kKi = 1024;
constexpr Unit kNumberUnits[] = {
    {"", 1},    {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"Ki", kKi}, {"Mi", kKi* kKi}, {"Gi", kKi* kKi* kKi}, {"Ti", kKi* kKi* kKi* kKi},
    {"%", 0.01}};
constexpr double kMinute = 60, kHour = 3600, kDay = 86'400, kWeek = 7 * kDay;
constexpr Unit kTimeUnits[] = {{"ms", 1e-3},    {"s", 1},         {"sec", 1},          {"second", 1},        {"seconds", 1},
                               {"m", kMinute},  {"min", kMinute}, {"minute", kMinute}, {"minutes", kMinute}, {"h", kHour},
                               {"hour", kHour}, {"hours", kHour}, {"d", kDay},         {"day", kDay},        {"days", kDay},
                               {"w", kWeek},    {"week", kWeek},  {"weeks", kWeek}};

struct Special {
  const char* text;
  double value;
};
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Special kSpecials[] = {{"nan", std::numeric_limits<double>::quiet_NaN()}, {"inf", kInfinity}, {"+inf", kInfinity}, {"-inf", -kInfinity}};

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

void skip_spaces(std::string_view& text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
}

// Takes a plain number from the front; infinities and such are not meant here.
std::optional<double> take_number(std::string_view& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

std::string_view take_letters(std::string_view& text) {
  size_t length = 0;
  while (length < text.size() && std::isalpha(static_cast<unsigned char>(text[length]))) ++length;
  const std::string_view letters = text.substr(0, length);
  text.remove_prefix(length);
  return letters;
}

const Unit* find_time_unit(std::string_view name) {
  const auto* unit = std::find_if(std::begin(kTimeUnits), std::end(kTimeUnits), [&](const Unit& entry) { return name == entry.name; });
  return unit == std::end(kTimeUnits) ? nullptr : unit;
}

const Unit* find_number_unit(std::string_view name) {
  for (const Unit& unit : kNumberUnits)
    if (name == unit.name || (unit.factor > 1 && name == std::string(unit.name) + "B")) return &unit;
  return nullptr;
}

// Exactly `digits` digits from the front.
std::optional<int> take_digits(std::string_view& text, size_t digits) {
  int value = 0;
  if (text.size() < digits) return std::nullopt;
  for (size_t i = 0; i < digits; ++i) {
    if (!std::isdigit(static_cast<unsigned char>(text[i]))) return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

bool read_date(std::string_view& text, std::tm& fields) {
  const auto year = take_digits(text, 4);
  if (!year || !take(text, '-')) return false;
  const auto month = take_digits(text, 2);
  if (!month || !take(text, '-')) return false;
  const auto day = take_digits(text, 2);
  if (!day || *year < 1970 || *year > 2200) return false;
  fields.tm_year = *year - 1900, fields.tm_mon = *month - 1, fields.tm_mday = *day;
  return true;
}

// HH:MM or HH:MM:SS; returns how many seconds the text stands for, 0 when it is none.
int read_time_of_day(std::string_view& text, std::tm& fields) {
  const auto hour = take_digits(text, 2);
  if (!hour || !take(text, ':')) return 0;
  const auto minute = take_digits(text, 2);
  if (!minute || *hour > 23 || *minute > 59) return 0;
  fields.tm_hour = *hour, fields.tm_min = *minute;
  if (!take(text, ':')) return 60;
  const auto second = take_digits(text, 2);
  if (!second || *second > 59) return 0;
  fields.tm_sec = *second;
  return 1;
}

// "Z", "+02:00", or nothing: local time. False for anything else.
bool read_zone(std::string_view text, std::optional<int64_t>& offset_s) {
  if (text.empty()) return true;
  offset_s = 0;
  if (text == "Z") return true;
  const int sign = text.front() == '-' ? -1 : 1;
  if (!take(text, '+') && !take(text, '-')) return false;
  const auto hours = take_digits(text, 2);
  if (!hours || !take(text, ':')) return false;
  const auto minutes = take_digits(text, 2);
  if (!minutes || !text.empty()) return false;
  offset_s = sign * (*hours * 3600 + *minutes * 60);
  return true;
}

// The fields as a time; nothing for a day that no calendar has.
std::optional<int64_t> to_unix_s(std::tm fields, std::optional<int64_t> offset_s) {
  std::tm normal = fields;
  normal.tm_isdst = -1;
  const std::time_t seconds = offset_s ? ::timegm(&normal) - *offset_s : std::mktime(&normal);
  std::tm date{};
  date.tm_year = fields.tm_year, date.tm_mon = fields.tm_mon, date.tm_mday = fields.tm_mday;
  ::timegm(&date);
  if (date.tm_mon != fields.tm_mon || date.tm_mday != fields.tm_mday) return std::nullopt;
  return seconds;
}

std::optional<TimeSpan> span_of(const std::tm& fields, int seconds, std::optional<int64_t> offset_s) {
  std::tm next = fields;
  seconds == 0 ? void(++next.tm_mday) : void(next.tm_sec += seconds);
  const auto begin = to_unix_s(fields, offset_s);
  if (!begin) return std::nullopt;
  next.tm_isdst = -1;
  const int64_t end = offset_s ? ::timegm(&next) - *offset_s : std::mktime(&next);
  return TimeSpan{*begin * kNsPerSecond, end * kNsPerSecond};
}

std::optional<TimeSpan> read_calendar_time(std::string_view text) {
  std::tm fields{};
  if (!read_date(text, fields)) return std::nullopt;
  int seconds = 0;
  if (text.starts_with(' ') || text.starts_with('T')) {
    text.remove_prefix(1);
    if ((seconds = read_time_of_day(text, fields)) == 0) return std::nullopt;
  }
  std::optional<int64_t> offset_s;
  if (!read_zone(text, offset_s)) return std::nullopt;
  return span_of(fields, seconds, offset_s);
}

std::optional<TimeSpan> day_before(int64_t now_unix_ns, int days) {
  const std::time_t now = now_unix_ns / kNsPerSecond;
  std::tm fields{};
  ::localtime_r(&now, &fields);
  std::tm day{};
  day.tm_year = fields.tm_year, day.tm_mon = fields.tm_mon, day.tm_mday = fields.tm_mday - days, day.tm_isdst = -1;
  std::mktime(&day);  // a day before the first of a month becomes one of the month before
  return span_of(day, 0, std::nullopt);
}

}  // namespace

std::optional<double> read_number(std::string_view text) {
  for (const Special& special : kSpecials)
    if (lower(text) == special.text) return special.value;
  const auto value = take_number(text);
  if (!value) return std::nullopt;
  skip_spaces(text);
  const Unit* unit = find_number_unit(text);
  return unit ? std::optional(*value * unit->factor) : std::nullopt;
}

std::optional<double> read_duration_s(std::string_view text) {
  double sum = 0;
  for (bool first = true; first || !text.empty(); first = false) {
    const auto value = take_number(text);
    if (!value) return std::nullopt;
    skip_spaces(text);
    if (first && text.empty()) return *value;
    const Unit* unit = find_time_unit(take_letters(text));
    if (!unit) return std::nullopt;
    sum += *value * unit->factor;
    skip_spaces(text);
  }
  return sum;
}

std::optional<TimeSpan> read_time(std::string_view text, int64_t now_unix_ns) {
  const std::string word = lower(text);
  if (word == "now") return TimeSpan{now_unix_ns, now_unix_ns};
  if (word == "today") return day_before(now_unix_ns, 0);
  if (word == "yesterday") return day_before(now_unix_ns, 1);
  constexpr std::string_view kAgo = " ago";
  if (!word.ends_with(kAgo)) return read_calendar_time(text);
  const std::string_view stretch = std::string_view(word).substr(0, word.size() - kAgo.size());
  const auto seconds = read_duration_s(stretch);
  if (!seconds || std::abs(*seconds) > kSecondsMax || !std::isalpha(static_cast<unsigned char>(stretch.back()))) return std::nullopt;
  const int64_t time = now_unix_ns - std::llround(*seconds * static_cast<double>(kNsPerSecond));
  return TimeSpan{time, time};
}

bool continues_value(std::string_view word) {
  if (lower(word) == "ago" || find_time_unit(word) || (!word.empty() && find_number_unit(word))) return true;
  const bool time_of_day = word.size() >= 5 && std::isdigit(static_cast<unsigned char>(word[0])) && word[2] == ':';
  return time_of_day || (read_duration_s(word) && std::isalpha(static_cast<unsigned char>(word.back())));
}

}  // namespace ringwright::query
