#include "shared/recipe/yaml_text.h"

#include <algorithm>
#include <cmath>

#include "shared/recipe/key_index.h"
#include "shared/recipe/scalar.h"

namespace ringwright::recipe {
namespace {

constexpr std::string_view kFlowMarks = ",[]{}?";

// Whether YAML's syntax lets the text stand without quotes, whatever it is then read as.
bool may_stand_plain(std::string_view text, Place place) {
  constexpr std::string_view kIndicators = "-?:,[]{}#&*!|>'\"%@`";
  if (text.empty() || text.front() == ' ' || text.back() == ' ' || text.back() == ':') return false;
  const bool number = text.size() > 1 && text.front() == '-' && text[1] != ' ' && text[1] != '-';
  if (kIndicators.find(text.front()) != std::string_view::npos && !number) return false;
  if (text.starts_with("...") || text == "<<" || text.find(": ") != std::string_view::npos || text.find(" #") != std::string_view::npos) return false;
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(text.begin(), text.end(), is_control)) return false;
  if (text.find("\xc2\x85") != std::string_view::npos || text.find("\xe2\x80\xa8") != std::string_view::npos ||
      text.find("\xe2\x80\xa9") != std::string_view::npos || text.find("\xef\xbb\xbf") != std::string_view::npos)
    return false;  // line ends and the byte order mark
  if (place == Place::block) return true;
  return text.find_first_of(kFlowMarks) == std::string_view::npos && text.find(':') == std::string_view::npos;
}

// JSON's escapes are YAML's; what YAML takes for a line end or refuses is escaped too.
std::string in_double_quotes(const std::string& text) {
  std::string quoted = nlohmann::json(text).dump();
  constexpr std::pair<std::string_view, std::string_view> kEscapes[] = {
      {"\x7f", "\\x7f"}, {"\xc2\x85", "\\N"}, {"\xe2\x80\xa8", "\\L"}, {"\xe2\x80\xa9", "\\P"}, {"\xef\xbb\xbf", "\\uFEFF"}};
  for (const auto& [bytes, escape] : kEscapes)
    for (size_t at = 0; (at = quoted.find(bytes, at)) != std::string::npos; at += escape.size()) quoted.replace(at, bytes.size(), escape);
  return quoted;
}

bool may_stand_in_single_quotes(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7f; });
}

std::string text_of(const Node& value, Place place, Quotes quotes) {
  if (quotes == Quotes::none && reads_as(value.text, value, place)) return value.text;
  if (quotes != Quotes::single || !may_stand_in_single_quotes(value.text)) return in_double_quotes(value.text);
  std::string quoted = "'";
  for (const char c : value.text) quoted += c == '\'' ? "''" : std::string(1, c);
  return quoted + "'";
}

std::string real_text(double value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
  return python_real(value);
}

bool same_real(double a, double b) { return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b)); }

bool identical_maps(const Node& a, const Node& b) {
  if (a.entries.size() != b.entries.size()) return false;
  for (size_t i = 0; i < a.entries.size(); ++i) {
    const Node* found = find_near(b.entries, a.entries[i].first, i, identical);
    if (!found || !identical(a.entries[i].second, *found)) return false;
  }
  return true;
}

}  // namespace

bool reads_as(const std::string& written, const Node& value, Place place) {
  if (value.is_container() || !may_stand_plain(written, place)) return false;
  const std::optional<Node> read = plain_scalar(written, value.origin);
  return read && identical(*read, value);
}

bool identical(const Node& a, const Node& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Kind::null:
      return true;
    case Kind::boolean:
      return a.boolean == b.boolean;
    case Kind::integer:
      return a.integer == b.integer;
    case Kind::real:
      return same_real(a.real, b.real);
    case Kind::list:
      return std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), identical);
    case Kind::map:
      return identical_maps(a, b);
    default:
      return a.text == b.text;
  }
}

std::string yaml_text(const Node& value, Place place, Quotes quotes) {
  switch (value.kind) {
    case Kind::null:
      return "null";
    case Kind::boolean:
      return value.boolean ? "true" : "false";
    case Kind::integer:
      return std::to_string(value.integer);
    case Kind::real:
      return real_text(value.real);
    case Kind::big_integer:
      return value.text;
    case Kind::text:
      return text_of(value, place, quotes);
    default:
      break;
  }
  std::string text;
  for (const Node& item : value.items) text += (text.empty() ? "" : ", ") + yaml_text(item, Place::flow);
  for (const auto& [key, child] : value.entries)
    text += (text.empty() ? "" : ", ") + yaml_text(key, Place::flow) + ": " + yaml_text(child, Place::flow);
  return value.kind == Kind::list ? "[" + text + "]" : "{" + text + "}";
}

}  // namespace ringwright::recipe
