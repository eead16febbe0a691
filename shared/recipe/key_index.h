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

// The value at the key that `same` takes for this one, looked for around `place` before anywhere else: two maps that are in the same order but for an
// entry take a few looks for each. nullptr: there is none.
template <class Same>
const Node* find_near(const KeyIndex::Entries& entries, const Node& key, size_t place, Same same) {
  for (size_t i = place > 0 ? place - 1 : 0; i < entries.size() && i <= place + 1; ++i)
    if (same(entries[i].first, key)) return &entries[i].second;
  for (const auto& [known, value] : entries)
    if (same(known, key)) return &value;
  return nullptr;
}

}  // namespace ringwright::recipe
