// The lines of an archive's files: rows as JSON and back.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "shared/exchange/rows.h"

namespace ringwright::exchange {

// The file that a row belongs to: "metrics", "logs", ...
std::string file_of(const Row& row);
// What one such row is called: "metric", "log", ...
std::string type_of(const Row& row);
// The file of a type; "" for a type that is none.
std::string file_of_type(std::string_view type);
nlohmann::json row_to_json(const Row& row);
// A row of the file called `name`. Throws nlohmann::json::exception or std::invalid_argument for what is none; std::out_of_range for an unknown file.
Row row_from_json(std::string_view name, const nlohmann::json& json);

// One point of a series, as to_json has it. Throws as row_from_json does.
history::MetricPoint point_from_json(const nlohmann::json& json);

// The run itself, as to_whole_json has it, with what only an archive needs.
history::RunRecord run_from_json(const nlohmann::json& json);

}  // namespace ringwright::exchange
