#include "console/cli/run_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "console/cli/recipe_arguments.h"
#include "shared/base/error.h"
#include "shared/base/text.h"
#include "shared/history/records.h"
#include "shared/mesh/mesh.h"
#include "shared/recipe/node.h"

namespace ringwright::cli {
namespace {

constexpr size_t kNameBytesMax = 200;
constexpr const char* kProbeNames[] = {"", "chosen", "all"};  // by Probe: what the worker's specification says

nlohmann::json path_of(const recipe::Recipe& recipe, const std::string& name, recipe::NameKind kind) {
  if (name.empty()) return nullptr;
  return std::filesystem::absolute(recipe::resolve_name(recipe, name, kind)).string();
}

nlohmann::json mesh_of(const recipe::SftConfig& config) {
  mesh::ParallelismSizes sizes;
  sizes.dp_replicate = config.dp_replicate;
  sizes.pp = config.pp, sizes.cp = config.cp, sizes.tp = config.tp;
  const mesh::Mesh mesh = mesh::Mesh::build(config.world_size, sizes);
  nlohmann::json axes;
  for (const std::string_view axis : mesh::kRootAxes) axes[std::string(axis)] = mesh.axis_size(axis);
  return axes;
}

void check_name(const std::string& name) {
  if (history::is_reserved_name(name)) throw history::reserved_name(name);
  const bool plain = std::none_of(name.begin(), name.end(), [](unsigned char byte) { return byte < 0x20 || byte == 0x7f; });
  if (plain && name.size() <= kNameBytesMax && text::is_utf8(name)) return;
  throw Error({"RW-CLI-025", "the run's name cannot be shown in one line", "--name, ringwright.name or the recipe's file name",
               "text without control characters, of at most " + std::to_string(kNameBytesMax) + " bytes", "give another: --name NAME"});
}

void print_warnings(const recipe::Recipe& recipe) {
  for (const recipe::Warning& warning : recipe.warnings)
    fmt::print(stderr, "warning {}: {}: {}\n  at: {}\n", warning.code, warning.key, warning.message, recipe::describe(warning.origin));
}

}  // namespace

recipe::Recipe load_one_recipe(const std::vector<std::string>& words) {
  const RecipeArguments arguments = split_recipe_arguments(words);
  if (arguments.files.size() > 1)
    throw Error({"RW-CLI-024", "a run has one recipe, here are " + std::to_string(arguments.files.size()),
                 fmt::format("{}", fmt::join(arguments.files, ", ")), "one recipe; overrides are written a.b=c",
                 "start them one after the other with --detach"});
  recipe::Recipe recipe = recipe::load_recipe(arguments.files.front(), arguments.overrides);
  print_warnings(recipe);
  return recipe;
}

void admit(const recipe::Recipe& recipe, bool json, const support_matrix::CheckOptions& options) {
  const std::vector<support_matrix::Finding> findings = support_matrix::check(recipe, options);
  if (!support_matrix::refused(findings)) return;
  ErrorParts parts = support_matrix::refusal(findings).parts();
  size_t stopping = 0;
  for (const support_matrix::Finding& finding : findings) {
    if (!support_matrix::stops(finding.verdict(support_matrix::Target::ringwright))) continue;
    if (++stopping > 1 && !json)
      fmt::print(stderr, "refused {} {}: {}\n  at: {}\n  to fix: {}\n", finding.code, finding.scope, finding.reason, finding.key, finding.fix);
  }
  throw Error(parts);
}

Launch make_launch(const recipe::Recipe& recipe, const LaunchOptions& options) {
  const recipe::SftConfig config = recipe::sft_config(recipe);
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  Launch launch;
  const bool probes = options.probe != Probe::none;
  launch.name = !options.name.empty() ? options.name : config.name + (probes ? "-probe" : "");
  check_name(launch.name);
  launch.step_limit = probes ? 0 : config.max_num_steps;
  launch.request = {{"recipe", recipe.resolved},
                    {"recipe_text", recipe.text},
                    {"recipe_path", std::filesystem::absolute(recipe.file).string()},
                    {"overrides", recipe.overrides},
                    {"name", launch.name},
                    {"algorithm", probes ? "probe" : "sft"},
                    {"probe", kProbeNames[static_cast<size_t>(options.probe)]},
                    {"world_size", config.world_size},
                    {"mesh", mesh_of(config)},
                    {"threads_per_rank", config.threads_per_rank > 0 ? config.threads_per_rank : std::max(1, cores / config.world_size)},
                    {"paths",
                     {{"model", path_of(recipe, config.model_name, recipe::NameKind::model)},
                      {"tokenizer", path_of(recipe, config.tokenizer_name, recipe::NameKind::model)},
                      {"train", path_of(recipe, config.train.path, recipe::NameKind::data)},
                      {"validation", path_of(recipe, config.validation.path, recipe::NameKind::data)}}}};
  if (options.port != 0) launch.request["port"] = options.port;
  if (!options.relaunch_of.empty()) launch.request.update({{"relaunch_of", options.relaunch_of}, {"who", options.who}});
  return launch;
}

}  // namespace ringwright::cli
