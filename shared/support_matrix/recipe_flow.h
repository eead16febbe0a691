// The step that a recipe asks for, as shared/flow describes steps.
#pragma once

#include <string>
#include <vector>

#include "shared/flow/flow.h"
#include "shared/support_matrix/support_matrix.h"

namespace ringwright::support_matrix {

struct RecipeFlow {
  std::string algorithm;
  flow::Engine engine = flow::Engine::ringwright;  // NeMo RL's where this engine does not train with the algorithm
  flow::LossKind loss = flow::LossKind::partitioned;
  flow::StepSizes sizes;
  int64_t tokens_per_rank = 0;  // of the largest microbatch, as the estimate counts them
  std::string note;             // "" or why the path is another engine's
};

// Errors: those of check(), and RW-GUARD-002 (exit code 3) for a recipe whose ranks make no mesh, or that has no algorithm.
RecipeFlow recipe_flow(const recipe::Recipe& recipe, CheckOptions options = {});

struct TargetScale {
  Target target;
  flow::LossScale scale;
};
// The factor between a rank's loss and the batch's gradient, for each target.
std::vector<TargetScale> loss_scales(const RecipeFlow& flow);

}  // namespace ringwright::support_matrix
