// What the guards say of a recipe, as the Guards view lists it for one target.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "console/gui/recipe/checked_recipe.h"

namespace ringwright::gui {

// In the order of the list.
enum class GuardState { refused, warning, conditional, padded, skipped, passed, count };
using GuardCounts = std::array<int, static_cast<size_t>(GuardState::count)>;

struct GuardRow {
  std::string id;  // the code and the key: stable from check to check
  std::string code, sentence, key;
  GuardState state = GuardState::passed;
  std::array<support_matrix::Verdict, 3> verdicts{};
  bool has_verdicts = true;  // a warning about a key says the same of every target
  recipe::Origin origin;
  bool own_line = false;  // origin is in the recipe's own text
  std::string fix;
  std::vector<support_matrix::Change> changes;
  bool changes_results = false;
  bool wants_model = false;  // skipped because the model's folder was not found
};

struct GuardList {
  std::vector<GuardRow> rows;  // by state, then as the guards are ordered
  GuardCounts counts{};        // passed: rows of the matrix that have nothing to say
  bool is_known = false;       // the guards could be asked
  const GuardRow* first_refused() const;
};

GuardState state_of(support_matrix::Verdict verdict);
// A recipe that could not be checked at all gives one skipped row that says so.
GuardList guard_list(const CheckedRecipe& checked, support_matrix::Target target);
// "runs", "runs, 1 padded", "refused, 2"; "not checked" while nothing could be said.
std::string target_words(const GuardList& guards);

}  // namespace ringwright::gui
