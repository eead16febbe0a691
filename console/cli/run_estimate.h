// What a run's worker expected each rank to need, as it said when it started.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "shared/history/store.h"

namespace ringwright::cli {

// {"terms": {"parameters": bytes, ...}, "memory_bytes", "checkpoint_bytes"}; null where it said nothing.
nlohmann::json run_estimate(const history::Reader& reader, const std::string& run);
// One of its numbers as a table shows it; "-" where there is none.
std::string estimate_cell(const nlohmann::json& estimate, const char* name);

}  // namespace ringwright::cli
