#include "shared/recipe/known_keys.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "shared/base/text.h"
#include "shared/recipe/known_keys_table.h"

namespace ringwright::recipe {
namespace {

using Names = std::set<std::string, std::less<>>;

// Dotted key of a map -> the names in it.
class KnownKeys {
 public:
  KnownKeys() {
    for (const KnownSection& section : kKnownSections) add_section(section.section, section.keys);
    for (const LikeSection& like : kLikeSections)
      for (const KnownSection& section : kKnownSections)
        if (section.section == like.like) add_section(like.section, section.keys);
    for (const std::string_view map : kOpenMaps) add_open(map);
  }

  // nullptr: any name is fine there.
  const Names* names_in(const std::string& map) const {
    if (open_.contains(map)) return nullptr;
    const auto found = names_.find(map);
    return found == names_.end() ? nullptr : &found->second;
  }

 private:
  void add_open(std::string_view map) {
    add(map);
    open_.emplace(map);
    for (const LikeSection& like : kLikeSections)
      if (map.starts_with(std::string(like.like) + ".")) open_.insert(std::string(like.section) + std::string(map.substr(like.like.size())));
  }

  void add_section(std::string_view section, std::string_view keys) {
    while (!keys.empty()) {
      const size_t end = std::min(keys.find(' '), keys.size());
      std::string path(section);
      if (!path.empty()) path += '.';
      path += keys.substr(0, end);
      add(path);
      keys.remove_prefix(std::min(end + 1, keys.size()));
    }
  }

  void add(std::string_view path) {
    for (size_t start = 0; start <= path.size();) {
      const size_t dot = std::min(path.find('.', start), path.size());
      names_[std::string(path.substr(0, start == 0 ? 0 : start - 1))].emplace(path.substr(start, dot - start));
      start = dot + 1;
    }
  }

  std::map<std::string, Names> names_;
  Names open_;
};

const KnownKeys& known_keys() {
  static const KnownKeys keys;
  return keys;
}

// Interpolations may want sections of the user's own; such a section's name warns, what is in it does not.
void visit(const Node& node, const std::string& schema_path, const std::string& path, std::vector<Warning>& warnings) {
  for (size_t i = 0; i < node.items.size(); ++i) visit(node.items[i], schema_path, path + "." + std::to_string(i), warnings);
  if (node.kind != Kind::map) return;
  const Names* names = known_keys().names_in(schema_path);
  if (!names) return;
  const std::string schema_prefix = schema_path.empty() ? "" : schema_path + ".", prefix = path.empty() ? "" : path + ".";
  for (const auto& [key, value] : node.entries) {
    const std::string name = python_text(key);
    if (names->contains(name)) {
      visit(value, schema_prefix + name, prefix + name, warnings);
    } else if (name != "_override_") {
      const std::string near = text::nearest(name, {names->begin(), names->end()});
      warnings.push_back({"RW-RECIPE-101", prefix + name,
                          near.empty() ? "not a known key; it is kept" : "not a known key; it is kept. Did you mean '" + near + "'?", value.origin});
    }
  }
}

}  // namespace

void warn_about_unknown_keys(const Node& root, std::vector<Warning>& warnings) { visit(root, "", "", warnings); }

}  // namespace ringwright::recipe
