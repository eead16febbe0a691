#include "console/gui/services/recipe_commands.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "console/gui/recipe/workbench.h"
#include "shared/base/host.h"
#include "shared/base/text.h"

namespace ringwright::gui {
namespace {

namespace fs = std::filesystem;
using Refusal = std::optional<std::string>;

Refusal needs_recipe(const Context& context) { return context.recipe.is_open() ? Refusal() : Refusal("no recipe is open"); }

// In another text field these keys are the field's own.
bool field_has_keys(const Context& context) { return ImGui::GetIO().WantTextInput && !context.recipe.editor_has_keys; }

void next_problem(Context& context) {
  const auto& rows = context.recipe.guards().rows;
  std::vector<const GuardRow*> problems;
  for (const GuardRow& row : rows) {
    if (row.own_line && row.state <= GuardState::padded) problems.push_back(&row);
  }
  if (problems.empty()) return;
  std::stable_sort(problems.begin(), problems.end(), [](const GuardRow* a, const GuardRow* b) { return a->origin.line < b->origin.line; });
  const auto current = std::find_if(problems.begin(), problems.end(), [&](const GuardRow* row) { return row->key == context.selection.recipe_key; });
  const bool wraps = current == problems.end() || current + 1 == problems.end();
  const GuardRow& next = wraps ? *problems.front() : **(current + 1);
  context.selection.recipe_key = next.key;
  context.recipe.jump_to(next, true);
  context.focus_view = "launch";
}

void reload(Context& context) {
  const RecipeDocument& document = context.recipe.document();
  if (!document.is_dirty()) {
    context.recipe.reload();
    return;
  }
  Confirmation question;
  question.title = "Read " + document.file().filename().string() + " again?";
  question.losses = {"Its edits since it was saved give way to what the file holds. Ctrl+Z brings them back."};
  question.verb = "Read it again";
  question.act = [](Context& target) { target.recipe.reload(); };
  context.confirmation = std::move(question);
}

void launch(Context& context) {
  if (context.recipe.document().is_dirty()) {
    context.recipe.save([&context] { context.recipe.launch(); });
  } else {
    context.recipe.launch();
  }
}

void add_edit_commands(CommandRegistry& registry) {
  const auto undo_refusal = [](const Context& context) -> Refusal {
    if (const Refusal none = needs_recipe(context)) return none;
    return context.recipe.document().position() == 0 ? Refusal("nothing was changed") : Refusal();
  };
  const auto redo_refusal = [](const Context& context) -> Refusal {
    if (const Refusal none = needs_recipe(context)) return none;
    const RecipeDocument& document = context.recipe.document();
    return document.position() == document.steps().size() ? Refusal("nothing was undone") : Refusal();
  };
  registry.add({"recipe.undo", "Undo the last edit of the recipe", "Recipe", ImGuiMod_Ctrl | ImGuiKey_Z, "Ctrl+Z", undo_refusal, nullptr,
                [](Context& context) {
                  if (!field_has_keys(context)) context.recipe.undo();
                }});
  registry.add(
      {"recipe.redo", "Redo the edit that was undone", "Recipe", ImGuiMod_Ctrl | ImGuiKey_Y, "Ctrl+Y", redo_refusal, nullptr, [](Context& context) {
         if (!field_has_keys(context)) context.recipe.redo();
       }});
  registry.add({"recipe.fix_all", "Make all safe changes that the guards offer", "Recipe", ImGuiMod_Shift | ImGuiKey_F, "Shift+F", needs_recipe,
                [](const Context& context) {
                  return fmt::format("ringwright check {} --target {} --fix", recipe_argument(context),
                                     support_matrix::kTargetNames[static_cast<size_t>(context.recipe.target())]);
                },
                [](Context& context) { context.recipe.fix_all(); }});
  registry.add({"recipe.next_problem", "Next problem in the recipe's text", "Recipe", ImGuiKey_F8, "F8", needs_recipe, nullptr, next_problem});
}

}  // namespace

std::string recipe_argument(const Context& context) {
  if (!context.recipe.is_open()) return "RECIPE";
  std::error_code failed;
  const fs::path here = fs::current_path(failed), file = context.recipe.document().file();
  const std::string below = file.lexically_relative(here).string();
  return text::shell_word(failed || below.empty() || below.starts_with("..") ? file.string() : below);
}

std::string recipe_set_line(const Context& context, const std::string& key, const std::string& value) {
  return fmt::format("ringwright recipe set {} {}", recipe_argument(context), text::shell_word("++" + key + "=" + value));
}

std::string recipe_set_line(const Context& context, const std::vector<support_matrix::Change>& changes) {
  std::string set, unset;
  for (const support_matrix::Change& change : changes)
    (change.removes ? unset : set) += " " + text::shell_word(change.removes ? change.key : "++" + support_matrix::as_override(change));
  std::string line;
  if (!set.empty()) line = "ringwright recipe set " + recipe_argument(context) + set;
  if (!unset.empty()) line += (line.empty() ? "" : " && ") + ("ringwright recipe unset " + recipe_argument(context) + unset);
  return line;
}

LaunchState launch_state(const Context& context) {
  const RecipeWorkbench& recipe = context.recipe;
  if (!recipe.is_open()) return {"Launch", "no recipe is open"};
  if (recipe.is_launching()) return {"Launching...", "it is being started"};
  if (!recipe.checked() || recipe.is_checking()) return {"Launch", "the guards are being asked"};
  if (recipe.checked()->fault) return {"Launch", "the recipe does not load: " + recipe.checked()->fault->what};
  if (recipe.checked()->check_fault) return {"Launch", "the guards could not be asked: " + recipe.checked()->check_fault->what};
  const int refused = recipe.guards(support_matrix::Target::ringwright).counts[static_cast<size_t>(GuardState::refused)];
  if (refused > 0) return {fmt::format("Refused by {} guard{}", refused, refused == 1 ? "" : "s"), "", true};
  const int ranks = recipe.checked()->ranks;
  LaunchState state{fmt::format("{} on {} rank{}", recipe.document().is_dirty() ? "Save and launch" : "Launch", ranks, ranks == 1 ? "" : "s"), ""};
  if (context.read_only) state.reason = "the console was started with --read-only";
  if (const std::string why = context.source.why_no_launch(); !why.empty()) state.reason = why;
  return state;
}

std::vector<fs::path> sample_folders() {
  std::vector<fs::path> folders;
  std::error_code ignored;
  const auto consider = [&](const fs::path& folder) {
    if (fs::is_directory(folder, ignored)) folders.push_back(folder.lexically_normal());
  };
  constexpr int kFoldersUp = 4;  // from bin/ of a build folder to the repository
  fs::path folder = host::program_folder();
  consider(folder / "../share/ringwright/recipes");
  for (int up = 0; up <= kFoldersUp && folder.has_relative_path(); ++up, folder = folder.parent_path()) consider(folder / "assets/recipes");
  return folders;
}

void add_recipe_commands(CommandRegistry& registry) {
  registry.add({"recipe.open", "Open a recipe", "Recipe", ImGuiMod_Ctrl | ImGuiKey_O, "Ctrl+O", nullptr, nullptr,
                [](Context& context) { context.open_recipe_wanted = true; }});
  registry.add({"recipe.save", "Save the recipe", "Recipe", ImGuiMod_Ctrl | ImGuiKey_S, "Ctrl+S",
                [](const Context& context) -> Refusal {
                  if (const Refusal none = needs_recipe(context)) return none;
                  return context.recipe.document().is_dirty() ? Refusal() : Refusal("there is nothing to save");
                },
                nullptr, [](Context& context) { context.recipe.save(); }});
  registry.add({"recipe.reload", "Read the recipe's file again", "Recipe", 0, "", needs_recipe, nullptr, reload});
  add_edit_commands(registry);
  registry.add({"recipe.launch", "Launch the recipe", "Recipe", ImGuiMod_Ctrl | ImGuiKey_Enter, "Ctrl+Enter",
                [](const Context& context) -> Refusal {
                  const LaunchState state = launch_state(context);
                  if (!state.reason.empty()) return state.reason;
                  return state.refused ? Refusal(state.label) : Refusal();
                },
                [](const Context& context) { return "ringwright run " + recipe_argument(context); }, launch});
}

}  // namespace ringwright::gui
