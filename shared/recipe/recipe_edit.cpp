// Edits of a recipe that may have parents: what to write into this file so that the whole loads as asked.
#include <algorithm>
#include <optional>
#include <system_error>

#include "shared/base/file_lock.h"
#include "shared/base/files.h"
#include "shared/base/text.h"
#include "shared/recipe/failure.h"
#include "shared/recipe/interpolation.h"
#include "shared/recipe/key_table.h"
#include "shared/recipe/loader.h"
#include "shared/recipe/override_parser.h"
#include "shared/recipe/reader.h"
#include "shared/recipe/text_edit.h"
#include "shared/recipe/tree_path.h"
#include "shared/recipe/yaml_text.h"

namespace ringwright::recipe {
namespace {

namespace fs = std::filesystem;

Path split_dots(const std::string& key) {
  Path path;
  for (size_t start = 0; start <= key.size();) {
    const size_t dot = std::min(key.find('.', start), key.size());
    path.push_back(key.substr(start, dot - start));
    start = dot + 1;
  }
  return path;
}

// An element of a list that only a parent has: the whole list is written into this file, since a child's list replaces the parent's.
TextEdit for_own_text(const TextEdit& edit, const Node& own, const Node& merged) {
  for (size_t n = 1; n < edit.path.size(); ++n) {
    const Node* list = find_path(merged, edit.path, n);
    if (!list || list->kind != Kind::list) continue;
    const Node* here = find_path(own, edit.path, n);
    if (here && here->kind == Kind::list) return edit;
    Node copy = *list;
    const Path inside(edit.path.begin() + static_cast<long>(n), edit.path.end());
    Node* element = const_cast<Node*>(find_path(copy, inside));
    Node* holder = const_cast<Node*>(find_path(copy, inside, inside.size() - 1));
    if (!holder || (holder->kind == Kind::list && !element))
      fail("RW-RECIPE-040", "'" + edit.key + "' names no element of that list", list->origin, std::to_string(list->items.size()) + " elements", "");
    if (edit.action == TextEdit::Action::set && element)
      *element = edit.value;
    else if (edit.action == TextEdit::Action::set)
      holder->entries.emplace_back(make_text(inside.back()), edit.value);
    else if (holder->kind == Kind::list && element)
      holder->items.erase(holder->items.begin() + (element - holder->items.data()));
    else if (!holder->erase(inside.back()))
      return edit;
    TextEdit whole = make_set(join_path(edit.path, n), std::move(copy));
    return whole;
  }
  return edit;
}

void refuse_unknown(const TextEdit& edit, const Node& merged) {
  if (edit.may_be_new || find_path(merged, edit.path)) return;
  const std::optional<UnknownKey> unknown = find_unknown(edit.path);
  if (!unknown || find_path(merged, edit.path, unknown->segment + 1)) return;
  fail("RW-RECIPE-013", "'" + join_path(edit.path, unknown->segment + 1) + "' is no key of this recipe, and none that NeMo RL knows", {edit.key},
       unknown->nearest.empty() ? "a known key" : "did you mean '" + unknown->nearest + "'?",
       "correct the key, or put a + before it to add it anyway");
}

void refuse_defaults(const TextEdit& edit) {
  if (edit.path.front() == "defaults")
    fail("RW-RECIPE-040", "'defaults' decides what the other keys are", {edit.key}, "a key that is a value", "change it by hand");
}

class RecipeEditor {
 public:
  RecipeEditor(fs::path file, std::string text) : file_(std::move(file)), text_(std::move(text)), merged_(load_tree(file_, text_, &parents_)) {}

  const std::string& text() const { return text_; }

  void make(const TextEdit& asked) {
    refuse_defaults(asked);
    const Node* value = find_path(merged_, asked.path);
    const bool set = asked.action == TextEdit::Action::set;
    if (set && value && identical(*value, asked.value)) return;
    if (set) refuse_unknown(asked, merged_);
    const TextEdit edit = for_own_text(asked, parse_yaml(text_, file_.string()), merged_);
    if (edit.action == TextEdit::Action::unset) refuse_inherited(edit, value);
    std::string changed = edit_text(text_, file_.string(), edit);
    Node after = load_tree(file_, changed, &parents_);
    check(asked, after, value ? value->origin : Origin{file_.string()});
    text_ = std::move(changed);
    merged_ = std::move(after);
  }

  // So that the text names the same parents from another folder.
  void move_to(const fs::path& output) {
    const fs::path from = fs::absolute(file_).parent_path(), to = fs::absolute(output).parent_path();
    if (fs::weakly_canonical(from) == fs::weakly_canonical(to)) return;
    const Node own = parse_yaml(text_, file_.string());
    const Node* defaults = own.find("defaults");
    if (!defaults) return;
    if (defaults->kind == Kind::text) rename_parent("defaults", *defaults, from, to);
    for (size_t i = 0; i < defaults->items.size(); ++i) rename_parent("defaults." + std::to_string(i), defaults->items[i], from, to);
    if (!identical(load_tree(output, text_), merged_))
      fail("RW-RECIPE-040", "the recipe would not load there as it does here", {output.string()}, "the same parents",
           "save it beside " + file_.string());
  }

 private:
  void refuse_inherited(const TextEdit& edit, const Node* value) const {
    if (!value || find_path(parse_yaml(text_, file_.string()), edit.path)) return;
    fail("RW-RECIPE-041", "'" + edit.key + "' is not written in " + file_.filename().string() + "; it comes from a parent", value->origin,
         "a key that this file sets", "set it to another value, or to null; a parent is not changed");
  }

  void check(const TextEdit& edit, const Node& after, const Origin& origin) const {
    const std::optional<std::string> other = differs_beside(merged_, after, edit.path);
    if (other)
      fail("RW-RECIPE-040", "'" + edit.key + "' cannot be changed in this file alone: '" + *other + "' would change with it", origin,
           "a key whose change is no other key's", "write that section out in this file");
    const Node* now = find_path(after, edit.path);
    if (edit.action == TextEdit::Action::unset || edit.value.kind == Kind::map) return;
    if (!now || !identical(*now, edit.value))
      fail("RW-RECIPE-040", "'" + edit.key + "' would not have that value: a parent's stays", origin, "a value that counts in a child",
           "??? in a child leaves the parent's value as it is");
  }

  void rename_parent(const std::string& key, const Node& parent, const fs::path& from, const fs::path& to) {
    if (parent.kind != Kind::text || fs::path(parent.text).is_absolute()) return;
    if (has_interpolation(parent.text))
      fail("RW-RECIPE-040", "the parent " + parent.text + " is computed, and cannot be named from another folder", parent.origin, "a path",
           "save the recipe beside " + file_.string());
    const fs::path moved = (from / parent.text).lexically_normal().lexically_relative(fs::weakly_canonical(to));
    text_ = edit_text(text_, file_.string(), make_set(key, make_text(moved.generic_string())));
  }

  fs::path file_;
  std::string text_;
  ParentCache parents_;
  Node merged_;
};

}  // namespace

TextEdit parse_set(const std::string& text) {
  const Origin origin{kCommandLine, 1, 1};
  Override change = parse_override(text, origin);
  if (change.action == Override::Action::remove)
    fail("RW-RECIPE-012", "'" + text + "' removes a key", {kCommandLine}, "key=value", "use ringwright recipe unset");
  TextEdit edit;
  edit.key = change.key;
  edit.path = std::move(change.path);
  edit.value = std::move(*change.value);
  edit.written = text.substr(text.find('=') + 1);
  edit.may_be_new = change.action != Override::Action::change;
  return edit;
}

TextEdit make_set(const std::string& key, Node value) {
  TextEdit edit;
  edit.key = key;
  edit.path = split_dots(key);
  edit.value = std::move(value);
  return edit;
}

TextEdit make_unset(const std::string& key) {
  TextEdit edit = make_set(key, make_null());
  edit.action = TextEdit::Action::unset;
  return edit;
}

EditedRecipe edit_recipe(const fs::path& file, const std::vector<TextEdit>& edits, const fs::path& output) {
  EditedRecipe edited{output.empty() ? file : output, read_text(file), "", output.empty()};
  RecipeEditor editor(file, edited.before);
  for (const TextEdit& edit : edits) editor.make(edit);
  if (!output.empty()) editor.move_to(output);
  edited.after = editor.text();
  return edited;
}

std::string edit_recipe_text(const fs::path& file, std::string text, const std::vector<TextEdit>& edits) {
  RecipeEditor editor(file, std::move(text));
  for (const TextEdit& edit : edits) editor.make(edit);
  return editor.text();
}

void save(const EditedRecipe& edited) {
  try {
    std::optional<files::Lock> lock;  // so that of two edits at once the second sees what the first has written
    if (edited.in_place) lock.emplace(edited.file);
    if (edited.in_place && read_text(edited.file) != edited.before)
      fail("RW-RECIPE-042", "the recipe was changed by somebody else meanwhile", {edited.file.string()}, "the text that was read",
           "ask for the change again");
    files::replace(edited.file, edited.after);
  } catch (const std::system_error& error) {
    throw Error({"RW-RECIPE-042", std::string("the recipe cannot be written: ") + error.code().message(), edited.file.string(),
                 "a file that you may write", "choose another place with -o", ExitCode::usage});
  }
}

}  // namespace ringwright::recipe
