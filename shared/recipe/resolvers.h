// The table of resolvers: what ${name:arguments} computes from its arguments alone.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/recipe/node.h"

namespace ringwright::recipe {

// What a resolver may ask of the recipe around it.
struct ResolverContext {
  const Origin& origin;                                       // of the expression, for errors
  std::function<const Node*(const std::string& key)> select;  // by key, from the top; nullptr when absent or missing
  std::function<Node(const std::string& text)> decode;        // a text read as a value
};

// Throws Error RW-RECIPE-010: unknown name, wrong number or kind of arguments, no result.
Node call_resolver(const std::string& name, const std::vector<Node>& arguments, const ResolverContext& context);

}  // namespace ringwright::recipe
