// Finding runs by a query.
#include <sqlite3.h>

#include <memory>
#include <variant>

#include "shared/history/reader_impl.h"
#include "shared/query/matches.h"
#include "shared/query/query.h"

namespace ringwright::history {
namespace {

std::string_view text_of(sqlite3_value* value) {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_value_text(value));
  return bytes ? std::string_view(bytes, static_cast<size_t>(sqlite3_value_bytes(value))) : std::string_view();
}

// The pattern is made once for a statement: SQLite keeps it beside the argument, which stays the same.
void match(sqlite3_context* context, int, sqlite3_value** arguments) {
  if (sqlite3_value_type(arguments[1]) == SQLITE_NULL) return sqlite3_result_null(context);
  auto* pattern = static_cast<query::Pattern*>(sqlite3_get_auxdata(context, 0));
  std::unique_ptr<query::Pattern> fresh;
  if (!pattern) {
    fresh = std::make_unique<query::Pattern>(text_of(arguments[0]));
    pattern = fresh.get();
  }
  sqlite3_result_int(context, pattern->matches(text_of(arguments[1])));
  if (fresh) sqlite3_set_auxdata(context, 0, fresh.release(), [](void* old) { delete static_cast<query::Pattern*>(old); });
}

void bind(SQLite::Statement& statement, const std::vector<query::Parameter>& parameters) {
  for (size_t i = 0; i < parameters.size(); ++i)
    std::visit([&](const auto& value) { statement.bind(static_cast<int>(i) + 1, value); }, parameters[i]);
}

}  // namespace

std::vector<RunRecord> Reader::find(std::string_view text, size_t limit, Parts parts) const {
  const auto names = [this](const char* sql) {
    std::vector<std::string> all;
    impl_->rows([&](SQLite::Statement& row) { all.push_back(row.getColumn(0).getString()); }, sql);
    return all;
  };
  query::Context context;
  context.vocabulary.metric_names = [&] { return names(sql::metric_name_list); };
  context.vocabulary.setting_names = [&] { return names(sql::setting_name_list); };
  context.now_unix_ns = wire::now_unix_ns();
  context.limit = static_cast<int64_t>(std::min<uint64_t>(limit, INT64_MAX));
  const query::Compiled compiled = query::compile(text, context);
  std::vector<RunRecord> runs;
  std::vector<int64_t> keys;
  impl_->guarded([&] {
    sqlite3_create_function_v2(impl_->database.connection().getHandle(), query::kMatchFunction, 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nullptr,
                               &match, nullptr, nullptr, nullptr);
    const std::string_view listing = sql::run_list;
    SQLite::Statement statement(impl_->database.connection(), std::string(listing.substr(0, listing.rfind("FROM run"))) + compiled.sql);
    bind(statement, compiled.parameters);
    while (statement.executeStep()) keys.push_back(statement.getColumn(0).getInt64()), runs.push_back(run_of(statement));
  });
  for (size_t i = 0; parts == Parts::all && i < runs.size(); ++i) impl_->add_recipe(runs[i], keys[i]), impl_->add_fingerprint(runs[i], keys[i]);
  return runs;
}

}  // namespace ringwright::history
