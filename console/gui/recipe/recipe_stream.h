// The stream that a recipe's context ranks cut, as a question to the Layout view.
#pragma once

#include <optional>
#include <string>

#include "console/gui/data/layout_picture.h"
#include "shared/flow/flow.h"
#include "shared/recipe/recipe.h"

namespace ringwright::gui {

struct RecipeStream {
  LayoutQuestion question;
  std::string words;  // "one of 2 rows of 512 tokens"

  bool operator==(const RecipeStream&) const = default;
};

// Rows, or the documents of a pack, are as long as the recipe lets them be; `sizes` are those of its step. nullopt: the recipe's batch is not known.
std::optional<RecipeStream> recipe_stream(const recipe::Recipe& recipe, const flow::StepSizes& sizes);

}  // namespace ringwright::gui
