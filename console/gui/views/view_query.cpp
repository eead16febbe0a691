// Query: a SELECT of one's own to the history, which cannot change it.
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "console/gui/data/run_text.h"
#include "console/gui/views/view.h"
#include "console/gui/widgets/table.h"
#include "console/gui/widgets/widgets.h"
#include "shared/base/text.h"
#include "shared/history/read_only_sql.h"

namespace ringwright::gui {
namespace {

using Row = std::vector<nlohmann::json>;

struct Result {
  std::vector<std::string> columns;
  std::vector<Row> rows;
  double seconds = 0;
  std::string plan;
};

using Schema = std::map<std::string, std::vector<std::string>>;  // columns by table

struct Example {
  const char* title;
  const char* sql;
};
constexpr Example kExamples[] = {
    {"The lowest loss of each run", "SELECT run, min(value) AS loss FROM metric\nWHERE name = 'train/loss' GROUP BY run ORDER BY loss"},
    {"Runs by state", "SELECT state, count(*) AS runs, max(last_step) AS steps FROM run\nGROUP BY state ORDER BY runs DESC"},
    {"Speed of the last 100 steps",
     "SELECT run, avg(value) AS tokens_per_s FROM metric AS m\nWHERE name = 'perf/tokens_per_s' AND step > (SELECT max(step) - 100 FROM metric "
     "WHERE run = m.run)\nGROUP BY run"}};

Result ask(const std::filesystem::path& file, const std::string& statement) {
  Result result;
  const auto start = std::chrono::steady_clock::now();
  history::SqlTake take;
  take.columns = [&](const std::vector<std::string>& columns) { result.columns = columns; };
  take.row = [&](const Row& row) { result.rows.push_back(row); };
  history::read_only_sql(file, statement, take);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

// What SQLite will do, one step a line; nothing for what it does not explain.
std::string plan_of(const std::filesystem::path& file, const std::string& statement) {
  std::string plan;
  try {
    for (const Row& row : ask(file, "EXPLAIN QUERY PLAN " + statement).rows)
      if (!row.empty() && row.back().is_string()) plan += (plan.empty() ? "" : "; ") + row.back().get<std::string>();
  } catch (const Error&) {
    return "";  // an EXPLAIN of the user's own
  }
  return plan;
}

Schema read_schema(const std::filesystem::path& file) {
  Schema schema;
  const Result result = ask(file,
                            "SELECT t.name, c.name FROM sqlite_master AS t, pragma_table_info(t.name) AS c "
                            "WHERE t.type IN ('table', 'view') AND t.name NOT LIKE 'sqlite_%' ORDER BY t.name, c.cid");
  for (const Row& row : result.rows) schema[row[0].get<std::string>()].push_back(row[1].get<std::string>());
  return schema;
}

std::string text_of(const nlohmann::json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return text::format_value(value.get<double>());
  return value.dump();
}

class ViewQuery : public View {
 public:
  void add_commands(CommandRegistry& registry) override {
    const auto empty = [this](const Context&) { return statement_.empty() ? std::optional<std::string>("no statement is written") : std::nullopt; };
    registry.add(
        {"query.run", "Run the statement", "Query", ImGuiMod_Ctrl | ImGuiKey_Enter, "Ctrl+Enter", empty,
         [this](const Context& context) { return "ringwright sql " + text::shell_word(text::one_line(statement_)) + context.source.cli_arguments(); },
         [this](Context& context) { run(context); }, ImGuiKey_None, "query"});
    registry.add({"query.example", "Take an example of a statement", "Query", 0, "", nullptr, nullptr, [this](Context&) {
                    statement_ = kExamples[static_cast<size_t>(example_)].sql;
                    example_ = (example_ + 1) % static_cast<std::ptrdiff_t>(std::size(kExamples));
                  }});
  }

  void draw(Context& context) override {
    if (!context.query_wanted.empty()) statement_ = std::exchange(context.query_wanted, "");
    if (!schema_asked_) {
      schema_asked_ = true;
      schema_.ask(context.background, [](const Background::Access& access) { return read_schema(access.file); });
    }
    schema_.take();
    answer_.take();
    draw_statement(context);
    const float tree = ImGui::GetContentRegionAvail().x > px(560) ? px(190) : 0;
    if (tree > 0) {
      draw_schema(tree);
      ImGui::SameLine(0, px(8));
    }
    if (ImGui::BeginChild("###query.answer")) draw_answer(context);
    ImGui::EndChild();
  }

  const std::optional<Result>& result() const { return answer_.value(); }

 private:
  void run(Context& context) {
    answer_.ask(context.background, [statement = statement_](const Background::Access& access) {
      Result result = ask(access.file, statement);
      result.plan = plan_of(access.file, statement);
      return result;
    });
    asked_ = statement_;
  }

  void draw_statement(Context& context) {
    {
      const WithFont code(Role::code);
      ImGui::PushStyleColor(ImGuiCol_FrameBg, color(Token::bg2));
      ImGui::InputTextMultiline("###query.statement", &statement_, {-1, ImGui::GetTextLineHeight() * 4 + px(12)}, ImGuiInputTextFlags_AllowTabInput);
      ImGui::PopStyleColor();
    }
    const std::string reason = context.commands.refusal("query.run", context).value_or("");
    if (button_or_reason("Run###query.run", reason, true)) context.commands.run("query.run", context);
    ImGui::SameLine(0, px(8));
    for (const Example& example : kExamples) {
      if (text_width(example.title, Role::body) + px(24) > ImGui::GetContentRegionAvail().x) break;
      if (ImGui::Button(fmt::format("{}###query.example.{}", example.title, &example - kExamples).c_str()))
        take_example(context, &example - kExamples);
      ImGui::SameLine(0, px(8));
    }
    ImGui::NewLine();
  }

  // The command alone takes one after the other.
  void take_example(Context& context, std::ptrdiff_t index) {
    example_ = index;
    context.commands.run("query.example", context);
  }

  void draw_schema(float width) {
    if (ImGui::BeginChild("###query.schema", {width, 0})) {
      text("Tables", Role::label, Token::text2);
      if (schema_.value())
        for (const auto& [table, columns] : *schema_.value()) draw_table_node(table, columns);
    }
    ImGui::EndChild();
  }

  void draw_table_node(const std::string& table, const std::vector<std::string>& columns) {
    const WithFont code(Role::code);
    push_name_id(table);
    if (ImGui::TreeNodeEx("###table", ImGuiTreeNodeFlags_SpanAvailWidth, "%s", table.c_str())) {
      for (const std::string& column : columns) {
        push_name_id(column);
        const float x = ImGui::GetCursorPosX();
        if (ImGui::Selectable("###column")) statement_ += (statement_.empty() || statement_.ends_with(' ') ? "" : " ") + column;
        ImGui::SameLine();
        ImGui::SetCursorPosX(x);
        text(column, Role::code, Token::text2);
        ImGui::PopID();
      }
      ImGui::TreePop();
    }
    ImGui::PopID();
  }

  // SQLite's message, and a caret under the place that it names.
  void draw_error(const ErrorParts& error) const {
    error_state(error);
    const size_t at = error.where.find("column ");
    if (at == std::string::npos) return;
    const int column = std::atoi(error.where.c_str() + at + 7);
    if (column < 1 || column > static_cast<int>(asked_.size()) + 1) return;
    const size_t begin = asked_.rfind('\n', static_cast<size_t>(column - 1)) + 1;  // npos + 1 is the start
    const size_t end = std::min(asked_.find('\n', static_cast<size_t>(column - 1)), asked_.size());
    if (begin > end) return;
    text(asked_.substr(begin, end - begin), Role::code);
    text(std::string(static_cast<size_t>(column - 1) - std::min(begin, static_cast<size_t>(column - 1)), ' ') + "^", Role::code, Token::error);
  }

  void draw_answer(const Context& context) {
    if (answer_.error()) {
      draw_error(*answer_.error());
      return;
    }
    if (answer_.waiting()) {
      skeleton(6, px(25));
      return;
    }
    if (!answer_.value()) {
      const std::string& keys = context.commands.find("query.run")->keys;
      empty_state("Ask the history",
                  fmt::format("Write a SELECT, or take one of the examples; {} runs it. It reads and cannot write.", keys.empty() ? "Run" : keys));
      return;
    }
    const Result& result = *answer_.value();
    text_fitted(
        fmt::format("{} rows   {:.0f} ms   {}", text::format_count(static_cast<int64_t>(result.rows.size())), result.seconds * 1000, result.plan),
        ImGui::GetContentRegionAvail().x, Role::axis, color(Token::text2));
    if (result.columns.empty()) return;
    draw_grid(result);
  }

  static void draw_grid(const Result& result) {
    constexpr size_t kColumnsMax = 64;  // what ImGui's tables are made for
    const size_t count = std::min(result.columns.size(), kColumnsMax);
    std::vector<TableColumn> columns;
    for (size_t i = 0; i < count; ++i) {
      const bool right = !result.rows.empty() && result.rows.front()[i].is_number();
      columns.push_back({result.columns[i], right ? 110.0F : 0.0F, right});
    }
    if (!begin_table("###query.rows", columns)) return;
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(result.rows.size()));
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        ImGui::PushID(i);
        table_row("###row", false);
        for (size_t k = 0; k < count; ++k) {
          const std::string content = text_of(result.rows[static_cast<size_t>(i)][k]);
          columns[k].right ? number_cell(content) : cell(content, Token::text, Role::code);
        }
        ImGui::PopID();
      }
    }
    end_table();
  }

  std::string statement_, asked_;
  Question<Result> answer_;
  Question<Schema> schema_;
  std::ptrdiff_t example_ = 0;
  bool schema_asked_ = false;
};

const RegisterView registration({"query", "Query", "Q", make_view<ViewQuery>});

}  // namespace
}  // namespace ringwright::gui
