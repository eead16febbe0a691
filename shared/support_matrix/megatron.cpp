#include "shared/support_matrix/megatron.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shared/recipe/typed.h"

namespace ringwright::support_matrix {
namespace {

using nlohmann::json;

constexpr const char* kFrom = "policy.megatron_cfg.";
constexpr const char* kTo = "policy.dtensor_cfg.";
// Torch's linear warm-up refuses to start at 0.
constexpr double kWarmUpStartMin = 1e-8;

// A setting that keeps its value under another name.
struct Rename {
  const char *from, *to;
};
constexpr Rename kSizes[] = {{"tensor_model_parallel_size", "tensor_parallel_size"},
                             {"context_parallel_size", "context_parallel_size"},
                             {"expert_model_parallel_size", "expert_parallel_size"},
                             {"sequence_parallel", "sequence_parallel"},
                             {"activation_checkpointing", "activation_checkpointing"}};
constexpr Rename kOptimizer[] = {{"lr", "lr"}, {"weight_decay", "weight_decay"}, {"adam_eps", "eps"}};

class Mapper {
 public:
  explicit Mapper(const recipe::Typed& typed) : typed_(typed) {}

  MegatronMapping map() {
    add("policy.dtensor_cfg.enabled", "true");
    add("policy.dtensor_cfg._v2", "true");
    for (const Rename& size : kSizes)
      if (const json* value = find(std::string(size.from))) keep(kTo + std::string(size.to), size.to, *value);
    map_optimizer();
    map_scheduler();
    refuse_others();
    return std::move(mapping_);
  }

 private:
  // Nothing where there is none, or what JSON's text would make null, which is the default.
  const json* find(const std::string& key) {
    const json* value = typed_.find(kFrom + key);
    if (!value || !value->is_number_float() || std::isfinite(value->get<double>())) return value;
    refuse(key, "it is no finite number", "a number");
    return nullptr;
  }
  double number(const std::string& key, double fallback) {
    const json* value = find(key);
    return value && value->is_number() ? value->get<double>() : fallback;
  }
  std::string text(const std::string& key, const std::string& fallback) const { return typed_.text_or(kFrom + key, fallback); }

  void add(const std::string& key, const std::string& value) { mapping_.changes.push_back({key, value}); }
  void keep(const std::string& key, const std::string& name, const json& value) {
    add(key, value.dump());
    mapping_.summary += fmt::format("{}{} {}", mapping_.summary.empty() ? "" : ", ", name, value.dump());
  }
  void refuse(const std::string& key, const std::string& what, const std::string& fix) {
    if (mapping_.unmapped_key.empty()) mapping_.unmapped_key = kFrom + key, mapping_.unmapped_what = what, mapping_.unmapped_fix = fix;
  }

  void map_optimizer() {
    if (!find("optimizer")) return;
    const std::string name = text("optimizer.optimizer", "adam");
    if (name != "adam")
      refuse("optimizer.optimizer", fmt::format("the optimizer {} has no counterpart here", name), "policy.megatron_cfg.optimizer.optimizer=adam");
    add("policy.optimizer.name", "torch.optim.AdamW");
    for (const Rename& each : kOptimizer)
      if (const json* value = find("optimizer." + std::string(each.from))) keep("policy.optimizer.kwargs." + std::string(each.to), each.to, *value);
    const json *beta1 = find("optimizer.adam_beta1"), *beta2 = find("optimizer.adam_beta2");
    if (beta1 && beta2) keep("policy.optimizer.kwargs.betas", "betas", json::array({*beta1, *beta2}));
    if (const json* clip = find("optimizer.clip_grad")) keep("policy.max_grad_norm", "max_grad_norm", *clip);
  }

  // Constant or cosine, after a linear warm-up.
  void map_scheduler() {
    if (!find("scheduler")) return;
    const std::string style = text("scheduler.lr_decay_style", "constant");
    if (style != "constant" && style != "cosine")
      return refuse("scheduler.lr_decay_style", fmt::format("the decay '{}' has no counterpart here", style),
                    "policy.megatron_cfg.scheduler.lr_decay_style=cosine, or constant");
    const double peak = number("optimizer.lr", 1);
    const double start = std::clamp(number("scheduler.lr_warmup_init", 0) / std::max(peak, 1e-30), kWarmUpStartMin, 1.0);
    json pieces = json::array();
    const int64_t steps = typed_.integer(kFrom + std::string("scheduler.lr_warmup_iters"), 0, 0);
    if (steps > 0)
      pieces.push_back(
          {{"name", "torch.optim.lr_scheduler.LinearLR"}, {"kwargs", {{"start_factor", start}, {"end_factor", 1.0}, {"total_iters", steps}}}});
    const int64_t decay = typed_.integer(kFrom + std::string("scheduler.lr_decay_iters"), 0, 0) - steps;
    if (style == "cosine" && decay > 0)
      pieces.push_back(
          {{"name", "torch.optim.lr_scheduler.CosineAnnealingLR"}, {"kwargs", {{"T_max", decay}, {"eta_min", number("optimizer.min_lr", 0)}}}});
    else
      pieces.push_back({{"name", "torch.optim.lr_scheduler.ConstantLR"}, {"kwargs", {{"factor", 1.0}, {"total_iters", 1}}}});
    if (steps > 0) pieces.push_back({{"milestones", json::array({steps})}});
    add("policy.scheduler", pieces.dump());
    mapping_.summary += fmt::format(", schedule {} after {} steps of warm-up", style, steps);
  }

  void refuse_others() {
    if (number("expert_tensor_parallel_size", 1) > 1)
      refuse("expert_tensor_parallel_size", "experts that are split over tensor ranks have no counterpart here",
             "policy.megatron_cfg.expert_tensor_parallel_size=1");
    const double weight_decay = number("optimizer.weight_decay", 0);
    for (const char* end : {"scheduler.start_weight_decay", "scheduler.end_weight_decay"})
      if (number(end, weight_decay) != weight_decay)
        refuse(end, "a weight decay that changes during the run has no counterpart here",
               fmt::format("policy.megatron_cfg.{}={}", end, weight_decay));
  }

  const recipe::Typed& typed_;
  MegatronMapping mapping_;
};

void write(nlohmann::ordered_json& root, const std::string& key, const std::string& value) {
  nlohmann::ordered_json* node = &root;
  for (size_t begin = 0; begin <= key.size();) {
    const size_t end = std::min(key.find('.', begin), key.size());
    if (!node->is_object()) *node = nlohmann::ordered_json::object();
    node = &(*node)[key.substr(begin, end - begin)];
    begin = end + 1;
  }
  const auto parsed = nlohmann::ordered_json::parse(value, nullptr, false);
  *node = parsed.is_discarded() ? nlohmann::ordered_json(value) : parsed;
}

}  // namespace

bool reads_megatron(const recipe::Typed& typed) { return typed.is_true(kFrom + std::string("enabled")); }

MegatronMapping map_megatron(const recipe::Typed& typed) { return Mapper(typed).map(); }

recipe::Recipe as_checked(const recipe::Recipe& recipe, const CheckOptions& options) {
  const json resolved = options.map_megatron ? json(recipe.resolved) : json();
  const recipe::Typed typed(resolved, [&](const std::string& key) { return recipe::place_of(recipe, key); });
  recipe::Recipe asked = recipe;
  if (reads_megatron(typed)) apply_mapping(map_megatron(typed), asked.resolved);
  return asked;
}

void apply_mapping(const MegatronMapping& mapping, nlohmann::ordered_json& resolved) {
  for (const Change& change : mapping.changes) write(resolved, change.key, change.value);
}

}  // namespace ringwright::support_matrix
