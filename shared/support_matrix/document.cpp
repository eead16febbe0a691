#include "shared/support_matrix/document.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "shared/support_matrix/families.h"
#include "shared/support_matrix/migration.h"
#include "shared/support_matrix/support_matrix.h"

namespace ringwright::support_matrix {
namespace {

struct Level {
  std::string_view name, title, text;
};
constexpr Level kLevels[] = {
    {"recipe", "What the recipe alone says", "Words in braces stand for the recipe's own values."},
    {"files", "What the model's and the data's files say", "Files that are not on the machine give skipped rows, which are not passed."},
    {"run", "What only a run can show", "These are reported while a run goes on; they stop nothing."},
};

std::string cell(std::string text) {
  for (size_t bar = text.find('|'); bar != std::string::npos; bar = text.find('|', bar + 2)) text.replace(bar, 1, "\\|");
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text.empty() ? "-" : text;
}

std::string spaced(std::string_view verdict) {
  std::string text(verdict);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

void add_row(std::string& text, const std::vector<std::string>& cells) {
  std::vector<std::string> escaped;
  for (const std::string& each : cells) escaped.push_back(cell(each));
  text += fmt::format("| {} |\n", fmt::join(escaped, " | "));
}

void add_head(std::string& text, const std::vector<std::string>& titles) {
  add_row(text, titles);
  text += fmt::format("|{}\n", fmt::join(std::vector<std::string>(titles.size(), " --- |"), ""));
}

std::string rows_of(std::string_view level) {
  std::string text;
  add_head(text, {"row", "about", "when", "automodel-0.4", "automodel-0.6", "ringwright", "why", "way out"});
  for (const RowText& row : rows()) {
    if (row.level != level) continue;
    add_row(text, {row.code, row.scope, row.condition, spaced(to_string(row.verdicts[0])), spaced(to_string(row.verdicts[1])),
                   spaced(to_string(row.verdicts[2])), row.reason, row.fix});
  }
  return text;
}

std::string answer_text(const Family& family, Target target) {
  const FamilyVerdict verdict = judge(family, target, {});
  return verdict.words.empty() ? spaced(to_string(verdict.verdict)) : fmt::format("{}: {}", spaced(to_string(verdict.verdict)), verdict.words);
}

std::string families_text() {
  std::string text;
  add_head(text, {"model_type", "sharded as", "layout", "formats", "automodel-0.4", "automodel-0.6"});
  const auto add = [&](const Family& family) {
    add_row(text, {std::string(family.model_types), std::string(family.style), std::string(family.layout), std::string(family.formats),
                   answer_text(family, Target::automodel_0_4), answer_text(family, Target::automodel_0_6)});
  };
  for (const Family& family : families()) add(family);
  add(other_families());
  return text;
}

std::string moves_text() {
  std::string text;
  add_head(text, {"what", "automodel-0.4", "automodel-0.6", "keys of a recipe", "row"});
  for (const Move& move : moves())
    add_row(text, {std::string(move.area), std::string(move.before), std::string(move.after), std::string(move.keys), std::string(move.row)});
  text += "\nWhat the second makes needless:\n\n";
  for (const Workaround& each : needless_workarounds()) text += fmt::format("- {}: {}\n", each.what, each.why);
  return text;
}

}  // namespace

std::string matrix_markdown() {
  std::string text =
      "# What can run where\n\n"
      "Printed by `ringwright explain matrix --markdown` from the rows that `ringwright check`, the daemon and the console ask; a test keeps this "
      "file "
      "equal to it.\n\n"
      "Three targets: `automodel-0.4` and `automodel-0.6` are NeMo RL before and after its Automodel upgrade, `ringwright` is this engine. Verdicts: "
      "supported; conditional (under the condition that the row names); padded; refused; not yet (this engine will have it, and stops until then); "
      "not "
      "applicable; skipped (could not be looked at).\n";
  for (const Level& level : kLevels) text += fmt::format("\n## {}\n\n{}\n\n{}", level.title, level.text, rows_of(level.name));
  text += fmt::format("\n## Families under context parallelism\n\nThis engine is to train {}; every other one is skipped.\n\n{}",
                      fmt::join(kOwnFamilies, ", "), families_text());
  text += "\n## What moved between the two Automodel targets\n\n" + moves_text();
  return text;
}

}  // namespace ringwright::support_matrix
