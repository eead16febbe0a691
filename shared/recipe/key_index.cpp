#include "shared/recipe/key_index.h"

#include <functional>
#include <string>

namespace ringwright::recipe {
namespace {

constexpr size_t kFewMax = 16;  // so many are looked through faster than hashed

// Equal for equal keys: all numbers are compared as real ones somewhere.
size_t hash_of(const Node& key) {
  switch (key.kind) {
    case Kind::boolean:
      return std::hash<double>()(key.boolean ? 1 : 0);
    case Kind::integer:
      return std::hash<double>()(static_cast<double>(key.integer));
    case Kind::real:
      return std::hash<double>()(key.real);
    case Kind::text:
      return std::hash<std::string>()(key.text);
    default:
      return 0;
  }
}

}  // namespace

Node* KeyIndex::find(Entries& entries, const Node& key) {
  if (entries.size() <= kFewMax) {
    for (auto& [known, value] : entries)
      if (same_value(known, key)) return &value;
    return nullptr;
  }
  for (; indexed_ < entries.size(); ++indexed_) places_.emplace(hash_of(entries[indexed_].first), indexed_);
  const auto [begin, end] = places_.equal_range(hash_of(key));
  for (auto place = begin; place != end; ++place)
    if (auto& [known, value] = entries[place->second]; same_value(known, key)) return &value;
  return nullptr;
}

void KeyIndex::set(Entries& entries, Node key, Node value) {
  if (Node* known = find(entries, key))
    *known = std::move(value);
  else
    entries.emplace_back(std::move(key), std::move(value));
}

}  // namespace ringwright::recipe
