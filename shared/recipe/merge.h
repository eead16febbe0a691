// How one map is laid over another.
#pragma once

#include "shared/recipe/node.h"

namespace ringwright::recipe {

enum class NewKeys { add, refuse };

// Maps merge key by key; lists, scalars and nulls replace; ??? never replaces. `root` is the tree that `below` is in, or `below` itself: a text below
// that refers to a list or map is merged into as if that were written there. Throws Error RW-RECIPE-007 for a list over a map or a map over a list,
// and with NewKeys::refuse RW-RECIPE-013 for a key that is not there.
void merge_over(Node& below, const Node& above, Node& root, NewKeys new_keys = NewKeys::add);

}  // namespace ringwright::recipe
