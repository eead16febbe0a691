// ringwright check RECIPE.. [OVERRIDE..]: can these recipes run, and if not, why and what to do.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "console/cli/check_report.h"
#include "console/cli/failure.h"
#include "console/cli/recipe_arguments.h"
#include "console/cli/run_text.h"
#include "console/cli/verb.h"
#include "shared/base/line_diff.h"
#include "shared/recipe/loader.h"
#include "shared/recipe/reader.h"
#include "shared/support_matrix/support_matrix.h"

namespace ringwright::cli {
namespace {

struct Options {
  std::vector<std::string> words;
  std::string target = "ringwright", model, map, output;
  bool no_files = false, estimate = false, fix = false, diff = false;
};

support_matrix::CheckOptions check_options(const Options& options) {
  support_matrix::CheckOptions result;
  result.look_at_files = !options.no_files;
  result.model_folder = options.model;
  result.map_megatron = options.map == "megatron";
  return result;
}

void fix_report(const std::string& file, const std::vector<std::string>& overrides, const Options& options, support_matrix::CheckOptions& how,
                recipe::ParentCache& parents, CheckReport& report) {
  report.fix = support_matrix::fix_recipe(file, recipe::read_text(file), overrides, report.targets, how, parents);
  const recipe::EditedRecipe edited = recipe::edit_recipe(file, report.fix->edits, options.output);
  report.recipe = std::move(report.fix->recipe), report.examination = std::move(report.fix->examination);
  report.diff = text::unified_diff(edited.before, edited.after, file, edited.file.string());
  if (options.diff || (edited.before == edited.after && options.output.empty())) return;
  recipe::save(edited);
  report.written_to = edited.file.string();
}

CheckReport report_on(const std::string& file, const std::vector<std::string>& overrides, const Options& options, support_matrix::CheckOptions& how,
                      recipe::ParentCache& parents) {
  CheckReport report;
  report.targets = support_matrix::targets_from_name(options.target);
  if (options.fix) {
    fix_report(file, overrides, options, how, parents, report);
  } else {
    report.recipe = recipe::load_recipe(file, overrides, &parents);
    support_matrix::ask_machine(report.recipe, how);  // once for all recipes
    report.examination = support_matrix::examine(report.recipe, how);
  }
  report.wants_estimate = options.estimate;
  return report;
}

// Among several recipes, one that cannot be looked at keeps no other from being; alone, its error is the command's.
CheckReport report_or_error(const std::string& file, const RecipeArguments& arguments, const Options& options, support_matrix::CheckOptions& how,
                            recipe::ParentCache& parents) {
  try {
    return report_on(file, arguments.overrides, options, how, parents);
  } catch (...) {
    if (arguments.files.size() == 1) throw;
    CheckReport report;
    report.recipe.file = file;
    report.error = parts_of(std::current_exception());
    return report;
  }
}

// What stands in the way of a whole recipe comes before what a guard refuses.
ExitCode worse(ExitCode code, const CheckReport& report) {
  const bool is_error = report.error && report.error->exit_code != ExitCode::refused;
  if (code != ExitCode::good && code != ExitCode::refused) return code;
  if (is_error) return report.error->exit_code;
  return report.error || report.refused() ? ExitCode::refused : code;
}

int check(const Options& options, const Invocation& invocation) {
  support_matrix::targets_from_name(options.target);  // refused before a recipe is read
  const RecipeArguments arguments = split_recipe_arguments(options.words);
  if (!options.output.empty() && arguments.files.size() > 1)
    throw Error({"RW-CLI-049", "one file is named for several recipes", "-o " + options.output, "one recipe", "fix them one after the other",
                 ExitCode::usage});
  if (options.fix && !options.map.empty())
    throw Error({"RW-CLI-050", "--fix changes the recipe's own text, and --map " + options.map + " looks at settings that stand in none",
                 "--fix --map", "one of the two", "check with --map, write into the recipe what RW-GUARD-110 lists without it, then check with --fix",
                 ExitCode::usage});
  support_matrix::CheckOptions how = check_options(options);
  recipe::ParentCache parents;
  ExitCode code = ExitCode::good;
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (size_t i = 0; i < arguments.files.size(); ++i) {
    const CheckReport report = report_or_error(arguments.files[i], arguments, options, how, parents);
    code = worse(code, report);
    if (invocation.json) {
      all.push_back(to_json(report));
    } else {
      if (i > 0) fmt::print("\n");
      print_report(report);
    }
  }
  if (invocation.json) fmt::print("{}", dump_ordered_document(all));
  return static_cast<int>(code);
}

void build(Command& command, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  command.add_option("recipe", options->words, "recipes, and overrides for all of them: a.b=c, +a.b=c (new), ++a.b=c (either), ~a.b (remove)")
      .required();
  command.add_option("--target", options->target, "who shall run it: ringwright (this engine), automodel-0.4 or automodel-0.6 (NeMo RL), or all")
      .show_default();
  command.add_option("--model", options->model, "the model's folder, in place of what policy.model_name stands for").check(existing_folder());
  command.add_option("--map", options->map, "read another backend's settings as the DTensor backend's").check(one_of({"megatron"}));
  command.add_flag("--no-files", options->no_files, "look at the recipe only, not at the model's and the data's files");
  const Option fix = command.add_flag("--fix", options->fix, "make the safe changes in the recipe's own text, never in a parent; offer the others");
  command.add_flag("--diff", options->diff, "with --fix: print the changes, write nothing").needs(fix);
  command.add_option("-o,--output", options->output, "with --fix: write the changed recipe there").needs(fix);
  command.add_flag("--estimate", options->estimate, "print the memory of each rank and the size of a checkpoint");
  set_action(command, invocation, [options, &invocation] { return check(*options, invocation); });
}

const VerbEntry kEntry({Group::recipes, "check", "Say whether a recipe can run, and if not, why and what to do", build});

}  // namespace
}  // namespace ringwright::cli
