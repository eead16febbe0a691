#include "shared/recipe/node.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "shared/recipe/key_index.h"

namespace ringwright::recipe {
namespace {

constexpr std::array<std::string_view, 8> kKindNames = {"null",     "true or false", "a whole number", "a whole number beyond 64 bits",
                                                        "a number", "text",          "a list",         "a map"};

bool is_number(const Node& node) { return node.kind == Kind::boolean || node.kind == Kind::integer || node.kind == Kind::real; }

double number(const Node& node) {
  if (node.kind == Kind::boolean) return node.boolean ? 1 : 0;
  return node.kind == Kind::integer ? static_cast<double>(node.integer) : node.real;
}

bool same_entries(const Node& a, const Node& b) {
  if (a.entries.size() != b.entries.size()) return false;
  for (size_t i = 0; i < a.entries.size(); ++i) {
    const Node* found = find_near(b.entries, a.entries[i].first, i, same_value);
    if (!found || !same_value(a.entries[i].second, *found)) return false;
  }
  return true;
}

std::string python_quoted(const Node& node) {
  if (node.kind != Kind::text) return python_text(node);
  const char quote = node.text.find('\'') != std::string::npos && node.text.find('"') == std::string::npos ? '"' : '\'';
  std::string quoted(1, quote);
  for (const char c : node.text) {
    if (c == '\n') {
      quoted += "\\n";
      continue;
    }
    if (c == quote || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + quote;
}

}  // namespace

std::string_view to_string(Kind kind) { return kKindNames[static_cast<size_t>(kind)]; }

Node::Node() = default;
Node::Node(const Node& other) = default;
Node::Node(Node&& other) noexcept = default;
Node& Node::operator=(const Node& other) = default;
Node& Node::operator=(Node&& other) noexcept = default;
Node::~Node() = default;

Node* Node::find(std::string_view key) {
  for (auto& [name, value] : entries)
    if (name.is_text(key)) return &value;
  return nullptr;
}

bool Node::erase(std::string_view key) {
  return std::erase_if(entries, [&](const auto& entry) { return entry.first.is_text(key); }) > 0;
}

Node make_null(Origin origin) {
  Node node;
  node.origin = std::move(origin);
  return node;
}

Node make_boolean(bool value, Origin origin) {
  Node node = make_null(std::move(origin));
  node.kind = Kind::boolean;
  node.boolean = value;
  return node;
}

Node make_integer(int64_t value, Origin origin) {
  Node node = make_null(std::move(origin));
  node.kind = Kind::integer;
  node.integer = value;
  return node;
}

Node make_real(double value, Origin origin) {
  Node node = make_null(std::move(origin));
  node.kind = Kind::real;
  node.real = value;
  return node;
}

Node make_text(std::string value, Origin origin) {
  Node node = make_null(std::move(origin));
  node.kind = Kind::text;
  node.text = std::move(value);
  return node;
}

Node make_list(std::vector<Node> items, Origin origin) {
  Node node = make_null(std::move(origin));
  node.kind = Kind::list;
  node.items = std::move(items);
  return node;
}

Node make_integer_of_digits(std::string_view digits, Origin origin) {
  if (digits.starts_with('+')) digits.remove_prefix(1);
  int64_t value = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec == std::errc{}) return make_integer(value, std::move(origin));
  Node node = make_text(std::string(digits), std::move(origin));
  node.kind = Kind::big_integer;
  return node;
}

bool same_value(const Node& a, const Node& b) {
  if (a.kind == Kind::integer && b.kind == Kind::integer) return a.integer == b.integer;
  if (is_number(a) && is_number(b)) return number(a) == number(b);
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Kind::list:
      return std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), same_value);
    case Kind::map:
      return same_entries(a, b);
    default:
      return a.text == b.text;
  }
}

std::string python_real(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  constexpr int kFixedExponentMin = -4, kFixedExponentMax = 15;
  std::array<char, 512> buffer{};
  const auto scientific = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
  const std::string text(buffer.data(), scientific.ptr);
  int exponent = 0;
  const char* digits = text.c_str() + text.find('e') + 1;
  if (*digits == '+') ++digits;
  std::from_chars(digits, text.c_str() + text.size(), exponent);
  if (exponent < kFixedExponentMin || exponent > kFixedExponentMax) return text;
  const auto fixed = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
  std::string plain(buffer.data(), fixed.ptr);
  return plain.find('.') == std::string::npos ? plain + ".0" : plain;
}

std::string python_text(const Node& node) {
  switch (node.kind) {
    case Kind::null:
      return "None";
    case Kind::boolean:
      return node.boolean ? "True" : "False";
    case Kind::integer:
      return std::to_string(node.integer);
    case Kind::real:
      return python_real(node.real);
    case Kind::big_integer:
    case Kind::text:
      return node.text;
    default:
      break;
  }
  std::string text;
  for (const Node& item : node.items) text += (text.empty() ? "" : ", ") + python_quoted(item);
  for (const auto& [key, value] : node.entries) text += (text.empty() ? "" : ", ") + python_quoted(key) + ": " + python_quoted(value);
  return node.kind == Kind::list ? "[" + text + "]" : "{" + text + "}";
}

nlohmann::ordered_json to_json(const Node& node) {
  using Json = nlohmann::ordered_json;
  switch (node.kind) {
    case Kind::null:
      return nullptr;
    case Kind::boolean:
      return node.boolean;
    case Kind::integer:
      return node.integer;
    case Kind::big_integer:
      return Json::object({{"$int", node.text}});
    case Kind::real:
      return node.real;
    case Kind::text:
      return node.text;
    case Kind::list: {
      Json list = Json::array();
      for (const Node& item : node.items) list.push_back(to_json(item));
      return list;
    }
    case Kind::map:
      break;
  }
  if (std::all_of(node.entries.begin(), node.entries.end(), [](const auto& entry) { return entry.first.kind == Kind::text; })) {
    Json::object_t map;
    for (const auto& [key, value] : node.entries) map.emplace_back(key.text, to_json(value));  // no key is there twice; map[] would look at all
    return map;
  }
  Json pairs = Json::array();
  for (const auto& [key, value] : node.entries) pairs.push_back(Json::array({to_json(key), to_json(value)}));
  return Json::object({{"$map", pairs}});
}

std::string describe(const Origin& origin) {
  if (origin.line <= 0) return origin.file;
  if (origin.file == kCommandLine) return origin.file + ", override " + std::to_string(origin.line);
  return origin.file + ":" + std::to_string(origin.line) + (origin.column > 0 ? ":" + std::to_string(origin.column) : "");
}

}  // namespace ringwright::recipe
