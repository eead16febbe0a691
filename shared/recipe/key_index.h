// Finds a map's entry by its key, as same_value() compares keys, without walking through all of them.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

#include "shared/recipe/node.h"

namespace ringwright::recipe {

// Of one map, whose entries are only added to, at their end, while this lives.
class KeyIndex {
 public:
  using Entries = std::vector<std::pair<Node, Node>>;

  // The value at that key; nullptr: there is none.
  Node* find(Entries& entries, const Node& key);
  // Sets it, in a new entry where there is none.
  void set(Entries& entries, Node key, Node value);

 private:
  size_t indexed_ = 0;
  std::unordered_multimap<size_t, size_t> places_;  // by the key's hash
};

}  // namespace ringwright::recipe
