// The tree behind a recipe: typed values with the place of each, before and after interpolation.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shared/recipe/recipe.h"

namespace ringwright::recipe {

enum class Kind { null, boolean, integer, big_integer, real, text, list, map };
std::string_view to_string(Kind kind);  // as an operator would say it: "a whole number", "a list", ...

// YAML 1.1 integers have no size limit: one beyond 64 bits keeps its decimal digits in `text`.
struct Node {
  // Defined where the type is complete: clang needs that of a map's pairs.
  Node();
  Node(const Node& other);
  Node(Node&& other) noexcept;
  Node& operator=(const Node& other);
  Node& operator=(Node&& other) noexcept;
  ~Node();

  Kind kind = Kind::null;
  bool boolean = false;
  int64_t integer = 0;
  double real = 0;
  std::string text;
  std::vector<Node> items;                     // list
  std::vector<std::pair<Node, Node>> entries;  // map, in the order written; keys are scalars, most of them text
  Origin origin;
  bool final = false;  // text that was computed: a ${ in it is no expression any more

  bool is_container() const { return kind == Kind::list || kind == Kind::map; }
  bool is_text(std::string_view value) const { return kind == Kind::text && text == value; }
  bool is_missing() const { return is_text("???"); }
  Node* find(std::string_view key);  // the entry of that text key; nullptr when absent, or when this is no map
  const Node* find(std::string_view key) const { return const_cast<Node*>(this)->find(key); }
  bool erase(std::string_view key);
};

Node make_null(Origin origin = {});
Node make_boolean(bool value, Origin origin = {});
Node make_integer(int64_t value, Origin origin = {});
Node make_real(double value, Origin origin = {});
Node make_text(std::string value, Origin origin = {});
Node make_list(std::vector<Node> items, Origin origin = {});
// Decimal digits with an optional sign, of any length.
Node make_integer_of_digits(std::string_view digits, Origin origin = {});

// Equality as Python sees it: 1, 1.0 and true are the same.
bool same_value(const Node& a, const Node& b);
// str() of Python, which is what a value becomes inside a text: "True", "None", "1e-05", "['a', 2]".
std::string python_text(const Node& node);
// repr() of a Python float.
std::string python_real(double value);

// Integers beyond 64 bits become {"$int": "digits"}, maps with keys that are no text {"$map": [[key, value], ...]}.
nlohmann::ordered_json to_json(const Node& node);

inline constexpr const char* kCommandLine = "command line";  // an override's file; its line is its number
// file:line:column, or what of it is known; "command line, override 2" for an override.
std::string describe(const Origin& origin);

}  // namespace ringwright::recipe
