#include "shared/support_matrix/question.h"

#include "shared/recipe/node.h"
#include "shared/support_matrix/fill_in.h"
#include "shared/support_matrix/key_findings.h"
#include "shared/support_matrix/megatron.h"
#include "shared/support_matrix/rows.h"

namespace ringwright::support_matrix {
namespace {

Finding finding_of(const Row& row, const Facts& facts, const recipe::Recipe& recipe) {
  const ErrorParts fault = row.fault ? (facts.*row.fault).value_or(ErrorParts()) : ErrorParts();
  const auto filled = [&](std::string_view text) { return fill_in(text, facts, fault); };
  Finding finding;
  finding.code = fault.code.empty() ? std::string(row.code) : fault.code;
  finding.scope = row.scope;
  finding.verdicts = verdicts_of(row, facts);
  finding.reason = filled(row.reason);
  finding.key = filled(row.key);
  finding.origin = recipe::find_origin(recipe, finding.key);
  for (const RowChange& change : row.fix.changes)
    if (std::string key = filled(change.key); !key.empty())
      finding.changes.push_back({std::move(key), filled(change.value), change.removes, row.fix.effect});
  finding.fix = filled(row.fix.words);
  if (row.fix.words.empty())
    for (const Change& change : finding.changes) finding.fix += (finding.fix.empty() ? "" : " ") + as_override(change);
  return finding;
}

void apply(const Tables& tables, const Facts& facts, const recipe::Recipe& recipe, std::vector<Finding>& findings) {
  for (const Rows* table : tables)
    for (const Row& row : *table)
      if (row.when.holds(facts)) findings.push_back(finding_of(row, facts, recipe));
}

// The rows of moved keys have spoken of one section; they speak of each.
void apply_to_other_sections(Facts facts, const recipe::Recipe& recipe, std::vector<Finding>& findings) {
  for (size_t i = 1; i < facts.moved_sections.size(); ++i) {
    facts.moved = facts.moved_sections[i];
    name_words(facts);
    apply({&migration_rows()}, facts, recipe, findings);
  }
}

}  // namespace

Question::Question(const recipe::Recipe& given, const CheckOptions& options) : given_(given), options_(options) {
  if (options.map_megatron) mapped_ = as_mapped(given);
  facts_ = read_facts(recipe(), options);
}

void Question::read_model() {
  if (model_is_read_ || !options_.look_at_files) return;
  model_is_read_ = true;
  read_model_config(recipe(), options_, facts_);
}

std::vector<Finding> Question::findings() {
  std::vector<Finding> findings;
  apply(recipe_tables(), facts_, recipe(), findings);
  if (facts_.moved_sections.size() > 1) apply_to_other_sections(facts_, recipe(), findings);
  add_key_findings(recipe(), findings);
  if (facts_.algorithm == "sft") recipe::sft_config(recipe());
  if (options_.look_at_files && !facts_.algorithm.empty()) {
    read_model();
    read_other_files(recipe(), facts_);
    apply(file_tables(), facts_, recipe(), findings);
  }
  return findings;
}

}  // namespace ringwright::support_matrix
