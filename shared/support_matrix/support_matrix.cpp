#include "shared/support_matrix/support_matrix.h"

#include <algorithm>
#include <stdexcept>

#include "shared/recipe/node.h"
#include "shared/support_matrix/key_findings.h"
#include "shared/support_matrix/question.h"
#include "shared/support_matrix/rows.h"
#include "shared/support_matrix/running.h"

namespace ringwright::support_matrix {

Target target_from_name(std::string_view name) {
  for (size_t i = 0; i < kTargetNames.size(); ++i)
    if (kTargetNames[i] == name) return static_cast<Target>(i);
  throw Error({"RW-GUARD-001", "there is no target '" + std::string(name) + "'", "--target", "automodel-0.4, automodel-0.6 or ringwright, or all",
               "name one of these", ExitCode::usage});
}

std::vector<Target> targets_from_name(std::string_view name) {
  if (name == "all") return {Target::automodel_0_4, Target::automodel_0_6, Target::ringwright};
  return {target_from_name(name)};
}

std::string_view to_string(Verdict verdict) { return kVerdictNames[static_cast<size_t>(verdict)]; }
bool stops(Verdict verdict) { return verdict == Verdict::refused || verdict == Verdict::not_yet; }

std::string as_override(const Change& change) { return change.removes ? "~" + change.key : change.key + "=" + change.value; }

std::vector<Finding> check(const recipe::Recipe& recipe, const CheckOptions& options) { return Question(recipe, options).findings(); }

bool stops_one(const Finding& finding, const std::vector<Target>& targets) {
  return std::any_of(targets.begin(), targets.end(), [&](Target target) { return stops(finding.verdict(target)); });
}

bool refused(const std::vector<Finding>& findings, Target target) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) { return stops(finding.verdict(target)); });
}

Error refusal(const std::vector<Finding>& findings, Target target) {
  const auto first = std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) { return stops(finding.verdict(target)); });
  if (first == findings.end()) throw std::logic_error("no finding refuses the recipe");
  const auto more = std::count_if(first + 1, findings.end(), [&](const Finding& finding) { return stops(finding.verdict(target)); });
  std::string where = first->key;
  if (first->origin.line > 0) where += " (" + recipe::describe(first->origin) + ")";
  const std::string also = more > 0 ? "; " + std::to_string(more) + " more: see ringwright check" : "";
  return Error({first->code, first->scope + ": " + first->reason, where, "", first->fix + also, ExitCode::refused});
}

nlohmann::ordered_json to_json(const Finding& finding) {
  nlohmann::ordered_json verdicts;
  for (size_t i = 0; i < kTargetNames.size(); ++i) verdicts[std::string(kTargetNames[i])] = to_string(finding.verdicts[i]);
  nlohmann::ordered_json json = {
      {"code", finding.code}, {"scope", finding.scope}, {"verdicts", verdicts}, {"reason", finding.reason}, {"key", finding.key}};
  if (finding.origin.line > 0) json["origin"] = {{"file", finding.origin.file}, {"line", finding.origin.line}, {"column", finding.origin.column}};
  json["fix"] = finding.fix;
  json["changes"] = nlohmann::ordered_json::array();
  for (const Change& change : finding.changes)
    json["changes"].push_back({{"key", change.key},
                               {"value", change.removes ? nlohmann::ordered_json() : nlohmann::ordered_json(change.value)},
                               {"changes_training", change.effect == Effect::changes_training}});
  return json;
}

namespace {

void add_texts(const Tables& tables, std::string_view level, std::vector<RowText>& texts) {
  for (const Rows* table : tables) {
    for (const Row& row : *table) {
      std::string fix(row.fix.words);
      for (const RowChange& change : row.fix.changes)
        if (row.fix.words.empty())
          fix += (fix.empty() ? "" : ", ") + as_override({std::string(change.key), std::string(change.value), change.removes});
      texts.push_back({std::string(row.code), std::string(row.scope), row.when.text, std::string(row.reason), std::string(row.key), std::move(fix),
                       printed_verdicts(row), std::string(row.ours.capability), level});
    }
  }
}

}  // namespace

std::vector<RowText> rows() {
  std::vector<RowText> texts;
  add_texts(recipe_tables(), "recipe", texts);
  for (RowText& text : key_row_texts()) texts.push_back(std::move(text));
  add_texts(file_tables(), "files", texts);
  for (const RunningRow& row : running_rows())
    texts.push_back({std::string(row.code),
                     std::string(row.scope),
                     std::string(row.when),
                     std::string(row.reason),
                     "",
                     std::string(row.fix),
                     {Verdict::conditional, Verdict::conditional, Verdict::conditional},
                     "",
                     "run"});
  return texts;
}

}  // namespace ringwright::support_matrix
