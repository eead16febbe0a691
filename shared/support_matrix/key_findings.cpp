#include "shared/support_matrix/key_findings.h"

#include <algorithm>

#include "shared/recipe/key_table.h"
#include "shared/support_matrix/verdict_names.h"

namespace ringwright::support_matrix {
namespace {

struct KeyRowEntry {
  std::string_view code;
  recipe::KeyUse use;
  Verdict ours;
  std::string_view scope, condition;
};
constexpr KeyRowEntry kEntries[] = {
    {"RW-GUARD-350", recipe::KeyUse::refused, kNo, "key", "a key asks for something that this engine will not do (ringwright recipe show --keys)"},
    {"RW-GUARD-351", recipe::KeyUse::not_yet, Verdict::not_yet, "key",
     "a key asks for something that this version does not do (ringwright recipe show --keys)"},
};

bool is_below(const std::string& key, const std::string& section) { return key == section || key.starts_with(section + "."); }

bool is_said(const std::string& key, const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
    const bool related = !finding.key.empty() && (is_below(key, finding.key) || is_below(finding.key, key));
    return related && stops(finding.verdict(Target::ringwright));
  });
}

// "policy.quant_cfg=null" or "~policy.quant_cfg". What somebody asked for goes: that may change what is trained.
std::vector<Change> changes_of(const std::string& fix) {
  if (fix.empty()) return {};
  if (fix.starts_with('~')) return {{fix.substr(1), "", true, Effect::changes_training}};
  const size_t equals = fix.find('=');
  return {{fix.substr(0, equals), fix.substr(equals + 1), false, Effect::changes_training}};
}

Finding finding_of(const KeyRowEntry& entry, const recipe::KeyFinding& key) {
  Finding finding;
  finding.code = entry.code;
  finding.scope = entry.scope;
  const Verdict theirs = key.key.starts_with("ringwright.") ? kNone : kYes;
  finding.verdicts = {theirs, theirs, entry.ours};
  finding.reason = key.key + ": " + std::string(key.row->text);
  finding.key = key.key;
  finding.origin = key.origin;
  const std::string fix = recipe::fix_of(key);
  finding.fix = fix.empty() ? "take the key out, or run the recipe with NeMo RL" : fix;
  finding.changes = changes_of(fix);
  return finding;
}

}  // namespace

void add_key_findings(const recipe::Recipe& recipe, std::vector<Finding>& findings) {
  for (const recipe::KeyFinding& key : recipe::asked_for(recipe)) {
    if (is_said(key.key, findings)) continue;
    for (const KeyRowEntry& entry : kEntries)
      if (entry.use == key.row->use) findings.push_back(finding_of(entry, key));
  }
}

std::vector<RowText> key_row_texts() {
  std::vector<RowText> texts;
  for (const KeyRowEntry& entry : kEntries) {
    RowText text;
    text.code = entry.code, text.scope = entry.scope, text.condition = entry.condition;
    text.reason = "as the table of keys says", text.fix = "as the table of keys says";
    text.verdicts = {kYes, kYes, entry.ours};
    text.level = "recipe";
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace ringwright::support_matrix
