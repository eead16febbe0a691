// What stands behind the lines of a recipe in the editor: what an interpolation comes to, and what a parent said before.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "console/gui/recipe/outline.h"
#include "shared/recipe/recipe.h"

namespace ringwright::gui {

// What the parents alone give; null where the text names none, or they do not load by themselves.
std::shared_ptr<const recipe::Recipe> load_parents(const recipe::Recipe& recipe);

// One text a line of the recipe's own text, "" for most: "= 16384", "common.yaml:41 has 2". Long values lose their middle.
std::vector<std::string> line_ends(const recipe::Recipe& recipe, const recipe::Recipe* parents);

// The whole value at a dotted key, as a recipe would write it in one line; "" when absent.
std::string value_text(const recipe::Recipe& recipe, const std::string& key);

}  // namespace ringwright::gui
