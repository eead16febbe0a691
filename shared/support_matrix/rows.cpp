#include "shared/support_matrix/rows.h"

#include <algorithm>

#include "shared/support_matrix/capabilities.h"
#include "shared/support_matrix/fill_in.h"

namespace ringwright::support_matrix {

Fix set(std::string_view key, std::string_view value) { return {Effect::safe, {{key, value}}, ""}; }
Fix set_training(std::string_view key, std::string_view value) { return {Effect::changes_training, {{key, value}}, ""}; }
Fix remove(std::string_view key) { return {Effect::safe, {{key, "", true}}, ""}; }
Fix words(std::string_view text) { return {Effect::safe, {}, text}; }

Verdicts printed_verdicts(const Row& row) {
  const Verdict ours = row.ours.capability.empty() ? row.ours.fixed : capability(row.ours.capability);
  return {row.automodel[0], row.automodel[1], ours};
}

Verdicts verdicts_of(const Row& row, const Facts& facts) { return row.decide ? row.decide(facts) : printed_verdicts(row); }

const Tables& recipe_tables() {
  static const Tables kTables = {&algorithm_rows(), &backend_rows(), &mesh_rows(), &context_parallel_rows(), &length_rows(),   &distillation_rows(),
                                 &model_rows(),     &rollout_rows(), &data_rows(), &saving_rows(),           &migration_rows()};
  return kTables;
}

const Tables& file_tables() {
  static const Tables kTables = {&file_rows(), &family_rows()};
  return kTables;
}

namespace {

std::string word_of(const std::string& name, const Facts& facts, const ErrorParts& fault) {
  if (name == "fault") return fault.what;
  if (name == "fault_place") return fault.where;
  if (name == "fault_way_out") return fault.action;
  const auto word = facts.words.find(name);
  if (word != facts.words.end()) return word->second;
  return name.find('.') != std::string::npos ? facts.written(name) : facts.words.at(name);
}

}  // namespace

std::string fill_in(std::string_view text, const Facts& facts, const ErrorParts& fault) {
  std::string filled;
  while (!text.empty()) {
    const size_t open = std::min(text.find('{'), text.size());
    filled += text.substr(0, open);
    text.remove_prefix(open);
    if (text.empty()) break;
    const size_t close = text.find('}');
    filled += word_of(std::string(text.substr(1, close - 1)), facts, fault);
    text.remove_prefix(close + 1);
  }
  return filled;
}

}  // namespace ringwright::support_matrix
