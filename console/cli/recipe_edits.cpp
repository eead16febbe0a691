// ringwright recipe set FILE a.b=c.. and recipe unset FILE a.b..: changes in the recipe's own text.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "console/cli/recipe_verbs.h"
#include "console/cli/run_text.h"
#include "shared/base/line_diff.h"
#include "shared/recipe/text_edit.h"

namespace ringwright::cli {
namespace {

struct Options {
  std::string recipe, output;
  std::vector<std::string> changes;
  bool diff = false;
};

void print(const Options& options, const recipe::EditedRecipe& edited, bool as_json) {
  const std::string diff = text::unified_diff(edited.before, edited.after, options.recipe, edited.file.string());
  if (as_json)
    fmt::print("{}",
               dump_ordered_document(nlohmann::ordered_json({{"recipe", options.recipe},
                                                             {"file", edited.file.string()},
                                                             {"changed", edited.before != edited.after},
                                                             {"written", !options.diff && (edited.before != edited.after || !options.output.empty())},
                                                             {"diff", diff}})));
  else if (edited.before == edited.after && !options.diff)
    fmt::print("{}: it says so already\n", options.recipe);
  else
    fmt::print("{}", diff);
}

int edit(const Options& options, const std::vector<recipe::TextEdit>& edits, const Invocation& invocation) {
  const recipe::EditedRecipe edited = recipe::edit_recipe(options.recipe, edits, options.output);
  if (!options.diff && (edited.before != edited.after || !options.output.empty())) recipe::save(edited);
  print(options, edited, invocation.json);
  return 0;
}

Command add_edit(Command& command, const char* name, const char* help, const char* changes, const std::shared_ptr<Options>& options) {
  Command leaf = add_subverb(command, name, help);
  leaf.add_option("recipe", options->recipe, "the recipe's file; its parents are never changed").required();
  leaf.add_option("changes", options->changes, changes).required();
  leaf.add_flag("--diff", options->diff, "print what would change, and write nothing");
  leaf.add_option("-o,--output", options->output, "write the changed recipe to this file instead");
  return leaf;
}

}  // namespace

void build_recipe_edits(Command& command, Invocation& invocation) {
  auto set_options = std::make_shared<Options>(), unset_options = std::make_shared<Options>();
  Command set = add_edit(command, "set", "Change keys in a recipe's text; comments, order, quotes and anchors stay",
                         "a.b=c in the syntax of overrides; +a.b=c for a key that neither the recipe nor NeMo RL knows", set_options);
  set_action(set, invocation, [set_options, &invocation] {
    std::vector<recipe::TextEdit> edits;
    for (const std::string& change : set_options->changes) edits.push_back(recipe::parse_set(change));
    return edit(*set_options, edits, invocation);
  });
  Command unset = add_edit(command, "unset", "Remove keys from a recipe's text; a parent's value shows through", "a.b", unset_options);
  set_action(unset, invocation, [unset_options, &invocation] {
    std::vector<recipe::TextEdit> edits;
    for (const std::string& key : unset_options->changes) edits.push_back(recipe::make_unset(key));
    return edit(*unset_options, edits, invocation);
  });
}

}  // namespace ringwright::cli
