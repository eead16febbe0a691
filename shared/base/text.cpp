#include "shared/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>

namespace ringwright::text {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (a[i] != b[j])});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  size_t best_distance = std::max<size_t>(2, word.size() / 3) + 1;
  std::string best;
  for (const std::string& candidate : candidates) {
    const size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) best_distance = distance, best = candidate;
  }
  return best;
}

std::string format_value(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+inf" : "-inf";
  const double magnitude = std::abs(value);
  if (magnitude != 0 && (magnitude < 1e-4 || magnitude >= 1e7)) return fmt::format("{:.3e}", value);
  if (magnitude >= 1e4) return format_count(std::llround(value));
  return fmt::format("{:.4g}", value);
}

std::string format_count(int64_t count) {
  std::string digits = std::to_string(count < 0 ? -static_cast<uint64_t>(count) : static_cast<uint64_t>(count));
  for (int64_t i = static_cast<int64_t>(digits.size()) - 3; i > 0; i -= 3) digits.insert(static_cast<size_t>(i), 1, ',');
  return count < 0 ? "-" + digits : digits;
}

std::string format_short(double value) {
  if (!std::isfinite(value)) return format_value(value);
  const double magnitude = std::abs(value);
  if (magnitude >= 1e9) return fmt::format("{:.3g}G", value / 1e9);
  if (magnitude >= 1e6) return fmt::format("{:.3g}M", value / 1e6);
  if (magnitude >= 1e3) return fmt::format("{:.3g}k", value / 1e3);
  return fmt::format("{:.3g}", value);
}

std::string format_bytes(uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) value /= 1024, ++unit;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.3g} {}", value, kUnits[unit]);
}

std::string format_elapsed(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "-";
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<int64_t>(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

namespace {

constexpr std::string_view kLeftOut = "[...]";

size_t room_for_text(size_t bytes_max, size_t gaps) { return bytes_max - std::min(bytes_max, gaps * kLeftOut.size()); }

// The next place at or before, or at or behind `at`, that is not inside a character.
size_t character_before(std::string_view text, size_t at) {
  while (at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return std::min(at, text.size());
}
size_t character_behind(std::string_view text, size_t at) {
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  return std::min(at, text.size());
}

}  // namespace

std::string excerpt(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  const size_t kept = room_for_text(bytes_max, 1), tail = kept / 4;
  const size_t end = character_before(text, kept - tail), start = character_behind(text, text.size() - tail);
  return std::string(text.substr(0, end)).append(kLeftOut).append(text.substr(start));
}

std::string excerpt_around(std::string_view text, size_t at, size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  size_t kept = room_for_text(bytes_max, 1), wanted = 0;
  if (at + (kept - kept / 2) >= text.size()) {
    wanted = text.size() - kept;
  } else if (at > kept / 2) {
    kept = room_for_text(bytes_max, 2);
    wanted = at - kept / 2;
  }
  const size_t start = character_behind(text, wanted), end = character_before(text, wanted + kept);
  std::string result(start > 0 ? kLeftOut : "");
  result.append(text.substr(start, end - start));
  if (end < text.size()) result.append(kLeftOut);
  return result;
}

size_t utf8_sequence_bytes(std::string_view rest) {
  if (rest.empty()) return 0;
  const auto byte = [&](size_t i) { return i < rest.size() ? static_cast<unsigned char>(rest[i]) : 0u; };
  const auto within = [&](size_t i, unsigned low, unsigned high) { return byte(i) >= low && byte(i) <= high; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return within(1, 0x80, 0xBF) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const bool second = within(1, lead == 0xE0 ? 0xA0 : 0x80, lead == 0xED ? 0x9F : 0xBF);
    return second && within(2, 0x80, 0xBF) ? 3 : 0;
  }
  if (lead < 0xF0 || lead > 0xF4) return 0;
  const bool second = within(1, lead == 0xF0 ? 0x90 : 0x80, lead == 0xF4 ? 0x8F : 0xBF);
  return second && within(2, 0x80, 0xBF) && within(3, 0x80, 0xBF) ? 4 : 0;
}

namespace {

// How many bytes at the start are whole UTF-8 characters.
size_t valid_bytes(std::string_view view) {
  size_t good = 0;
  while (good < view.size()) {
    const size_t length = utf8_sequence_bytes(view.substr(good));
    if (length == 0) break;
    good += length;
  }
  return good;
}

}  // namespace

bool is_utf8(std::string_view bytes) { return valid_bytes(bytes) == bytes.size(); }

std::string valid_utf8(std::string bytes) {
  const std::string_view view = bytes;
  const size_t good = valid_bytes(view);
  if (good == view.size()) return bytes;
  std::string clean(view.substr(0, good));
  for (size_t i = good; i < view.size();) {
    const size_t length = utf8_sequence_bytes(view.substr(i));
    clean.append(length == 0 ? std::string_view("\xEF\xBF\xBD") : view.substr(i, length));
    i += length == 0 ? 1 : length;
  }
  return clean;
}

std::string shell_word(std::string_view content) {
  constexpr std::string_view kPlain = "/._-+:@%,=";
  const auto plain = [&](unsigned char byte) { return std::isalnum(byte) || kPlain.find(static_cast<char>(byte)) != std::string_view::npos; };
  // Some shells read a word that begins with = as the path of a program.
  if (!content.empty() && content.front() != '=' && std::all_of(content.begin(), content.end(), plain)) return std::string(content);
  std::string word = "'";
  for (const char byte : content) word += byte == '\'' ? std::string("'\\''") : std::string(1, byte);
  return word + "'";
}

std::string one_line(std::string content) {
  std::replace(content.begin(), content.end(), '\n', ' ');
  return content;
}

}  // namespace ringwright::text
