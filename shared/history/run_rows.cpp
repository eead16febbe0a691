#include "shared/history/run_rows.h"

#include <utility>
#include <vector>

#include "shared/history/sql.h"
#include "shared/wire/message.h"

namespace ringwright::history {
namespace {

// Every table that has rows of a run, in an order in which nothing is left that names what is gone.
constexpr const char* kDeletes[] = {
    sql::delete_pyramid, sql::delete_points,       sql::delete_series,   sql::delete_logs,        sql::delete_events,   sql::delete_spans,
    sql::delete_samples, sql::delete_checkpoints,  sql::delete_received, sql::delete_rank_status, sql::delete_settings, sql::delete_segments,
    sql::delete_tags,    sql::delete_fingerprints, sql::delete_notes,    sql::delete_alerts,      sql::delete_recipe,   sql::delete_run};

int64_t setting_name_key(Database& database, const std::string& name) {
  database.run(sql::setting_name_insert, name);
  SQLite::Statement& row = database.query(sql::setting_name_key, name);
  row.executeStep();
  const int64_t key = row.getColumn(0).getInt64();
  row.reset();
  return key;
}

void add_leaf(Database& database, int64_t run, const std::string& name, const nlohmann::json& value) {
  SQLite::Statement& upsert = database.query(sql::setting_upsert, setting_name_key(database, name), run);
  if (value.is_number_integer())
    upsert.bind(3, value.get<int64_t>());
  else if (value.is_number())
    upsert.bind(3, value.get<double>());
  else if (value.is_string())
    upsert.bind(3, value.get<std::string>());
  else if (value.is_boolean())
    upsert.bind(3, value.get<bool>() ? "true" : "false");
  else
    upsert.bind(3);
  upsert.exec();
  upsert.reset();
}

void add_settings_of(Database& database, const char* query, const std::string& prefix) {
  std::vector<std::pair<int64_t, std::string>> texts;
  SQLite::Statement& rows = database.query(query);
  while (rows.executeStep()) texts.emplace_back(rows.getColumn(0).getInt64(), rows.getColumn(1).getString());
  rows.reset();
  for (const auto& [run, text] : texts) {
    const nlohmann::json tree = nlohmann::json::parse(text, nullptr, false);
    if (!tree.is_discarded()) add_settings(database, run, prefix, tree);
  }
}

}  // namespace

std::string dump_json(const nlohmann::json& json) { return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace); }

int64_t run_key(Database& database, const std::string& run) {
  SQLite::Statement& row = database.query(sql::run_key, run);
  if (!row.executeStep())
    throw Error(
        {"RW-STORE-009", "the history has no run " + run, run, "a run that was created", "list them with: ringwright runs list", ExitCode::store});
  const int64_t key = row.getColumn(0).getInt64();
  row.reset();
  return key;
}

int64_t insert_run(Database& database, const RunRecord& run) {
  SQLite::Statement& existing = database.query(sql::run_find_by_id, run.id);
  const bool is_there = existing.executeStep();
  existing.reset();
  if (is_there) throw Error({"RW-STORE-009", "the history has a run " + run.id + " already", run.id, "a new id for each run", "", ExitCode::store});
  const int64_t created = run.created_unix_ns ? run.created_unix_ns : wire::now_unix_ns();
  database.run(sql::run_insert, run.id, run.name, run.algorithm, std::string(to_string(run.state)), run.reason, created, run.started_unix_ns,
               run.ended_unix_ns, run.world_size, dump_json(run.mesh), run.failed_rank, run.last_step, run.color_index, run.segment,
               static_cast<int>(run.archived), run.duration_ns, run.imported_from);
  const int64_t key = database.connection().getLastInsertRowid();
  database.run(sql::recipe_insert, key, dump_json(run.recipe), run.recipe_text, run.recipe_path, dump_json(run.overrides));
  SQLite::Statement& segment = database.query(sql::segment_insert, key, run.segment);
  segment.bind(3);
  segment.bind(4, created);
  segment.exec();
  segment.reset();
  for (const std::string& tag : run.tags) database.run(sql::tag_insert, key, tag);
  add_settings(database, key, "mesh", run.mesh);
  add_settings(database, key, "recipe", run.recipe);
  return key;
}

void set_fingerprint(Database& database, int64_t run, int64_t segment, const std::string& source, const nlohmann::json& content) {
  database.run(sql::fingerprint_upsert, run, segment, source, dump_json(content));
  if (source == "daemon") add_settings(database, run, "fingerprint", content);
}

void upsert_alert(Database& database, int64_t run, const AlertRecord& alert) {
  database.run(sql::alert_upsert, run, alert.kind, alert.topic, alert.text, dump_json(alert.detail), alert.count, alert.first_unix_ns,
               alert.last_unix_ns);
}

void add_settings(Database& database, int64_t run, const std::string& prefix, const nlohmann::json& tree) {
  if (tree.is_object()) {
    for (const auto& [name, value] : tree.items()) add_settings(database, run, prefix + "." + name, value);
  } else if (tree.is_array()) {
    for (size_t i = 0; i < tree.size(); ++i) add_settings(database, run, prefix + "." + std::to_string(i), tree[i]);
  } else {
    add_leaf(database, run, prefix, tree);
  }
}

void add_settings_of_all_runs(Database& database) {
  add_settings_of(database, sql::run_meshes, "mesh");
  add_settings_of(database, sql::recipe_all, "recipe");
  add_settings_of(database, sql::fingerprint_all, "fingerprint");
}

void delete_run_rows(Database& database, int64_t run) {
  for (const char* statement : kDeletes) database.run(statement, run);
}

}  // namespace ringwright::history
