// The grammar of ${...} and of unquoted words, as OmegaConf 2.3 and Hydra 1.3 have it. Parsing only; interpolation.cpp evaluates.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/recipe/node.h"

namespace ringwright::recipe {

struct Expression {
  enum class Type {
    literal,    // value
    joined,     // children one after the other: one child keeps its kind, more become text
    reference,  // children: the pieces of the key, dots and brackets among them as literals
    resolver,   // children[0]: the name's pieces as `joined`; the rest: arguments
    list,       // children: elements
    map,        // children: key, value, key, value, ...
  };
  Type type = Type::literal;
  Node value;
  std::vector<Expression> children;
};

// A text that holds "${". Throws Error RW-RECIPE-008.
Expression parse_text_expression(std::string_view text, const Origin& origin);
// One element as in a resolver's argument, which is what oc.decode reads. Throws Error RW-RECIPE-008.
Expression parse_element_expression(std::string_view text, const Origin& origin);
// null, true, 12, 1e-5, inf in any case; nullopt for every other word, which is text.
std::optional<Node> typed_word(std::string_view word, const Origin& origin);

}  // namespace ringwright::recipe
