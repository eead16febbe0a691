// Changes from the command line, in Hydra's syntax: a.b=c, +a.b=c (new), ++a.b=c (either), ~a.b (delete), teachers.0.x=c.
#pragma once

#include <string>
#include <vector>

#include "shared/recipe/node.h"

namespace ringwright::recipe {

// Before interpolation. Throws Error RW-RECIPE-012 (syntax, sweeps) or RW-RECIPE-013 (the key is not there, or is there already).
void apply_overrides(Node& root, const std::vector<std::string>& overrides);

}  // namespace ringwright::recipe
