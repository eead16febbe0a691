#include "shared/recipe/merge.h"

#include "shared/recipe/failure.h"
#include "shared/recipe/interpolation.h"
#include "shared/recipe/key_index.h"

namespace ringwright::recipe {
namespace {

void merge_value(Node& below, const Node& above, const Node& key, Node& root, NewKeys new_keys) {
  if (above.is_missing()) return;
  if (above.is_container()) {
    if (const Node* referred = referred_container(root, below)) below = Node(*referred);
  }
  if (!above.is_container() || !below.is_container()) {
    below = above;
    return;
  }
  if (above.kind != below.kind)
    fail("RW-RECIPE-007",
         "'" + python_text(key) + "' is " + std::string(to_string(above.kind)) + ", and " + std::string(to_string(below.kind)) + " below it",
         above.origin, std::string(to_string(below.kind)) + ", as at " + describe(below.origin),
         "make both the same kind, or set the key to null in between");
  if (above.kind == Kind::list)
    below = above;
  else
    merge_over(below, above, root, new_keys);
}

}  // namespace

void merge_over(Node& below, const Node& above, Node& root, NewKeys new_keys) {
  KeyIndex keys;
  for (const auto& [key, value] : above.entries) {
    if (Node* found = keys.find(below.entries, key)) {
      merge_value(*found, value, key, root, new_keys);
      continue;
    }
    if (new_keys == NewKeys::refuse)
      fail("RW-RECIPE-013", "there is no key '" + python_text(key) + "' in that map", value.origin, "a key of the recipe",
           "put a + before the override to add it");
    below.entries.emplace_back(key, value);
  }
}

}  // namespace ringwright::recipe
