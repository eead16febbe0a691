// A file with its parents merged; neither overridden nor interpolated yet.
#pragma once

#include <filesystem>
#include <string>
#include <unordered_map>

#include "shared/recipe/node.h"

namespace ringwright::recipe {

// Parent files that several recipes share, each read and merged once. The files must not change while it lives. Not for several threads at once.
class ParentCache {
 public:
  static constexpr size_t kFilesMax = 4096;  // further ones are read each time

  const Node* find(const std::filesystem::path& file) const;
  void add(const std::filesystem::path& file, const Node& merged);
  size_t files() const { return merged_.size(); }
  size_t hits() const { return hits_; }

 private:
  std::unordered_map<std::string, Node> merged_;
  mutable size_t hits_ = 0;
};

// Throws Error RW-RECIPE-001..008: reading and merging.
Node load_tree(const std::filesystem::path& file, ParentCache* parents = nullptr);
// The same for a text that stands, or will stand, in `file`.
Node load_tree(const std::filesystem::path& file, const std::string& text, ParentCache* parents = nullptr);
// The last steps, the same wherever the tree comes from: recipe.overrides over it, interpolation, places, warnings.
void complete(Recipe& recipe, Node root);

}  // namespace ringwright::recipe
