// Small text helpers that several parts need.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringwright::text {

// Levenshtein distance in bytes.
size_t edit_distance(std::string_view a, std::string_view b);
// The candidate nearest to `word` within a third of its length (at least 2 edits), or "" when none is that near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// One form for every number that people see (table, tooltip, axis, CLI): 4 significant digits, exponent below 1e-4 and from 1e7,
// "NaN", "+inf", "-inf".
std::string format_value(double value);
// 16384 -> "16,384".
std::string format_count(int64_t count);
// 18400 -> "18.4k".
std::string format_short(double value);
// Bytes -> "71.2 GiB".
std::string format_bytes(uint64_t bytes);
// Seconds -> "0.2 s", "42 s", "3:12", "3:12:08".
std::string format_elapsed(double seconds);

// What a message quotes of a text, in at most `bytes_max` bytes (16 or more): longer texts lose their middle, for which "[...]" stands; no character
// is cut apart.
inline constexpr size_t kQuotedBytesMax = 200;
std::string excerpt(std::string_view text, size_t bytes_max = kQuotedBytesMax);
// The same of the neighbourhood of the byte `at`; what is left out at either end is "[...]".
std::string excerpt_around(std::string_view text, size_t at, size_t bytes_max = kQuotedBytesMax);

// Length of the UTF-8 character that `rest` begins with, 0 when there is none (RFC 3629: no overlong forms, no surrogates).
size_t utf8_sequence_bytes(std::string_view rest);
// Bytes that are no UTF-8 become U+FFFD; valid text is returned as it is.
std::string valid_utf8(std::string bytes);
bool is_utf8(std::string_view bytes);

// The text as one word of a POSIX shell.
std::string shell_word(std::string_view content);
// Line ends become spaces.
std::string one_line(std::string content);

}  // namespace ringwright::text
