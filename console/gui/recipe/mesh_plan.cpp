#include "console/gui/recipe/mesh_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "shared/recipe/loader.h"
#include "shared/recipe/parallelism.h"

namespace ringwright::gui {
namespace {

constexpr size_t kSuggestionsMax = 3;
constexpr size_t kCandidatesMax = 64;
constexpr const char* kContextKey = "policy.dtensor_cfg.context_parallel_size";
constexpr const char* kTensorKey = "policy.dtensor_cfg.tensor_parallel_size";
constexpr const char* kExpertKey = "policy.dtensor_cfg.expert_parallel_size";
constexpr const char* kNodeRanksKey = "cluster.gpus_per_node";

int size_of(const std::optional<int>& size) { return std::max(1, size.value_or(1)); }

// What the model's heads and layers leave of the values.
void keep_to_model(const CheckedRecipe& checked, MeshDimension& dimension) {
  const auto& model = checked.examination.model;
  if (!model) return;
  const int64_t heads = model->num_attention_heads, kv_heads = model->num_key_value_heads;
  if (dimension.axis == "tp") {
    std::erase_if(dimension.valid, [&](int value) { return heads % value != 0 || kv_heads % value != 0; });
    dimension.note = fmt::format("{} heads, {} kv", heads, kv_heads);
  }
  if (dimension.axis == "ep") {
    std::erase_if(dimension.valid, [](int value) { return value != 1; });
    dimension.note = "dense model";
  }
}

MeshDimension dimension_of(const std::string& axis, const std::string& key, int value, int world, const mesh::ParallelismSizes& sizes) {
  MeshDimension dimension{axis, key, value, {}, ""};
  dimension.valid = mesh::valid_values(axis, world, sizes);
  std::sort(dimension.valid.begin(), dimension.valid.end());
  return dimension;
}

}  // namespace

bool MeshDimension::is_valid() const { return std::binary_search(valid.begin(), valid.end(), value); }

int MeshDimension::next(int by) const {
  if (by > 0) {
    const auto above = std::upper_bound(valid.begin(), valid.end(), value);
    return above == valid.end() ? value : *above;
  }
  const auto below = std::lower_bound(valid.begin(), valid.end(), value);
  return below == valid.begin() ? value : *(below - 1);
}

int MeshPlan::value(std::string_view axis) const {
  for (const MeshDimension& dimension : dimensions) {
    if (dimension.axis == axis) return dimension.value;
  }
  return 1;
}

MeshPlan plan_mesh(const CheckedRecipe& checked) {
  const nlohmann::json resolved = checked.recipe->resolved;
  const recipe::Typed typed(resolved);
  MeshPlan plan;
  plan.nodes = static_cast<int>(typed.integer("cluster.num_nodes", 1, 1, recipe::kRanksMax));
  plan.ranks_per_node = recipe::world_size(typed) / plan.nodes;
  const int world = plan.world();
  mesh::ParallelismSizes sizes;
  const auto read = [&](const char* key) {
    return static_cast<int>(std::max<int64_t>(1, typed.integer(key, 1, -recipe::kRanksMax, recipe::kRanksMax)));
  };
  sizes.cp = read(kContextKey), sizes.tp = read(kTensorKey), sizes.ep = read(kExpertKey);
  const int held = size_of(sizes.cp) * size_of(sizes.tp);
  const MeshDimension data{
      "dp", "", std::max(1, world / std::max(1, held)), {std::max(1, world / std::max(1, held))}, fmt::format("inferred: {} / (cp x tp)", world)};
  plan.dimensions = {MeshDimension{"pp", "", 1, {1}, "no pipeline in this backend"}, data, dimension_of("cp", kContextKey, sizes.cp, world, sizes),
                     dimension_of("tp", kTensorKey, sizes.tp, world, sizes), dimension_of("ep", kExpertKey, sizes.ep, world, sizes)};
  for (MeshDimension& dimension : plan.dimensions) keep_to_model(checked, dimension);
  try {
    plan.mesh = mesh::Mesh::build(world, sizes);
  } catch (const Error& error) {
    plan.fault = error.parts();
  }
  return plan;
}

std::vector<support_matrix::Change> mesh_changes(const MeshPlan& plan, const MeshDimension& dimension, int value, bool hold_data) {
  std::vector<support_matrix::Change> changes = {{dimension.key, std::to_string(value)}};
  if (!hold_data || dimension.axis == "ep") return changes;
  const int64_t other = dimension.axis == "cp" ? plan.value("tp") : plan.value("cp");
  const int64_t world = int64_t{plan.value("dp")} * other * value;
  if (world % plan.nodes == 0) changes.push_back({kNodeRanksKey, std::to_string(world / plan.nodes)});
  return changes;
}

std::vector<MeshSuggestion> suggest_meshes(const CheckQuestion& question, const MeshPlan& plan) {
  std::vector<MeshSuggestion> found;
  support_matrix::CheckOptions options = check_options(question.model_folder);
  recipe::ParentCache parents;
  size_t looked_at = 0;
  for (int cp = 1; cp <= plan.world(); ++cp) {
    for (int tp = 1; cp * tp <= plan.world(); ++tp) {
      if (plan.world() % (cp * tp) != 0 || ++looked_at > kCandidatesMax) continue;
      try {
        const auto sizes = {fmt::format("++{}={}", kContextKey, cp), fmt::format("++{}={}", kTensorKey, tp)};
        const recipe::Recipe recipe = recipe::load_recipe_text(question.file, question.text, sizes, &parents);
        support_matrix::ask_machine(recipe, options);  // once for all meshes
        const support_matrix::Examination examination = support_matrix::examine(recipe, options);
        if (support_matrix::refused(examination.findings)) continue;
        const auto price = price_of(examination);
        if (price) found.push_back({cp, tp, *price});
      } catch (const Error&) {
        continue;  // no mesh of this recipe
      }
    }
  }
  const auto order = [](const MeshSuggestion& each) {
    return std::tuple(each.price.memory_bytes.value_or(each.price.tokens_per_rank), each.price.slowest_percent, each.cp);
  };
  std::sort(found.begin(), found.end(), [&](const MeshSuggestion& a, const MeshSuggestion& b) { return order(a) < order(b); });
  if (found.size() > kSuggestionsMax) found.resize(kSuggestionsMax);
  return found;
}

}  // namespace ringwright::gui
