// Which keys a recipe may have: those of NeMo RL's public recipes and configuration, and our own below `ringwright`.
#pragma once

#include <string>
#include <vector>

#include "shared/recipe/node.h"
#include "shared/recipe/recipe.h"

namespace ringwright::recipe {

// One warning RW-RECIPE-101 for each key that is not known, with the nearest known one; nothing below an unknown key.
void warn_about_unknown_keys(const Node& root, std::vector<Warning>& warnings);

}  // namespace ringwright::recipe
