// What a plain YAML scalar is: the YAML 1.1 rules as PyYAML has them, with OmegaConf's changes (floats without a dot; dates stay text).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "shared/recipe/node.h"

namespace ringwright::recipe {

// Never throws; nullopt for what upstream's loader refuses ("=", "0b_").
std::optional<Node> plain_scalar(const std::string& text, const Origin& origin);
// With an explicit tag ("str", "int", "float", "bool", "null"); nullopt when the text does not fit it or the tag is another one.
std::optional<Node> tagged_scalar(std::string_view tag, const std::string& text, const Origin& origin);

}  // namespace ringwright::recipe
