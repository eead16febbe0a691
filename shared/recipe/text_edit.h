// Changes of a recipe in its own text: a key is set or removed where it stands, and every other byte stays, comments, order, quotes and anchors among
// them. What a parent file says is overridden in the child; a parent is never written.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "shared/recipe/node.h"

namespace ringwright::recipe {

struct TextEdit {
  enum class Action { set, unset };
  Action action = Action::set;
  std::string key;                // dotted: policy.dtensor_cfg.enabled, data.train.0.data_path
  std::vector<std::string> path;  // its segments
  Node value;                     // of `set`
  std::string written;            // how somebody wrote the value; kept where a recipe reads it as the same value
  bool may_be_new = false;        // also a key that neither the recipe nor NeMo RL knows
};

// "a.b=c", "+a.b=c" or "++a.b=c" in the syntax of overrides. Throws Error RW-RECIPE-012.
TextEdit parse_set(const std::string& text);
TextEdit make_set(const std::string& key, Node value);
TextEdit make_unset(const std::string& key);

// One file alone, parents not looked at. Throws Error RW-RECIPE-040: the text cannot be changed there without changing another value (an alias, a
// merge, a value that is no map, ...); RW-RECIPE-041: the key to remove is not written in this text; and parse_yaml's.
std::string edit_text(std::string_view text, const std::string& file, const TextEdit& edit);

struct EditedRecipe {
  std::filesystem::path file;  // where `after` belongs
  std::string before, after;   // the whole texts; equal when the recipe says so already
  bool in_place = true;        // `before` is what `file` held
};

// Reads the recipe and makes the edits one after the other, in its text alone. Each is held against what loading with all parents gives before and
// after: nothing but the asked key may have another value (interpolations not yet looked at). `output`: where the text will be saved; its `defaults`
// are made to name the same parents from there. Throws what edit_text and load_recipe throw, and RW-RECIPE-013: neither the recipe nor NeMo RL knows
// the key. Writes nothing.
EditedRecipe edit_recipe(const std::filesystem::path& file, const std::vector<TextEdit>& edits, const std::filesystem::path& output = {});
// The same for a text that stands, or will stand, in `file`, which is not read; its parents are. The changed text.
std::string edit_recipe_text(const std::filesystem::path& file, std::string text, const std::vector<TextEdit>& edits);
// As one step: a reader sees the old text or the new one. The mode stays. Throws Error RW-RECIPE-042: not writable, or changed by somebody else
// since.
void save(const EditedRecipe& edited);

}  // namespace ringwright::recipe
