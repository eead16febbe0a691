// ringwright sql STATEMENT: a question of one's own to the history, which cannot change it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <iterator>

#include "console/cli/run_text.h"
#include "console/cli/store_option.h"
#include "console/cli/table.h"
#include "console/cli/verb.h"
#include "shared/base/printable.h"
#include "shared/exchange/text_export.h"
#include "shared/history/read_only_sql.h"

namespace ringwright::cli {
namespace {

using Row = std::vector<nlohmann::json>;

struct Options {
  StoreOption store;
  std::vector<std::string> words;
  bool csv = false;
};

struct Answer {
  std::vector<std::string> columns;
  std::vector<Row> rows;
};

// The whole answer, so that an error prints no half of one.
Answer ask(const Options& options) {
  std::string statement = fmt::format("{}", fmt::join(options.words, " "));
  if (statement == "-") statement.assign(std::istreambuf_iterator<char>(std::cin), {});
  Answer answer;
  history::SqlTake take;
  take.columns = [&](const std::vector<std::string>& columns) { answer.columns = columns; };
  take.row = [&](const Row& row) { answer.rows.push_back(row); };
  history::read_only_sql(options.store.path(), statement, take);
  return answer;
}

std::string text_of(const nlohmann::json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

void print_csv(const Answer& answer) {
  const auto line = [](const auto& cells, auto text) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) line += (i ? "," : "") + exchange::csv_field(text(cells[i]));
    std::puts(line.c_str());
  };
  line(answer.columns, [](const std::string& name) { return name; });
  for (const Row& row : answer.rows) line(row, text_of);
}

// Objects with the columns' names; of two columns with one name the later has its number behind it.
void print_json(const Answer& answer) {
  std::vector<std::string> names;
  for (const std::string& column : answer.columns) {
    std::string name = column;
    for (int number = 2; std::find(names.begin(), names.end(), name) != names.end(); ++number) name = fmt::format("{}_{}", column, number);
    names.push_back(std::move(name));
  }
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Row& row : answer.rows) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (size_t i = 0; i < row.size(); ++i) object[names[i]] = row[i];
    rows.push_back(std::move(object));
  }
  fmt::print("{}", dump_ordered_document(rows));
}

void print_table(const Answer& answer) {
  std::vector<Column> columns;
  for (size_t i = 0; i < answer.columns.size(); ++i) {
    const bool numbers = !answer.rows.empty() && answer.rows.front()[i].is_number();
    columns.push_back({text::printable(answer.columns[i]), numbers ? Align::right : Align::left, !numbers});
  }
  Table table(std::move(columns));
  for (const Row& row : answer.rows) {
    std::vector<std::string> cells;
    for (const nlohmann::json& value : row) cells.push_back(text::printable(text_of(value)));
    table.add_row(std::move(cells));
  }
  table.print();
}

int sql(const Options& options, const Invocation& invocation) {
  const Answer answer = ask(options);
  invocation.json ? print_json(answer) : options.csv ? print_csv(answer) : print_table(answer);
  return 0;
}

void build(Command& command, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  command.add_option("statement", options->words, "one SELECT, best in quotes; - reads it from standard input").required();
  command.add_flag("--csv", options->csv, "comma-separated values in place of a table");
  options->store.add_to(command);
  command.footer(
      "\nIt reads and cannot write; 2 seconds and 100,000 rows are the limit, and beyond it nothing is printed.\n"
      "The view metric has every point with its names:\n"
      "  ringwright sql \"SELECT run, max(value) FROM metric WHERE name = 'train/loss' GROUP BY run\"\n"
      "The tables: ringwright sql \"SELECT name, sql FROM sqlite_master\"");
  set_action(command, invocation, [options, &invocation] { return sql(*options, invocation); });
}

const VerbEntry kEntry({Group::runs, "sql", "Ask the history with a SELECT of your own", build});

}  // namespace
}  // namespace ringwright::cli
