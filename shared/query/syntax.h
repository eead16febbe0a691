// A query as a tree, before it is known which fields there are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/query/lexer.h"

namespace ringwright::query {

// A field's name, cut at the dots that do not stand in quotes.
struct FieldName {
  std::vector<std::string> parts;
  std::string text;
  size_t column;
};

struct Value {
  std::string text;
  bool quoted;
  size_t column;
  bool is_word(std::string_view lower_case) const;
};

enum class Comparator { equal, less, less_equal, greater, greater_equal, matches, in, is_null };

struct Comparison {
  FieldName field;
  Comparator comparator;
  bool negated = false;  // !=, !~, not in, is not null
  std::vector<Value> values;
  size_t column;  // of the comparator
};

struct Node {
  enum class Kind { all, any, negation, comparison };
  Kind kind;
  std::vector<Node> children;            // of all, any; one of a negation
  std::optional<Comparison> comparison;  // of a comparison
};

struct Ordering {
  FieldName field;
  bool descending;
};

struct Query {
  std::optional<Node> condition;
  std::vector<Ordering> order;
  std::optional<int64_t> limit;
};

// Throws Error RW-QUERY-001, RW-QUERY-005.
Query parse(std::string_view text);

}  // namespace ringwright::query
