#include "shared/support_matrix/recipe_fix.h"

#include <algorithm>

#include "shared/recipe/node.h"

namespace ringwright::support_matrix {
namespace {

constexpr int kRoundsMax = 8;  // a change can bring up another row, hardly ever a third

// What stops a target, and what runs on a condition that a change takes away.
bool wants_change(const Finding& finding, const std::vector<Target>& targets) {
  const bool conditional = std::any_of(targets.begin(), targets.end(), [&](auto target) { return finding.verdict(target) == Verdict::conditional; });
  return !finding.changes.empty() && (conditional || stops_one(finding, targets));
}

bool has_key(const std::vector<Change>& changes, const std::string& key) {
  return std::any_of(changes.begin(), changes.end(), [&](const Change& each) { return each.key == key; });
}

// Whether all of a finding's changes can be made without asking: safe, in the file, and not made before.
bool can_be_made(const Finding& finding, const recipe::Recipe& recipe, const std::vector<Change>& made) {
  return std::all_of(finding.changes.begin(), finding.changes.end(), [&](const Change& change) {
    return change.effect == Effect::safe && !has_key(made, change.key) && recipe::find_origin(recipe, change.key).file != recipe::kCommandLine;
  });
}

std::vector<std::string> as_overrides(const std::vector<Change>& changes) {
  std::vector<std::string> overrides;
  for (const Change& change : changes) overrides.push_back((change.removes ? "" : "++") + as_override(change));
  return overrides;
}

}  // namespace

recipe::TextEdit as_edit(const Change& change, const recipe::Recipe& recipe) {
  if (!change.removes) return recipe::parse_set("++" + as_override(change));
  const bool is_own = recipe::find_origin(recipe, change.key).file == recipe.file.string();
  return is_own ? recipe::make_unset(change.key) : recipe::parse_set("++" + change.key + "=null");
}

RecipeFix fix_recipe(const std::filesystem::path& file, const std::string& text, const std::vector<std::string>& overrides,
                     const std::vector<Target>& targets, CheckOptions& options, recipe::ParentCache& parents) {
  RecipeFix fix;
  const recipe::Recipe asked = recipe::load_recipe_text(file, text, overrides, &parents);
  ask_machine(asked, options);
  for (int round = 0; round < kRoundsMax; ++round) {
    std::vector<std::string> all = as_overrides(fix.made);  // below those of the command line, which win
    all.insert(all.end(), overrides.begin(), overrides.end());
    fix.recipe = recipe::load_recipe_text(file, text, all, &parents);
    fix.examination = examine(fix.recipe, options);
    const size_t made_before = fix.made.size();
    for (const Finding& finding : fix.examination.findings)
      if (wants_change(finding, targets) && can_be_made(finding, asked, fix.made))
        fix.made.insert(fix.made.end(), finding.changes.begin(), finding.changes.end());
    if (fix.made.size() == made_before) break;
  }
  for (Finding finding : fix.examination.findings) {
    if (!stops_one(finding, targets)) continue;
    std::erase_if(finding.changes, [&](const Change& change) { return std::find(fix.made.begin(), fix.made.end(), change) != fix.made.end(); });
    if (!finding.changes.empty()) fix.left.push_back(std::move(finding));
  }
  const recipe::Recipe as_it_was = recipe::load_recipe_text(file, text, {}, &parents);
  for (const Change& change : fix.made) fix.edits.push_back(as_edit(change, as_it_was));
  return fix;
}

}  // namespace ringwright::support_matrix
