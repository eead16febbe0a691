#include "shared/support_matrix/recipe_flow.h"

#include <fmt/format.h>

#include <algorithm>

#include "shared/model/context_parallel.h"
#include "shared/shard_plan/shard_plan.h"
#include "shared/support_matrix/facts.h"

namespace ringwright::support_matrix {
namespace {

void require_mesh(const recipe::Recipe& recipe, const Facts& facts) {
  const auto refuse = [&](const std::string& what, const std::string& expected, const std::string& action) {
    throw Error({"RW-GUARD-002", what, recipe.file.string(), expected, action, ExitCode::refused});
  };
  if (facts.algorithm.empty()) refuse("the recipe has no section of an algorithm, so there is no step", "a section sft, grpo, ...", "add one");
  if (facts.mesh_fault) refuse(facts.mesh_fault->what, facts.mesh_fault->expected, facts.mesh_fault->action);
}

// How the worker would spread the batch; empty where the model is not at hand, or a row of the matrix says why it cannot.
std::optional<shard_plan::ShardPlan> plan_of(const recipe::Recipe& recipe, const Facts& facts) {
  if (facts.algorithm != "sft" || facts.cp == 1 || !facts.model_folder) return std::nullopt;
  try {
    return shard_plan::plan_shards(recipe::sft_config(recipe), model::read_context_parallel_config(*facts.model_folder));
  } catch (const Error&) {
    return std::nullopt;
  }
}

flow::StepSizes sizes_of(const Facts& facts) {
  const auto round_up = [](int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; };
  const auto row_multiple = static_cast<int64_t>(std::clamp(facts.number("policy.make_sequence_length_divisible_by", 1), 1.0, 1e9));
  flow::StepSizes sizes;
  sizes.cp = static_cast<int>(facts.cp), sizes.tp = static_cast<int>(facts.tp), sizes.dp = static_cast<int>(facts.dp);
  sizes.packed = facts.packing;
  sizes.rows = facts.packing ? 1 : facts.micro_batch;
  sizes.length = facts.packing ? facts.pack_tokens : round_up(facts.length, row_multiple);
  sizes.padded_length = round_up(sizes.length, facts.document_divisor_needed);
  sizes.vocabulary = facts.vocab_size;
  sizes.hidden = facts.model ? facts.model->hidden_size : 0;
  if (!facts.cp_flavour.empty()) sizes.flavour = facts.cp_flavour;
  if (facts.packing && facts.cp_flavour.empty()) sizes.flavour = "thd";
  if (!facts.cp_method.empty()) sizes.method = facts.cp_method;
  sizes.teachers = facts.teachers;
  sizes.teacher_length = static_cast<int64_t>(facts.number("teachers.0.max_total_sequence_length", 0));
  return sizes;
}

}  // namespace

RecipeFlow recipe_flow(const recipe::Recipe& recipe, const CheckOptions& options) {
  Facts facts = read_facts(recipe, options);
  require_mesh(recipe, facts);
  if (options.look_at_files) read_files(recipe, options, facts);
  RecipeFlow flow;
  flow.algorithm = facts.teachers ? "distillation with other tokenizers" : facts.algorithm;
  flow.sizes = sizes_of(facts);
  if (const auto plan = plan_of(recipe, facts)) flow.sizes.flavour = plan->flavour, flow.sizes.method = plan->method;
  if (facts.algorithm == "sft") return flow;
  flow.engine = flow::Engine::automodel_0_6;
  flow.loss = facts.teachers ? flow::LossKind::partitioned : flow::LossKind::replicated;
  flow.note = fmt::format("this version does not train with {}; the path is NeMo RL's with Automodel 0.6", flow.algorithm);
  return flow;
}

std::optional<estimate::Estimate> recipe_estimate(const recipe::Recipe& recipe, const CheckOptions& options) {
  Facts facts = read_facts(recipe, options);
  require_mesh(recipe, facts);
  read_files(recipe, options, facts);
  if (!facts.model) return std::nullopt;
  const estimate::BatchShape batch{.length = facts.length,
                                   .micro_batch = facts.micro_batch,
                                   .pack_tokens = facts.pack_tokens,
                                   .microbatch_tokens = facts.microbatch_tokens,
                                   .cp = static_cast<int>(facts.cp),
                                   .divisor = facts.document_divisor_needed};
  const auto plan = plan_of(recipe, facts);
  const std::string method = plan ? plan->method : facts.cp_method;
  return estimate::estimate_step(*facts.model, {.tokens = estimate::tokens_per_rank(batch), .cp = static_cast<int>(facts.cp), .method = method});
}

std::vector<TargetScale> loss_scales(const RecipeFlow& flow) {
  // NeMo RL's supervised loss is one of those that every context rank evaluates whole.
  const bool partitioned = flow.sizes.teachers;
  const flow::LossKind theirs = partitioned ? flow::LossKind::partitioned : flow::LossKind::replicated;
  const int dp = flow.sizes.dp, cp = flow.sizes.cp;
  return {{Target::automodel_0_4, flow::loss_scale(flow::Engine::automodel_0_4, theirs, dp, cp)},
          {Target::automodel_0_6, flow::loss_scale(flow::Engine::automodel_0_6, theirs, dp, cp)},
          {Target::ringwright, flow::loss_scale(flow::Engine::ringwright, flow::LossKind::partitioned, dp, cp)}};
}

}  // namespace ringwright::support_matrix
