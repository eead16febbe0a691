// A file with its parents merged and the overrides applied; not interpolated yet.
#pragma once

#include <filesystem>

#include "shared/recipe/node.h"

namespace ringwright::recipe {

// Throws Error RW-RECIPE-001..008: reading and merging.
Node load_tree(const std::filesystem::path& file);

}  // namespace ringwright::recipe
