// One recipe as the rows, the path of a step and an estimate look at it: the recipe and its model's config.json are read once for all of them.
#pragma once

#include <optional>
#include <vector>

#include "shared/estimate/estimate.h"
#include "shared/shard_plan/shard_plan.h"
#include "shared/support_matrix/facts.h"
#include "shared/support_matrix/recipe_flow.h"

namespace ringwright::support_matrix {

class Question {
 public:
  // Level 1. With --map megatron the recipe is what Megatron's settings stand for, else `given` itself, which must live on. Throws what read_facts
  // and map_megatron throw.
  Question(const recipe::Recipe& given, const CheckOptions& options);
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;

  const recipe::Recipe& recipe() const { return mapped_ ? *mapped_ : given_; }
  const Facts& facts() const { return facts_; }

  // The model's config.json, where files are looked at and it was not read before.
  void read_model();
  // All levels but the run's, in the order of the rows. Throws what check() throws.
  std::vector<Finding> findings();

 private:
  const recipe::Recipe& given_;
  CheckOptions options_;
  std::optional<recipe::Recipe> mapped_;
  Facts facts_;
  bool model_is_read_ = false;
};

// Of what the question has read. plan_of: nothing where there is none to speak of. The other two throw RW-GUARD-002, and RW-RECIPE-02x for sizes that
// are none; estimate_of gives nothing without a model.
std::optional<shard_plan::ShardPlan> plan_of(const Question& question);
RecipeFlow flow_of(const Question& question, const std::optional<shard_plan::ShardPlan>& plan);
std::optional<estimate::Estimate> estimate_of(const Question& question, const std::optional<shard_plan::ShardPlan>& plan);

}  // namespace ringwright::support_matrix
