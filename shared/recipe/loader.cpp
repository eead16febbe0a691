#include "shared/recipe/loader.h"

#include <algorithm>

#include "shared/recipe/failure.h"
#include "shared/recipe/interpolation.h"
#include "shared/recipe/key_table.h"
#include "shared/recipe/merge.h"
#include "shared/recipe/overrides.h"
#include "shared/recipe/reader.h"
#include "shared/recipe/recipe.h"

namespace ringwright::recipe {
namespace {

namespace fs = std::filesystem;

constexpr size_t kParentsMax = 64;
constexpr std::string_view kReplaceMarker = "_override_";

class Loader {
 public:
  explicit Loader(ParentCache* parents) : parents_(parents) {}

  Node load(const fs::path& file, const std::string& text) {
    Node tree = parse_yaml(text, file.string());
    const Node* defaults = tree.find("defaults");
    if (!defaults) return tree;
    const std::vector<Node> parents = parent_names(tree, *defaults);
    tree.erase("defaults");
    Node merged = make_null(tree.origin);
    merged.kind = Kind::map;
    chain_.push_back(canonical_or_as_written(file));
    for (const Node& parent : parents) {
      Node loaded = load_parent(file, parent);
      if (merged.entries.empty())
        merged.entries = std::move(loaded.entries);
      else
        merge_over(merged, loaded, merged);
    }
    chain_.pop_back();
    lay_over(merged, std::move(tree));
    return merged;
  }

 private:
  // A name that the system cannot follow (a circle of links, 300 letters) stays as it is, and is found missing.
  static fs::path canonical_or_as_written(const fs::path& file) {
    std::error_code failure;
    const fs::path canonical = fs::weakly_canonical(file, failure);
    return failure ? file : canonical;
  }

  static std::vector<Node> parent_names(Node& tree, const Node& written) {
    Node defaults = written;
    if (defaults.kind == Kind::text && has_interpolation(defaults.text)) {
      Node scratch = tree;
      defaults = evaluate(scratch, defaults.text, written.origin);
    }
    std::vector<Node> names = defaults.kind == Kind::list ? defaults.items : std::vector<Node>{defaults};
    for (const Node& name : names)
      if (name.kind != Kind::text || name.text.empty() || name.is_missing())
        fail("RW-RECIPE-005", "defaults names a parent by " + std::string(to_string(name.kind)), written.origin, "a path, or a list of paths",
             "write the parent's path, or leave defaults out");
    return names;
  }

  Node load_parent(const fs::path& file, const Node& name) {
    const fs::path parent = (file.parent_path() / name.text).lexically_normal();
    if (const Node* known = parents_ ? parents_->find(parent) : nullptr) return *known;
    const fs::path canonical = canonical_or_as_written(parent);
    if (std::find(chain_.begin(), chain_.end(), canonical) != chain_.end())
      fail("RW-RECIPE-006", "the recipes name each other as parents: " + loop_text(canonical), name.origin, "parents without a circle",
           "remove one of the defaults");
    if (chain_.size() > kParentsMax) fail("RW-RECIPE-015", "too many levels of parents", name.origin, "at most " + std::to_string(kParentsMax), "");
    std::error_code failure;
    if (!fs::is_regular_file(parent, failure))
      fail("RW-RECIPE-001", "the parent " + name.text + " is not there", name.origin, "a file at " + parent.string(),
           "correct defaults; the path is relative to the file that names it");
    Node merged = load(parent, read_text(parent));
    if (parents_) parents_->add(parent, merged);
    return merged;
  }

  std::string loop_text(const fs::path& again) const {
    std::string text;
    for (auto file = std::find(chain_.begin(), chain_.end(), again); file != chain_.end(); ++file) text += file->filename().string() + " -> ";
    return text + again.filename().string();
  }

  // A section of the child that says `_override_: true` replaces the parent's; upstream looks at top-level sections only.
  static void lay_over(Node& merged, Node child) {
    for (auto& [key, section] : child.entries) {
      const Node* marker = section.find(kReplaceMarker);
      if (!marker || marker->kind != Kind::boolean || !marker->boolean) continue;
      section.erase(kReplaceMarker);
      std::erase_if(merged.entries, [&, &key = key](const auto& entry) { return same_value(entry.first, key); });
    }
    merge_over(merged, child, merged);
  }

  ParentCache* parents_;
  std::vector<fs::path> chain_;
};

void collect_origins(const Node& node, const std::string& path, std::map<std::string, Origin>& origins) {
  if (!node.is_container() || (node.items.empty() && node.entries.empty())) {
    if (!path.empty()) origins.emplace(path, node.origin);
    return;
  }
  const std::string prefix = path.empty() ? "" : path + ".";
  for (size_t i = 0; i < node.items.size(); ++i) collect_origins(node.items[i], prefix + std::to_string(i), origins);
  for (const auto& [key, value] : node.entries) collect_origins(value, prefix + python_text(key), origins);
}

// `_override_` below the top, and ??? that nothing filled.
void collect_leftovers(const Node& node, const std::string& path, std::vector<Warning>& warnings) {
  const std::string prefix = path.empty() ? "" : path + ".";
  if (node.is_missing()) warnings.push_back({"RW-RECIPE-103", path, "still ???: it has no value", node.origin});
  for (size_t i = 0; i < node.items.size(); ++i) collect_leftovers(node.items[i], prefix + std::to_string(i), warnings);
  for (const auto& [key, value] : node.entries) {
    const std::string name = prefix + python_text(key);
    if (key.is_text(kReplaceMarker))
      warnings.push_back(
          {"RW-RECIPE-102", name, "counts in a top-level section of a recipe with a parent, and when true; the section was merged", value.origin});
    else
      collect_leftovers(value, name, warnings);
  }
}

}  // namespace

const Node* ParentCache::find(const fs::path& file) const {
  const auto found = merged_.find(file.native());
  if (found == merged_.end()) return nullptr;
  ++hits_;
  return &found->second;
}

void ParentCache::add(const fs::path& file, const Node& merged) {
  if (merged_.size() < kFilesMax) merged_.emplace(file.native(), merged);
}

Node load_tree(const fs::path& file, ParentCache* parents) { return load_tree(file, read_text(file), parents); }
Node load_tree(const fs::path& file, const std::string& text, ParentCache* parents) { return Loader(parents).load(file, text); }

Origin find_origin(const Recipe& recipe, const std::string& key) {
  const auto found = recipe.origins.lower_bound(key);
  if (found != recipe.origins.end() && found->first == key) return found->second;
  const auto below = recipe.origins.lower_bound(key + ".");
  if (!key.empty() && below != recipe.origins.end() && below->first.starts_with(key + ".")) return below->second;
  return {recipe.file.string(), 0, 0};
}

void complete(Recipe& recipe, Node root) {
  apply_overrides(root, recipe.overrides);
  resolve_interpolations(root);
  recipe.resolved = to_json(root);
  collect_origins(root, "", recipe.origins);
  warn_about_unknown_keys(root, recipe.warnings);
  collect_leftovers(root, "", recipe.warnings);
}

Recipe load_recipe(const fs::path& file, const std::vector<std::string>& overrides, ParentCache* parents) {
  return load_recipe_text(file, read_text(file), overrides, parents);
}

Recipe load_recipe_text(const fs::path& file, std::string text, const std::vector<std::string>& overrides, ParentCache* parents) {
  Recipe recipe;
  recipe.file = file;
  recipe.text = std::move(text);
  recipe.overrides = overrides;
  complete(recipe, load_tree(file, recipe.text, parents));
  return recipe;
}

}  // namespace ringwright::recipe
