// ringwright explain matrix | migration | flow RECIPE: what the guards know, what moved between the targets, and the path of one step.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "console/cli/explain_flow.h"
#include "console/cli/recipe_arguments.h"
#include "console/cli/run_text.h"
#include "console/cli/table.h"
#include "console/cli/terminal.h"
#include "console/cli/verb.h"
#include "console/cli/verdict_style.h"
#include "shared/support_matrix/document.h"
#include "shared/support_matrix/migration.h"
#include "shared/support_matrix/support_matrix.h"

namespace ringwright::cli {
namespace {

using nlohmann::ordered_json;
using support_matrix::RowText;

ordered_json to_json(const RowText& row) {
  ordered_json verdicts;
  for (size_t i = 0; i < row.verdicts.size(); ++i)
    verdicts[std::string(support_matrix::kTargetNames[i])] = support_matrix::to_string(row.verdicts[i]);
  return {{"code", row.code},     {"scope", row.scope}, {"level", row.level}, {"condition", row.condition},  {"verdicts", verdicts},
          {"reason", row.reason}, {"key", row.key},     {"fix", row.fix},     {"capability", row.capability}};
}

void print_rows(const std::vector<RowText>& rows) {
  Table table({{"code"}, {"what"}, {"automodel-0.4"}, {"automodel-0.6"}, {"ringwright"}, {"when", Align::left, true}});
  for (const RowText& row : rows) {
    std::vector<std::string> cells = {row.code, row.scope};
    for (const auto verdict : row.verdicts) cells.push_back(styled_verdict(verdict));
    cells.push_back(row.condition);
    table.add_row(std::move(cells));
  }
  table.print();
}

int explain_matrix(bool markdown, const Invocation& invocation) {
  if (markdown) {
    fmt::print("{}", support_matrix::matrix_markdown());
    return 0;
  }
  const std::vector<RowText> rows = support_matrix::rows();
  if (!invocation.json) {
    print_rows(rows);
    return 0;
  }
  ordered_json json = ordered_json::array();
  for (const RowText& row : rows) json.push_back(to_json(row));
  fmt::print("{}", dump_ordered_document(json));
  return 0;
}

void print_moves() {
  for (const support_matrix::Move& move : support_matrix::moves()) {
    fmt::print("{}{}\n", styled(std::string(move.area), Style::bold), move.row.empty() ? "" : fmt::format("  ({})", move.row));
    fmt::print("  automodel-0.4  {}\n  automodel-0.6  {}\n  recipe keys    {}\n\n", move.before, move.after, move.keys);
  }
  fmt::print("{}\n", styled("what the second makes needless", Style::bold));
  for (const support_matrix::Workaround& each : support_matrix::needless_workarounds()) fmt::print("  {}: {}\n", each.what, each.why);
  fmt::print("\nNeMo RL records a commit of Automodel, {} for automodel-0.4 and {} for automodel-0.6; moving a tag changes no checkout.\n",
             support_matrix::kAutomodelCommit04, support_matrix::kAutomodelCommit06);
}

int explain_migration(const Invocation& invocation) {
  if (!invocation.json) {
    print_moves();
    return 0;
  }
  ordered_json json = {{"commits", {{"automodel-0.4", support_matrix::kAutomodelCommit04}, {"automodel-0.6", support_matrix::kAutomodelCommit06}}}};
  for (const support_matrix::Move& move : support_matrix::moves())
    json["moves"].push_back(
        {{"area", move.area}, {"automodel-0.4", move.before}, {"automodel-0.6", move.after}, {"keys", move.keys}, {"row", move.row}});
  for (const support_matrix::Workaround& each : support_matrix::needless_workarounds())
    json["needless"].push_back({{"what", each.what}, {"why", each.why}});
  fmt::print("{}", dump_ordered_document(json));
  return 0;
}

void build(Command& command, Invocation& invocation) {
  Command matrix = add_subverb(command, "matrix", "The support matrix: every row, with its verdict for the three targets");
  auto markdown = std::make_shared<bool>(false);
  matrix.add_flag("--markdown", *markdown, "the documentation's text (SUPPORT.md)");
  set_action(matrix, invocation, [markdown, &invocation] { return explain_matrix(*markdown, invocation); });

  Command migration = add_subverb(command, "migration", "What moved between the two Automodel targets");
  set_action(migration, invocation, [&invocation] { return explain_migration(invocation); });

  Command flow = add_subverb(command, "flow", "The path of one step of a recipe: stages, shapes, and the scale of the loss");
  auto words = std::make_shared<std::vector<std::string>>();
  auto model = std::make_shared<std::string>();
  flow.add_option("recipe", *words, "a recipe, and overrides: a.b=c").required();
  flow.add_option("--model", *model, "the model's folder, in place of what policy.model_name stands for");
  set_action(flow, invocation, [words, model, &invocation] { return explain_flow(*words, *model, invocation); });
}

const VerbEntry kEntry({Group::recipes, "explain", "Show what the guards know, and the path of one step", build});

}  // namespace
}  // namespace ringwright::cli
