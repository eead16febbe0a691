// One override as text -> what it asks for. Hydra 1.3's grammar, without config groups and sweeps, which recipes do not have.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shared/recipe/node.h"

namespace ringwright::recipe {

struct Override {
  enum class Action { change, add, force, remove };
  Action action = Action::change;
  std::string key;                // as written, dotted
  std::vector<std::string> path;  // its segments
  std::optional<Node> value;      // absent only for a removal without a value
};

// Throws Error RW-RECIPE-012.
Override parse_override(const std::string& text, const Origin& origin);

}  // namespace ringwright::recipe
