// Values of a tree by the segments of their key, and what two trees differ in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shared/recipe/node.h"

namespace ringwright::recipe {

using Path = std::vector<std::string>;

// Through maps by key and lists by index; nullptr when it is not there.
const Node* find_path(const Node& root, const Path& path, size_t segments);
inline const Node* find_path(const Node& root, const Path& path) { return find_path(root, path, path.size()); }
// "a.b.0" of the first segments.
std::string join_path(const Path& path, size_t segments);
inline std::string join_path(const Path& path) { return join_path(path, path.size()); }

// The first key, other than `path` and what is below it, whose value is not the same in both; maps on the way to `path` may be new. An element of a
// list that is gone from `after` is no difference where `path` names it.
std::optional<std::string> differs_beside(const Node& before, const Node& after, const Path& path);

}  // namespace ringwright::recipe
