// The step that a recipe asks for, as shared/flow describes steps.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shared/estimate/estimate.h"
#include "shared/flow/flow.h"
#include "shared/shard_plan/shard_plan.h"
#include "shared/support_matrix/support_matrix.h"

namespace ringwright::support_matrix {

struct RecipeFlow {
  std::string algorithm;
  flow::Engine engine = flow::Engine::ringwright;  // NeMo RL's where this engine does not train with the algorithm
  flow::LossKind loss = flow::LossKind::partitioned;
  flow::StepSizes sizes;
  int64_t tokens_per_rank = 0;  // of the largest microbatch, as recipe_estimate counts them
  std::string note;             // "" or why the path is another engine's
};

// Errors: those of check(), and RW-GUARD-002 (exit code 3) for a recipe whose ranks make no mesh, or that has no algorithm.
RecipeFlow recipe_flow(const recipe::Recipe& recipe, const CheckOptions& options = {});

// How a supervised run would spread its batch over context ranks, and why; nothing at one rank, where the model's config.json is not looked at or not
// at hand, or where a row of the matrix says why it cannot. Errors: those of check().
std::optional<shard_plan::ShardPlan> recipe_shard_plan(const recipe::Recipe& recipe, const CheckOptions& options = {});

// Memory of each of this engine's ranks and of a checkpoint; nothing where the model's config.json is not at hand, or is of a family that is not
// trained here. Errors: those of recipe_flow.
std::optional<estimate::Estimate> recipe_estimate(const recipe::Recipe& recipe, const CheckOptions& options = {});

struct TargetScale {
  Target target;
  flow::LossScale scale;
};
// The factor between a rank's loss and the batch's gradient, for each target.
std::vector<TargetScale> loss_scales(const RecipeFlow& flow);

}  // namespace ringwright::support_matrix
