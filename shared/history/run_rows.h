// The rows of a run that do not come from its workers. Works inside transactions that the caller opens and commits.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "shared/history/database.h"
#include "shared/history/records.h"

namespace ringwright::history {

// JSON text that SQLite tools can read, whatever bytes it came from.
std::string dump_json(const nlohmann::json& json);

// The run's key. Throws Error RW-STORE-009 where there is none.
int64_t run_key(Database& database, const std::string& run);
// Returns the key. Throws Error RW-STORE-009 where the id is there already.
int64_t insert_run(Database& database, const RunRecord& run);
void set_fingerprint(Database& database, int64_t run, int64_t segment, const std::string& source, const nlohmann::json& content);
void upsert_alert(Database& database, int64_t run, const AlertRecord& alert);
// The leaves of `tree` as settings below `prefix`: {"a": {"b": [1, 2]}} gives prefix.a.b.0 and prefix.a.b.1.
void add_settings(Database& database, int64_t run, const std::string& prefix, const nlohmann::json& tree);
// The settings of all runs that have none: of a file from before there were settings.
void add_settings_of_all_runs(Database& database);
// Every row of the run.
void delete_run_rows(Database& database, int64_t run);

}  // namespace ringwright::history
