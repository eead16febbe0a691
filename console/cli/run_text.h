// A run's rows as people and programs read them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "shared/exchange/record_json.h"
#include "shared/history/records.h"
#include "shared/history/store.h"
#include "shared/wire/message.h"

namespace ringwright::cli {

// "2026-11-29 18:42:07" in local time; "-" for 0.
std::string format_time(int64_t time_unix_ns);
// "dp_shard 2, cp 2": the axes above 1, or "1 rank".
std::string format_mesh(const nlohmann::json& mesh);
// The run with its texts (name, reason, places, overrides) fit for a terminal, for tables and lines; JSON has them as they are.
history::RunRecord printable(history::RunRecord run);
// "within the tolerance 0.0001", coloured where stdout shows any colour.
std::string tolerance_verdict(bool good, double tolerance);
// In the state's colour where stdout shows any.
std::string styled_state(history::RunState state);

using exchange::dump_document;
using exchange::dump_line;
using exchange::dump_ordered_document;
using exchange::to_json;

}  // namespace ringwright::cli
