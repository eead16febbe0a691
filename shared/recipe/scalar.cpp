#include "shared/recipe/scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace ringwright::recipe {
namespace {

struct Cursor {
  std::string_view rest;

  bool done() const { return rest.empty(); }
  bool take(char c) {
    if (!rest.starts_with(c)) return false;
    rest.remove_prefix(1);
    return true;
  }
  void take_sign() { take('+') || take('-'); }
  // How many characters of the set were taken.
  size_t take_all(std::string_view set) {
    const size_t count = std::min(rest.find_first_not_of(set), rest.size());
    rest.remove_prefix(count);
    return count;
  }
  bool take_one(std::string_view set) {
    if (rest.empty() || set.find(rest.front()) == std::string_view::npos) return false;
    rest.remove_prefix(1);
    return true;
  }
};

constexpr size_t kIntegerDigitsMax = 4300;  // Python's own limit
constexpr std::string_view kDigits = "0123456789", kDigitsAndBars = "0123456789_";

// [0-9]+(_[0-9]+)*
bool take_grouped_digits(Cursor& cursor) {
  if (cursor.take_all(kDigits) == 0) return false;
  while (cursor.rest.size() > 1 && cursor.rest[0] == '_' && kDigits.find(cursor.rest[1]) != std::string_view::npos) {
    cursor.take('_');
    cursor.take_all(kDigits);
  }
  return true;
}

// (:[0-5]?[0-9])+
bool take_sexagesimal(Cursor& cursor) {
  size_t parts = 0;
  while (cursor.take(':')) {
    const std::string_view before = cursor.rest;
    const size_t digits = cursor.take_all(kDigits);
    if (digits == 0 || digits > 2 || (digits == 2 && before[0] > '5')) return false;
    ++parts;
  }
  return parts > 0;
}

bool take_exponent(Cursor& cursor, bool sign_required) {
  if (!cursor.take_one("eE")) return false;
  const bool sign = cursor.take_one("+-");
  return (sign || !sign_required) && cursor.take_all(kDigits) > 0;
}

// The forms of a float, by PyYAML 6 and OmegaConf 2.3; each takes the whole text or fails.
bool is_dotted_float(std::string_view text) {
  Cursor cursor{text};
  cursor.take_sign();
  if (!cursor.take_one(kDigits)) return false;
  cursor.take_all(kDigitsAndBars);
  if (!cursor.take('.')) return false;
  cursor.take_all(kDigitsAndBars);
  return cursor.done() || (take_exponent(cursor, false) && cursor.done());
}

bool is_exponent_float(std::string_view text) {
  Cursor cursor{text};
  cursor.take_sign();
  return take_grouped_digits(cursor) && take_exponent(cursor, false) && cursor.done();
}

bool is_leading_dot_float(std::string_view text) {
  Cursor cursor{text};
  if (!cursor.take('.') || !cursor.take_one(kDigits)) return false;
  cursor.take_all(kDigitsAndBars);
  return cursor.done() || (take_exponent(cursor, true) && cursor.done());
}

bool is_sexagesimal_float(std::string_view text) {
  Cursor cursor{text};
  cursor.take_sign();
  if (!cursor.take_one(kDigits)) return false;
  cursor.take_all(kDigitsAndBars);
  if (!take_sexagesimal(cursor) || !cursor.take('.')) return false;
  cursor.take_all(kDigitsAndBars);
  return cursor.done();
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool is_infinity(std::string_view text) {
  Cursor cursor{text};
  cursor.take_sign();
  return is_one_of(cursor.rest, {".inf", ".Inf", ".INF"});
}

bool is_nan(std::string_view text) { return is_one_of(text, {".nan", ".NaN", ".NAN"}); }

bool is_float(std::string_view text) {
  return is_dotted_float(text) || is_exponent_float(text) || is_leading_dot_float(text) || is_sexagesimal_float(text) || is_infinity(text) ||
         is_nan(text);
}

bool is_integer(std::string_view text) {
  Cursor cursor{text};
  cursor.take_sign();
  const std::string_view body = cursor.rest;
  if (body.empty()) return false;
  if (body == "0") return true;
  if (body[0] == '0') {
    const bool binary = body.size() > 2 && body[1] == 'b', hexadecimal = body.size() > 2 && body[1] == 'x';
    cursor.rest.remove_prefix(binary || hexadecimal ? 2 : 1);
    return cursor.take_all(binary ? "01_" : hexadecimal ? "0123456789abcdefABCDEF_" : "01234567_") > 0 && cursor.done();
  }
  if (cursor.take_all(kDigitsAndBars) == 0 || body[0] == '_') return false;
  return cursor.done() || (take_sexagesimal(cursor) && cursor.done());
}

std::string without_bars(std::string_view text) {
  std::string kept(text);
  std::erase(kept, '_');
  return kept;
}

// Digits of any base as decimal digits, of any length.
std::optional<std::string> to_decimal(std::string_view digits, unsigned base) {
  if (digits.empty() || digits.size() > kIntegerDigitsMax) return std::nullopt;
  std::string decimal = "0";  // most significant digit first
  for (const char c : digits) {
    unsigned digit = 0;
    if (std::from_chars(&c, &c + 1, digit, static_cast<int>(base)).ec != std::errc{}) return std::nullopt;
    unsigned carry = digit;
    for (size_t i = decimal.size(); i-- > 0;) {
      carry += static_cast<unsigned>(decimal[i] - '0') * base;
      decimal[i] = static_cast<char>('0' + carry % 10);
      carry /= 10;
    }
    for (; carry > 0; carry /= 10) decimal.insert(decimal.begin(), static_cast<char>('0' + carry % 10));
  }
  return decimal;
}

std::optional<double> parse_double(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ptr != text.data() + text.size() || text.empty()) return std::nullopt;
  if (result.ec == std::errc::result_out_of_range) {  // as strtod: an infinity, or the nearest small number
    const size_t exponent = text.find_first_of("eE");
    const bool tiny = exponent != std::string_view::npos && text.substr(exponent + 1).starts_with('-');
    const double magnitude = tiny ? 0.0 : std::numeric_limits<double>::infinity();
    return text.starts_with('-') ? -magnitude : magnitude;
  }
  if (result.ec != std::errc{}) return std::nullopt;
  return value;
}

// Base-60 value of "1:30" or "1:30.5".
std::optional<double> sexagesimal_value(std::string_view text) {
  double value = 0;
  while (true) {
    const size_t colon = text.find(':');
    const auto part = parse_double(text.substr(0, colon));
    if (!part) return std::nullopt;
    value = value * 60 + *part;
    if (colon == std::string_view::npos) return value;
    text.remove_prefix(colon + 1);
  }
}

std::optional<Node> integer_of(std::string_view written, const Origin& origin) {
  const std::string text = without_bars(written);
  std::string_view body = text;
  const bool negative = body.starts_with('-');
  if (negative || body.starts_with('+')) body.remove_prefix(1);
  if (body.find(':') != std::string_view::npos) {
    const auto value = sexagesimal_value(body);
    if (!value || *value > 9e15) return std::nullopt;
    return make_integer(static_cast<int64_t>(negative ? -*value : *value), origin);
  }
  unsigned base = 10;
  if (body.starts_with("0b"))
    base = 2, body.remove_prefix(2);
  else if (body.starts_with("0x"))
    base = 16, body.remove_prefix(2);
  else if (body.size() > 1 && body[0] == '0')
    base = 8;
  const auto decimal = to_decimal(body, base);
  if (!decimal) return std::nullopt;
  return make_integer_of_digits((negative ? "-" : "") + *decimal, origin);
}

std::optional<Node> float_of(std::string_view written, const Origin& origin) {
  std::string text = without_bars(written);
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::string_view body = text;
  const bool negative = body.starts_with('-');
  if (negative || body.starts_with('+')) body.remove_prefix(1);
  std::optional<double> value;
  if (body == ".inf")
    value = std::numeric_limits<double>::infinity();
  else if (body == ".nan")
    value = std::numeric_limits<double>::quiet_NaN();
  else
    value = body.find(':') != std::string_view::npos ? sexagesimal_value(body) : parse_double(body);
  if (!value) return std::nullopt;
  return make_real(negative ? -*value : *value, origin);
}

std::optional<bool> boolean_of(std::string_view text) {
  if (is_one_of(text, {"yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})) return true;
  if (is_one_of(text, {"no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})) return false;
  return std::nullopt;
}

}  // namespace

std::optional<Node> plain_scalar(const std::string& text, const Origin& origin) {
  if (text == "=") return std::nullopt;
  if (const auto boolean = boolean_of(text)) return make_boolean(*boolean, origin);
  if (is_one_of(text, {"~", "null", "Null", "NULL", ""})) return make_null(origin);
  if (is_float(text)) return float_of(text, origin);
  if (is_integer(text)) return integer_of(text, origin);
  return make_text(text, origin);
}

std::optional<Node> tagged_scalar(std::string_view tag, const std::string& text, const Origin& origin) {
  if (tag == "str") return make_text(text, origin);
  if (tag == "null") return make_null(origin);
  if (tag == "int") return integer_of(text, origin);
  if (tag == "float") return float_of(text, origin);
  if (tag != "bool") return std::nullopt;
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto boolean = boolean_of(lower);
  return boolean ? std::optional(make_boolean(*boolean, origin)) : std::nullopt;
}

}  // namespace ringwright::recipe
