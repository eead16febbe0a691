// The stream that a recipe's context ranks cut, as a question to the Layout view.
#pragma once

#include <optional>
#include <string>

#include "console/gui/data/layout_picture.h"
#include "console/gui/recipe/checked_recipe.h"

namespace ringwright::gui {

struct RecipeStream {
  LayoutQuestion question;
  std::string words;  // "one of 2 rows of 512 tokens"

  bool operator==(const RecipeStream&) const = default;
};

// Rows, or the documents of a pack, are as long as the recipe lets them be. nullopt: the recipe's batch is not known.
std::optional<RecipeStream> recipe_stream(const CheckedRecipe& checked);

}  // namespace ringwright::gui
