#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "shared/base/text.h"
#include "shared/query/failure.h"
#include "shared/query/fields.h"
#include "shared/query/literals.h"
#include "shared/query/matches.h"
#include "shared/query/query.h"
#include "shared/query/syntax.h"

namespace ringwright::query {
namespace {

const char* sign_of(Comparator comparator) {
  constexpr const char* kSigns[] = {"=", "<", "<=", ">", ">=", "~", "in", "is"};
  return kSigns[static_cast<size_t>(comparator)];
}

class Compiler {
 public:
  explicit Compiler(const Context& context) : context_(context) {}

  Compiled compile(const Query& query) {
    std::string sql = "FROM run";
    const std::string condition = query.condition ? of(*query.condition) : "";
    if (!names_archived_) sql += " WHERE run.archived = 0" + (condition.empty() ? "" : " AND " + condition);
    if (names_archived_ && !condition.empty()) sql += " WHERE " + condition;
    sql += " ORDER BY ";
    for (const Ordering& ordering : query.order) sql += order(ordering) + ", ";
    sql += "run.key DESC";
    const int64_t limit = query.limit.value_or(context_.limit);
    if (limit >= 0) sql += " LIMIT " + bind(limit);
    return {std::move(sql), std::move(parameters_), query.limit};
  }

 private:
  std::string bind(Parameter value) {
    parameters_.push_back(std::move(value));
    return fmt::format("?{}", parameters_.size());
  }

  Field field(const FieldName& name) {
    names_archived_ = names_archived_ || is_archived_field(name);
    return find_field(name, context_, [this](Parameter value) { return bind(std::move(value)); });
  }

  std::string of(const Node& node) {
    if (node.kind == Node::Kind::comparison) return of(*node.comparison);
    if (node.kind == Node::Kind::negation) return "NOT " + of(node.children.front());
    std::string sql = "(";
    for (const Node& child : node.children) sql += (sql.size() > 1 ? (node.kind == Node::Kind::all ? " AND " : " OR ") : "") + of(child);
    return sql + ")";
  }

  // True or false, never NULL.
  std::string of(const Comparison& comparison) {
    const Field found = field(comparison.field);
    std::string sql;
    if (comparison.comparator == Comparator::is_null) {
      sql = found.type == Type::list ? "(NOT EXISTS (SELECT 1 " + found.rows + "))" : "(" + found.sql + " IS NULL)";
    } else {
      for (const Value& value : comparison.values) sql += (sql.empty() ? "" : " OR ") + compare(found, comparison, value);
      sql = found.type == Type::list ? "(EXISTS (SELECT 1 " + found.rows + " AND (" + sql + ")))" : "coalesce(" + sql + ", 0)";
    }
    return comparison.negated ? "NOT " + sql : sql;
  }

  using Compare = std::string (Compiler::*)(const Field&, const Comparison&, const Value&);
  std::string compare(const Field& found, const Comparison& comparison, const Value& value) {
    constexpr Compare kByType[] = {&Compiler::compare_text,    &Compiler::compare_state,    &Compiler::compare_number,
                                   &Compiler::compare_metric,  &Compiler::compare_duration, &Compiler::compare_time,
                                   &Compiler::compare_boolean, &Compiler::compare_dynamic,  &Compiler::compare_text};
    return (this->*kByType[static_cast<size_t>(found.type)])(found, comparison, value);
  }

  static Comparator comparator_of(const Comparison& comparison) {
    return comparison.comparator == Comparator::in ? Comparator::equal : comparison.comparator;
  }
  std::string simple(const std::string& sql, const Comparison& comparison, Parameter value) {
    return "(" + sql + " " + sign_of(comparator_of(comparison)) + " " + bind(std::move(value)) + ")";
  }
  static Error wrong(const Comparison& comparison, const Value& value, const std::string& expected, const std::string& action = "") {
    return failure(kWrongValue, "'" + value.text + "' does not fit the field '" + comparison.field.text + "'", value.column, expected, action);
  }
  static void refuse_pattern(const Comparison& comparison) {
    if (comparison.comparator == Comparator::matches)
      throw failure(kWrongValue, "~ looks for a text, and '" + comparison.field.text + "' is none", comparison.column, "=, !=, <, <=, > or >=");
  }
  static void only_equality(const Comparison& comparison) {
    const Comparator comparator = comparator_of(comparison);
    if (comparator != Comparator::equal && comparator != Comparator::matches)
      throw failure(kWrongValue, "'" + comparison.field.text + "' has no order", comparison.column, "=, !=, in (...) or is null");
  }

  std::string matching(const std::string& sql, const Value& value) {
    if (const std::string error = Pattern(value.text).error(); !error.empty())
      throw failure(kWrongPattern, "'" + value.text + "' is no regular expression: " + error, value.column,
                    "a text to look for, or a regular expression",
                    "put a backslash before signs such as ( [ * + ? that you mean as they are, and the whole in quotes");
    return std::string("(") + kMatchFunction + "(" + bind(value.text) + ", " + sql + "))";
  }

  std::string compare_text(const Field& found, const Comparison& comparison, const Value& value) {
    if (comparison.comparator == Comparator::matches) return matching(found.sql, value);
    return simple(found.sql, comparison, value.text);
  }

  std::string compare_state(const Field& found, const Comparison& comparison, const Value& value) {
    only_equality(comparison);
    const auto& names = state_names();
    if (comparison.comparator != Comparator::matches && std::find(names.begin(), names.end(), value.text) == names.end()) {
      const std::string nearest = text::nearest(value.text, names);
      throw wrong(comparison, value, fmt::format("one of {}", fmt::join(names, ", ")), nearest.empty() ? "" : "did you mean '" + nearest + "'?");
    }
    return compare_text(found, comparison, value);
  }

  std::string compare_number(const Field& found, const Comparison& comparison, const Value& value) {
    refuse_pattern(comparison);
    const auto number = read_number(value.text);
    if (!number || value.quoted || *number != *number) throw wrong(comparison, value, "a number, such as 2, 1e-5, 16k or 4Ki");
    return simple(found.sql, comparison, *number);
  }

  std::string compare_metric(const Field& found, const Comparison& comparison, const Value& value) {
    if (!value.is_word("nan")) return compare_number(found, comparison, value);
    only_equality(comparison);
    refuse_pattern(comparison);
    if (found.kind_sql.empty()) throw wrong(comparison, value, "a number: NaN counts in .nan", "write for example: loss.nan > 0");
    return "(" + found.kind_sql + " = 1)";
  }

  std::string compare_duration(const Field& found, const Comparison& comparison, const Value& value) {
    refuse_pattern(comparison);
    const auto seconds = read_duration_s(value.text);
    if (!seconds || value.quoted) throw wrong(comparison, value, "a stretch of time, such as 90s, 10m, 1h30m or 2d; seconds without a unit");
    return simple(found.sql, comparison, *seconds);
  }

  // A day has a beginning and an end: `=` asks for one within, `<=` for one up to its end.
  std::string compare_time(const Field& found, const Comparison& comparison, const Value& value) {
    refuse_pattern(comparison);
    const auto span = read_time(value.text, context_.now_unix_ns);
    if (!span) throw wrong(comparison, value, "a time, such as 2026-11-01, \"2026-11-01 12:30\", 2026-11-01T12:30:15Z, 2d ago, today or yesterday");
    const Comparator comparator = comparator_of(comparison);
    const bool point = span->begin_unix_ns == span->end_unix_ns;
    if (comparator == Comparator::equal && !point)
      return "(" + found.sql + " >= " + bind(span->begin_unix_ns) + " AND " + found.sql + " < " + bind(span->end_unix_ns) + ")";
    if (comparator == Comparator::less_equal && !point) return "(" + found.sql + " < " + bind(span->end_unix_ns) + ")";
    return simple(found.sql, comparison, span->begin_unix_ns);
  }

  std::string compare_boolean(const Field& found, const Comparison& comparison, const Value& value) {
    only_equality(comparison);
    refuse_pattern(comparison);
    if (!value.is_word("true") && !value.is_word("false")) throw wrong(comparison, value, "true or false");
    return simple(found.sql, comparison, int64_t{value.is_word("true")});
  }

  // Compared as what the value looks like: SQLite's own order would put every text above every number.
  std::string compare_dynamic(const Field& found, const Comparison& comparison, const Value& value) {
    if (comparison.comparator == Comparator::matches) return matching("CAST(" + found.sql + " AS TEXT)", value);
    if (value.is_word("true") || value.is_word("false")) {
      only_equality(comparison);
      return simple(found.sql, comparison, value.is_word("true") ? "true" : "false");
    }
    const auto number = value.quoted ? std::nullopt : read_number(value.text);
    if (number && *number == *number) return "(typeof(" + found.sql + ") IN ('integer', 'real') AND " + simple(found.sql, comparison, *number) + ")";
    return "(typeof(" + found.sql + ") = 'text' AND " + simple(found.sql, comparison, value.text) + ")";
  }

  std::string order(const Ordering& ordering) {
    const Field found = field(ordering.field);
    if (found.type == Type::list)
      throw failure(kWrongValue, "'" + ordering.field.text + "' has many values and no order", ordering.field.column, "a field with one value");
    return found.sql + " IS NULL, " + found.sql + (ordering.descending ? " DESC" : "");
  }

  const Context& context_;
  std::vector<Parameter> parameters_;
  bool names_archived_ = false;
};

}  // namespace

Compiled compile(std::string_view text, const Context& context) { return Compiler(context).compile(parse(text)); }

}  // namespace ringwright::query
