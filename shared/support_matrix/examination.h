// All that is said of one recipe before it runs: what the guards find, and the step that it asks for. One reading of the recipe and of each file
// that it names.
#pragma once

#include <optional>
#include <vector>

#include "shared/estimate/estimate.h"
#include "shared/model/config.h"
#include "shared/shard_plan/shard_plan.h"
#include "shared/support_matrix/recipe_flow.h"
#include "shared/support_matrix/support_matrix.h"

namespace ringwright::support_matrix {

struct Examination {
  std::vector<Finding> findings;            // those of check()
  std::optional<model::ModelConfig> model;  // absent: its config.json is not looked at, not at hand, or of a family that is not trained here
  // How a supervised run would spread its batch over context ranks, and why; absent at one rank, without the model's config.json, and where a row of
  // the matrix says why it cannot.
  std::optional<shard_plan::ShardPlan> plan;
  std::optional<RecipeFlow> flow;
  // Memory of each of this engine's ranks and of a checkpoint; absent without a model.
  std::optional<estimate::Estimate> estimate;
  std::optional<ErrorParts> step_fault;  // why there is no flow, and no estimate: those of recipe_flow
};

// Throws what check() throws.
Examination examine(const recipe::Recipe& recipe, const CheckOptions& options = {});

}  // namespace ringwright::support_matrix
