#include "console/cli/run_launch.h"

#include <algorithm>
#include <filesystem>
#include <thread>

#include "shared/base/error.h"
#include "shared/base/text.h"
#include "shared/mesh/mesh.h"

namespace ringwright::cli {
namespace {

constexpr size_t kNameBytesMax = 200;

nlohmann::json path_of(const recipe::Recipe& recipe, const std::string& name) {
  if (name.empty()) return nullptr;
  return std::filesystem::absolute(recipe::resolve_name(recipe, name)).string();
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
  const bool plain = std::none_of(name.begin(), name.end(), [](unsigned char byte) { return byte < 0x20 || byte == 0x7f; });
  if (plain && name.size() <= kNameBytesMax && text::valid_utf8(name) == name) return;
  throw Error({"RW-CLI-025", "the run's name cannot be shown in one line", "--name, ringwright.name or the recipe's file name",
               "text without control characters, of at most " + std::to_string(kNameBytesMax) + " bytes", "give another: --name NAME"});
}

}  // namespace

Launch make_launch(const recipe::Recipe& recipe, const LaunchOptions& options) {
  const recipe::SftConfig config = recipe::sft_config(recipe);
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  Launch launch;
  launch.name = options.name.empty() ? config.name : options.name;
  check_name(launch.name);
  launch.step_limit = config.max_num_steps;
  launch.request = {{"recipe", recipe.resolved},
                    {"recipe_text", recipe.text},
                    {"recipe_path", std::filesystem::absolute(recipe.file).string()},
                    {"overrides", recipe.overrides},
                    {"name", launch.name},
                    {"algorithm", "sft"},
                    {"world_size", config.world_size},
                    {"mesh", mesh_of(config)},
                    {"threads_per_rank", config.threads_per_rank > 0 ? config.threads_per_rank : std::max(1, cores / config.world_size)},
                    {"paths",
                     {{"model", path_of(recipe, config.model_name)},
                      {"tokenizer", path_of(recipe, config.tokenizer_name)},
                      {"train", path_of(recipe, config.train.path)},
                      {"validation", path_of(recipe, config.validation.path)}}}};
  if (options.port != 0) launch.request["port"] = options.port;
  return launch;
}

}  // namespace ringwright::cli
