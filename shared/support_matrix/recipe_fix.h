// What `check --fix` and the console's fixes change in a recipe.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "shared/recipe/loader.h"
#include "shared/recipe/text_edit.h"
#include "shared/support_matrix/examination.h"
#include "shared/support_matrix/support_matrix.h"

namespace ringwright::support_matrix {

// The edit of the recipe's own text that makes a change: a key that a parent has cannot be taken out of the child, there it becomes null.
recipe::TextEdit as_edit(const Change& change, const recipe::Recipe& recipe);

struct RecipeFix {
  std::vector<Change> made;             // in the order in which they came up
  std::vector<recipe::TextEdit> edits;  // the same, of the recipe's own text
  std::vector<Finding> left;            // that still stop a target, with changes that were not made: they change what is trained, or stand elsewhere
  recipe::Recipe recipe;                // as it is then
  Examination examination;              // of it
};

// The safe changes for these targets, again and again, since one can bring up another row. `text` stands, or will stand, in `file`. Throws what
// load_recipe, check and edit_recipe throw. Writes nothing. Not for --map megatron, whose settings stand in no recipe. What ask_machine() learns
// stays in `options`, and what parents hold in `parents`, for the next recipe.
RecipeFix fix_recipe(const std::filesystem::path& file, const std::string& text, const std::vector<std::string>& overrides,
                     const std::vector<Target>& targets, CheckOptions& options, recipe::ParentCache& parents);

}  // namespace ringwright::support_matrix
