// What can be asked for, and the SQL that gives it for the row of table run at hand.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "shared/query/query.h"
#include "shared/query/syntax.h"

namespace ringwright::query {

// dynamic: whatever the recipe has there. list: any number of texts, of which one must fit.
enum class Type { text, state, number, metric, duration, time, boolean, dynamic, list };

struct Field {
  Type type;
  std::string sql;       // the value, NULL where there is none; of a list: one value, a column of `rows`
  std::string kind_sql;  // of a metric's single point: the table's kind of number
  std::string rows;      // of a list: "FROM ... WHERE ..." of its values
};

// Gives a parameter its place, "?3".
using Bind = std::function<std::string(Parameter)>;

// Throws Error RW-QUERY-002 with the nearest field.
Field find_field(const FieldName& name, const Context& context, const Bind& bind);
// Whether it is `archived`.
bool is_archived_field(const FieldName& name);
// Names of the run's states.
const std::vector<std::string>& state_names();

}  // namespace ringwright::query
