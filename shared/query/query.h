// The one language that console and CLI ask the history in, as in
//
//   state = failed and mesh.cp >= 2 and loss.last < 2.1 and recipe.policy.model_name ~ "qwen" order by started desc limit 20
//
// It becomes SQL over the history's tables; every value travels as a parameter. A comparison is true or false: with a value that a run does not
// have it is false, and its negation (not, !=, !~, not in) is true.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "shared/base/error.h"

namespace ringwright::query {

using Parameter = std::variant<int64_t, double, std::string>;

struct Compiled {
  std::string sql;  // "FROM run WHERE ... ORDER BY ... LIMIT ...", to be put behind the columns that are wanted; parameters ?1, ?2, ...
  std::vector<Parameter> parameters;
  std::optional<int64_t> limit;  // what the query itself says
};

// What the history holds, so that a name that no run has is an error and not an empty answer. Functions that are not set know everything.
struct Vocabulary {
  std::function<std::vector<std::string>()> metric_names;   // of all runs
  std::function<std::vector<std::string>()> setting_names;  // recipe.policy.model_name, mesh.cp, fingerprint.node: of all runs
};

struct Context {
  Vocabulary vocabulary;
  int64_t now_unix_ns = 0;
  int64_t limit = -1;  // where the query has none; -1: all
};

// The SQL needs the function kMatchFunction(pattern, text): see matches.h. Without a query: all runs that are not archived, newest first; a query
// that names `archived` sees both. Throws Error (exit code 2), each with the column, in characters from 1:
// RW-QUERY-001 syntax, RW-QUERY-002 a field that does not exist, RW-QUERY-003 a value that does not fit its field, RW-QUERY-004 a pattern that is
// none, RW-QUERY-005 too long or too deeply nested.
Compiled compile(std::string_view text, const Context& context);

// Every field with its type and meaning, for help texts and completion.
struct FieldHelp {
  std::string name, type, meaning;
};
std::vector<FieldHelp> field_help();

}  // namespace ringwright::query
