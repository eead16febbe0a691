// How a number of any kind passes through SQLite (which turns NaN into NULL) and JSON (which has neither NaN nor infinities).
#pragma once

#include <nlohmann/json.hpp>

namespace ringwright::history {

// As in the table metric.
enum class ValueKind : int { finite = 0, nan = 1, positive_infinity = 2, negative_infinity = 3 };

ValueKind kind_of(double value);
double value_of(ValueKind kind, double finite_value);

// A number, or "NaN", "Infinity", "-Infinity": valid JSON whatever the value.
nlohmann::json metric_value_to_json(double value);
// The reverse; null counts as NaN. Throws nlohmann::json::type_error for anything else.
double metric_value_from_json(const nlohmann::json& json);

}  // namespace ringwright::history
