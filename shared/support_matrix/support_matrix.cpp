#include "shared/support_matrix/support_matrix.h"

#include <algorithm>
#include <stdexcept>

#include "shared/recipe/node.h"
#include "shared/support_matrix/facts.h"
#include "shared/support_matrix/rows.h"

namespace ringwright::support_matrix {
namespace {

std::string fill_in(std::string_view text, const std::map<std::string, std::string>& words) {
  std::string filled;
  while (!text.empty()) {
    const size_t open = std::min(text.find('{'), text.size());
    filled += text.substr(0, open);
    text.remove_prefix(open);
    if (text.empty()) break;
    const size_t close = text.find('}');
    filled += words.at(std::string(text.substr(1, close - 1)));
    text.remove_prefix(close + 1);
  }
  return filled;
}

recipe::Origin origin_of(const recipe::Recipe& recipe, const std::string& key) {
  const auto found = recipe.origins.lower_bound(key);
  const bool inside = !key.empty() && found != recipe.origins.end() && (found->first == key || found->first.starts_with(key + "."));
  return inside ? found->second : recipe::Origin{recipe.file.string(), 0, 0};
}

void apply_rows(const std::vector<Row>& rows, const Facts& facts, const recipe::Recipe& recipe, std::vector<Finding>& findings) {
  for (const Row& row : rows) {
    if (!row.applies(facts)) continue;
    Finding finding;
    finding.code = row.code;
    finding.scope = row.scope;
    finding.verdicts = row.verdicts;
    finding.reason = fill_in(row.reason, facts.words);
    finding.key = fill_in(row.key, facts.words);
    finding.fix = fill_in(row.fix, facts.words);
    finding.origin = origin_of(recipe, finding.key);
    findings.push_back(std::move(finding));
  }
}

// A fault that another part found keeps that part's code.
void keep_codes(const Facts& facts, std::vector<Finding>& findings) {
  const auto keep = [&](std::string_view code, const std::optional<ErrorParts>& fault) {
    for (Finding& finding : findings)
      if (finding.code == code && fault) finding.code = fault->code;
  };
  keep("RW-GUARD-120", facts.mesh_fault);
  keep("RW-GUARD-202", facts.model_fault);
  keep("RW-GUARD-217", facts.experts_fault);
  keep("RW-GUARD-206", facts.tokenizer_fault);
  keep("RW-GUARD-209", facts.weights_fault);
}

}  // namespace

Target target_from_name(std::string_view name) {
  for (size_t i = 0; i < kTargetNames.size(); ++i)
    if (kTargetNames[i] == name) return static_cast<Target>(i);
  throw Error({"RW-GUARD-001", "there is no target '" + std::string(name) + "'", "--target", "automodel-0.4, automodel-0.6 or ringwright",
               "name one of these", ExitCode::usage});
}

std::string_view to_string(Verdict verdict) { return kVerdictNames[static_cast<size_t>(verdict)]; }
bool stops(Verdict verdict) { return verdict == Verdict::refused || verdict == Verdict::not_yet; }

std::vector<Finding> check(const recipe::Recipe& recipe, const CheckOptions& options) {
  Facts facts = read_facts(recipe);
  std::vector<Finding> findings;
  apply_rows(recipe_rows(), facts, recipe, findings);
  if (facts.algorithm == "sft") {
    recipe::sft_config(recipe);
    if (options.look_at_files) read_files(recipe, facts), apply_rows(file_rows(), facts, recipe, findings);
  }
  keep_codes(facts, findings);
  return findings;
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
  return json;
}

std::vector<RowText> rows() {
  std::vector<RowText> texts;
  for (const auto* table : {&recipe_rows(), &file_rows()})
    for (const Row& row : *table) texts.push_back({std::string(row.code), std::string(row.scope)});
  return texts;
}

}  // namespace ringwright::support_matrix
