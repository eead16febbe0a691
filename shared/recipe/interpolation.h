// ${...}: node references and resolvers, in OmegaConf's grammar.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shared/recipe/node.h"

namespace ringwright::recipe {

// Where a node is: the index among its parent's items or entries, from the root.
using Position = std::vector<size_t>;

inline bool has_interpolation(std::string_view text) { return text.find("${") != std::string_view::npos; }
// Throws Error RW-RECIPE-008 when the text holds a malformed ${...}.
void check_interpolation(const std::string& text, const Origin& origin);
// Replaces every ${...} below `root` by its value. Throws Error RW-RECIPE-009 (names nothing, or a value that is still ???),
// RW-RECIPE-010 (resolver), RW-RECIPE-011 (a value that needs itself).
void resolve_interpolations(Node& root);
// The list or map inside `root` that `holder`, a text inside `root`, refers to when it is one reference and nothing else; nullptr otherwise.
// Changes nothing; what stands behind a further computed value is not found.
Node* referred_container(Node& root, const Node& holder);
// The value of a text on its own, looked up in `root`.
Node evaluate(Node& root, const std::string& text, const Origin& origin);
// Path segments of "a.b[0].c".
std::vector<std::string> split_key(std::string_view key);

}  // namespace ringwright::recipe
