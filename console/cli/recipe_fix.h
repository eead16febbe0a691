// `ringwright check --fix`: the changes of a recipe that its findings ask for, in its own text.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "shared/recipe/text_edit.h"
#include "shared/support_matrix/support_matrix.h"

namespace ringwright::cli {

struct RecipeFix {
  std::vector<support_matrix::Change> made;   // safe ones
  std::vector<support_matrix::Finding> left;  // that stop a target still, and have a change to offer
  recipe::EditedRecipe edited;                // the text with the changes; nothing is written yet
  recipe::Recipe recipe;                      // as it then reads
  std::vector<support_matrix::Finding> findings;
};

// Makes the safe changes of what stops one of the targets, looks again, and goes on until nothing more can be done by itself. What the command line
// overrides is left alone: a change of the file would not be seen. `output`: where the text will be written; empty: the recipe's own file.
RecipeFix fix_recipe(const std::filesystem::path& file, const std::vector<std::string>& overrides, const std::vector<support_matrix::Target>& targets,
                     const support_matrix::CheckOptions& how, const std::filesystem::path& output = {});

}  // namespace ringwright::cli
