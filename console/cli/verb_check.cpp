// ringwright check RECIPE.. [OVERRIDE..]: can these recipes run, and if not, why and what to do.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "console/cli/check_sharding.h"
#include "console/cli/recipe_arguments.h"
#include "console/cli/table.h"
#include "console/cli/terminal.h"
#include "console/cli/verb.h"
#include "shared/recipe/node.h"
#include "shared/support_matrix/support_matrix.h"

namespace ringwright::cli {
namespace {

using support_matrix::Finding;
using support_matrix::Target;
using support_matrix::Verdict;

struct Options {
  std::vector<std::string> words;
  std::string target = "ringwright";
  bool no_files = false;
};

Style style_of(Verdict verdict) {
  if (support_matrix::stops(verdict)) return Style::bad;
  if (verdict == Verdict::supported) return Style::good;
  return verdict == Verdict::not_applicable ? Style::dim : Style::warning;
}

void print_findings(const std::vector<Finding>& findings) {
  Table table({{"code"}, {"what"}, {"automodel-0.4"}, {"automodel-0.6"}, {"ringwright"}, {"reason", Align::left, true}});
  for (const Finding& finding : findings) {
    std::vector<std::string> cells = {finding.code, finding.scope};
    for (const Verdict verdict : finding.verdicts) cells.push_back(styled(support_matrix::to_string(verdict), style_of(verdict)));
    cells.push_back(finding.reason);
    table.add_row(std::move(cells));
  }
  table.print();
}

std::string place(const Finding& finding) {
  if (finding.origin.line <= 0) return finding.key;
  return fmt::format("{} ({})", finding.key, recipe::describe(finding.origin));
}

void print_stops(const std::vector<Finding>& findings, Target target) {
  for (const Finding& finding : findings) {
    if (!support_matrix::stops(finding.verdict(target))) continue;
    fmt::print("\n{} {}: {}\n", styled(finding.code, Style::bad), finding.scope, finding.reason);
    if (!finding.key.empty()) fmt::print("  at: {}\n", place(finding));
    if (!finding.fix.empty()) fmt::print("  to fix: {}\n", finding.fix);
  }
}

void print_warnings(const recipe::Recipe& recipe) {
  for (const recipe::Warning& warning : recipe.warnings)
    fmt::print("\n{} {}: {}\n  at: {}\n", styled(warning.code, Style::warning), warning.key, warning.message, recipe::describe(warning.origin));
}

nlohmann::ordered_json as_json(const recipe::Recipe& recipe, const std::vector<Finding>& findings, Target target) {
  nlohmann::ordered_json json = {{"recipe", recipe.file.string()},
                                 {"overrides", recipe.overrides},
                                 {"target", support_matrix::kTargetNames[static_cast<size_t>(target)]},
                                 {"runs", !support_matrix::refused(findings, target)}};
  json["findings"] = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) json["findings"].push_back(support_matrix::to_json(finding));
  json["sharding"] = sharding_json(recipe);
  json["warnings"] = nlohmann::ordered_json::array();
  for (const recipe::Warning& warning : recipe.warnings)
    json["warnings"].push_back({{"code", warning.code},
                                {"key", warning.key},
                                {"message", warning.message},
                                {"origin", {{"file", warning.origin.file}, {"line", warning.origin.line}, {"column", warning.origin.column}}}});
  return json;
}

// A row that was skipped is not passed: what the recipe names is not here to be looked at.
std::string verdict_text(const std::vector<Finding>& findings, Target target) {
  if (support_matrix::refused(findings, target)) return styled("refused", Style::bad);
  std::vector<std::string> skipped;
  for (const Finding& finding : findings)
    if (finding.verdict(target) == Verdict::skipped) skipped.push_back(finding.scope);
  if (skipped.empty()) return styled("can run", Style::good);
  return styled(fmt::format("can run, unless what was skipped stands in the way: {}", fmt::join(skipped, ", ")), Style::warning);
}

void print_text(const recipe::Recipe& recipe, const std::vector<Finding>& findings, Target target) {
  fmt::print("{}\n", styled(recipe.file.string(), Style::bold));
  print_findings(findings);
  print_stops(findings, target);
  print_warnings(recipe);
  print_sharding(recipe);
  fmt::print("\n{}: {}\n", support_matrix::kTargetNames[static_cast<size_t>(target)], verdict_text(findings, target));
}

int check(const Options& options, const Invocation& invocation) {
  const Target target = support_matrix::target_from_name(options.target);
  const RecipeArguments arguments = split_recipe_arguments(options.words);
  bool refused = false;
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (size_t i = 0; i < arguments.files.size(); ++i) {
    const recipe::Recipe recipe = recipe::load_recipe(arguments.files[i], arguments.overrides);
    const std::vector<Finding> findings = support_matrix::check(recipe, {!options.no_files});
    refused = refused || support_matrix::refused(findings, target);
    if (invocation.json) {
      all.push_back(as_json(recipe, findings, target));
    } else {
      if (i > 0) fmt::print("\n");
      print_text(recipe, findings, target);
    }
  }
  if (invocation.json) fmt::print("{}\n", all.dump(2));
  return static_cast<int>(refused ? ExitCode::refused : ExitCode::good);
}

void build(CLI::App& command, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  command.add_option("recipe", options->words, "recipes, and overrides for all of them: a.b=c, +a.b=c (new), ++a.b=c (either), ~a.b (remove)")
      ->required();
  command.add_option("--target", options->target, "who shall run it: ringwright (this engine), automodel-0.4 or automodel-0.6 (NeMo RL)")
      ->capture_default_str();
  command.add_flag("--no-files", options->no_files, "look at the recipe only, not at the model's and the data's files");
  set_action(command, invocation, [options, &invocation] { return check(*options, invocation); });
}

const VerbEntry kEntry({Group::recipes, "check", "Say whether a recipe can run, and if not, why and what to do", build});

}  // namespace
}  // namespace ringwright::cli
