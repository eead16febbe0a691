#include "shared/recipe/tree_path.h"

#include <charconv>

#include "shared/recipe/key_index.h"
#include "shared/recipe/yaml_text.h"

namespace ringwright::recipe {
namespace {

std::optional<size_t> index_in(const Node& list, const std::string& segment) {
  size_t index = 0;
  const auto read = std::from_chars(segment.data(), segment.data() + segment.size(), index);
  if (read.ec != std::errc{} || read.ptr != segment.data() + segment.size() || index >= list.items.size()) return std::nullopt;
  return index;
}

using Difference = std::optional<std::string>;

class Comparison {
 public:
  explicit Comparison(const Path& path) : path_(path) {}

  Difference values(const Node& before, const Node& after, size_t depth) const {
    if (depth == path_.size()) return std::nullopt;
    if (before.kind == Kind::list && after.kind == Kind::list) return lists(before, after, depth);
    const bool null_before = before.kind == Kind::null && after.kind == Kind::map;
    if (!null_before && (before.kind != Kind::map || after.kind != Kind::map))
      return identical(before, after) ? Difference() : join_path(path_, depth);
    return maps(before, after, depth);
  }

 private:
  std::string below(size_t depth, const std::string& name) const { return (depth ? join_path(path_, depth) + "." : "") + name; }

  Difference maps(const Node& before, const Node& after, size_t depth) const {
    for (size_t i = 0; i < before.entries.size(); ++i) {
      const auto& [key, value] = before.entries[i];
      if (key.is_text(path_[depth])) continue;
      const Node* now = find_near(after.entries, key, i, identical);
      if (!now || !identical(value, *now)) return below(depth, python_text(key));
    }
    for (size_t i = 0; i < after.entries.size(); ++i)
      if (const Node& key = after.entries[i].first; !key.is_text(path_[depth]) && !find_near(before.entries, key, i, identical))
        return below(depth, python_text(key));
    const Node* old = before.find(path_[depth]);
    const Node* now = after.find(path_[depth]);
    if (old && now) return values(*old, *now, depth + 1);
    if (depth + 1 == path_.size() || (!old && !now)) return std::nullopt;
    if (!now) return join_path(path_, depth + 1);
    return values(make_null(), *now, depth + 1);
  }

  Difference lists(const Node& before, const Node& after, size_t depth) const {
    const std::optional<size_t> index = index_in(before, path_[depth]);
    const bool last = depth + 1 == path_.size(), removed = last && index && after.items.size() + 1 == before.items.size();
    if (!index || (!removed && before.items.size() != after.items.size())) return identical(before, after) ? Difference() : join_path(path_, depth);
    for (size_t i = 0; i < before.items.size(); ++i) {
      if (i == *index) continue;
      if (!identical(before.items[i], after.items[removed && i > *index ? i - 1 : i])) return below(depth, std::to_string(i));
    }
    return removed ? Difference() : values(before.items[*index], after.items[*index], depth + 1);
  }

  const Path& path_;
};

}  // namespace

const Node* find_path(const Node& root, const Path& path, size_t segments) {
  const Node* node = &root;
  for (size_t i = 0; node && i < segments; ++i) {
    if (node->kind == Kind::list) {
      const std::optional<size_t> index = index_in(*node, path[i]);
      node = index ? &node->items[*index] : nullptr;
    } else {
      node = node->find(path[i]);
    }
  }
  return node;
}

std::string join_path(const Path& path, size_t segments) {
  std::string text;
  for (size_t i = 0; i < segments && i < path.size(); ++i) text += (i ? "." : "") + path[i];
  return text;
}

std::optional<std::string> differs_beside(const Node& before, const Node& after, const Path& path) {
  return Comparison(path).values(before, after, 0);
}

}  // namespace ringwright::recipe
