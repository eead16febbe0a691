#include "shared/support_matrix/recipe_flow.h"

#include <fmt/format.h>

#include "shared/base/rounding.h"
#include "shared/recipe/parallelism.h"
#include "shared/support_matrix/question.h"

namespace ringwright::support_matrix {
namespace {

void require_mesh(const Question& question) {
  const Facts& facts = question.facts();
  const auto refuse = [&](const std::string& what, const std::string& expected, const std::string& action) {
    throw Error({"RW-GUARD-002", what, question.recipe().file.string(), expected, action, ExitCode::refused});
  };
  if (facts.algorithm.empty()) refuse("the recipe has no section of an algorithm, so there is no step", "a section sft, grpo, ...", "add one");
  if (facts.mesh_fault) refuse(facts.mesh_fault->what, facts.mesh_fault->expected, facts.mesh_fault->action);
}

flow::StepSizes sizes_of(const Question& question) {
  const Facts& facts = question.facts();
  const recipe::Typed typed(facts.resolved, [&](const std::string& key) { return recipe::place_of(question.recipe(), key); });
  flow::StepSizes sizes;
  sizes.cp = static_cast<int>(facts.cp), sizes.tp = static_cast<int>(facts.tp), sizes.dp = static_cast<int>(facts.dp);
  sizes.packed = facts.packing;
  sizes.rows = facts.packing ? 1 : facts.micro_batch;
  sizes.length = facts.packing ? facts.pack_tokens : round_up(facts.length, recipe::sequence_length_divisor(typed));
  sizes.padded_length = round_up(sizes.length, facts.document_divisor_needed);
  sizes.hidden = facts.model ? facts.model->hidden_size : 0;
  if (!facts.cp_flavour.empty()) sizes.flavour = facts.cp_flavour;
  if (facts.packing && facts.cp_flavour.empty()) sizes.flavour = "thd";
  if (!facts.cp_method.empty()) sizes.method = facts.cp_method;
  sizes.teachers = facts.teachers;
  sizes.teacher_length = facts.teacher.first_length;
  return sizes;
}

int64_t tokens_per_rank(const Facts& facts) {
  return estimate::tokens_per_rank({.length = facts.length,
                                    .micro_batch = facts.micro_batch,
                                    .pack_tokens = facts.pack_tokens,
                                    .microbatch_tokens = facts.microbatch_tokens,
                                    .cp = static_cast<int>(facts.cp),
                                    .divisor = facts.document_divisor_needed});
}

}  // namespace

std::optional<shard_plan::ShardPlan> plan_of(const Question& question) {
  const Facts& facts = question.facts();
  if (facts.algorithm != "sft" || !facts.shards() || !facts.context_parallel) return std::nullopt;
  try {
    return shard_plan::plan_shards(recipe::sft_config(question.recipe()), *facts.context_parallel);
  } catch (const Error&) {
    return std::nullopt;
  }
}

RecipeFlow flow_of(const Question& question, const std::optional<shard_plan::ShardPlan>& plan) {
  const Facts& facts = question.facts();
  require_mesh(question);
  RecipeFlow flow;
  flow.algorithm = facts.teachers ? "distillation with other tokenizers" : facts.algorithm;
  flow.sizes = sizes_of(question);
  flow.tokens_per_rank = tokens_per_rank(facts);
  if (plan) flow.sizes.flavour = plan->flavour, flow.sizes.method = plan->method;
  if (facts.algorithm == "sft") return flow;
  flow.engine = flow::Engine::automodel_0_6;
  flow.loss = facts.teachers ? flow::LossKind::partitioned : flow::LossKind::replicated;
  flow.note = fmt::format("this version does not train with {}; the path is NeMo RL's with Automodel 0.6", flow.algorithm);
  return flow;
}

std::optional<estimate::Estimate> estimate_of(const Question& question, const std::optional<shard_plan::ShardPlan>& plan) {
  const Facts& facts = question.facts();
  require_mesh(question);
  if (!facts.model) return std::nullopt;
  const std::string method = plan ? plan->method : facts.cp_method;
  return estimate::estimate_step(*facts.model, {.tokens = tokens_per_rank(facts), .cp = static_cast<int>(facts.cp), .method = method});
}

RecipeFlow recipe_flow(const recipe::Recipe& recipe, CheckOptions options) {
  options.machine = Machine{};  // no stage asks for it, and to look it up takes a name server
  Question question(recipe, options);
  question.read_model();
  return flow_of(question, plan_of(question));
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
