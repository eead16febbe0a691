#include "shared/support_matrix/megatron.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "shared/recipe/typed.h"

namespace ringwright::support_matrix {
namespace {

using nlohmann::json;

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
  Mapper(const recipe::Typed& typed, const std::string& model) : typed_(typed), model_(model + "."), from_(model_ + "megatron_cfg.") {
    mapping_.model = model;
  }

  MegatronMapping map() {
    add("dtensor_cfg.enabled", true, "enabled");
    add("dtensor_cfg._v2", true, "enabled");
    for (const Rename& size : kSizes)
      if (const json* value = find(std::string(size.from))) keep(std::string("dtensor_cfg.") + size.to, size.to, *value, size.from);
    map_optimizer();
    map_scheduler();
    refuse_others();
    return std::move(mapping_);
  }

 private:
  // Nothing where there is none, or what JSON's text would make null, which is the default.
  const json* find(const std::string& key) {
    const json* value = typed_.find(from_ + key);
    if (!value || !value->is_number_float() || std::isfinite(value->get<double>())) return value;
    refuse(key, "it is no finite number", "a number");
    return nullptr;
  }
  double number(const std::string& key, double fallback) {
    const json* value = find(key);
    return value && value->is_number() ? value->get<double>() : fallback;
  }
  std::string text(const std::string& key, const std::string& fallback) const { return typed_.text_or(from_ + key, fallback); }

  void add(const std::string& key, json value, const std::string& source) {
    mapping_.settings.push_back({model_ + key, std::move(value), from_ + source});
  }
  void keep(const std::string& key, const std::string& name, const json& value, const std::string& source) {
    add(key, value, source);
    mapping_.summary += fmt::format("{}{} {}", mapping_.summary.empty() ? "" : ", ", name, value.dump());
  }
  void refuse(const std::string& key, const std::string& what, const std::string& fix) {
    if (mapping_.unmapped_key.empty()) mapping_.unmapped_key = from_ + key, mapping_.unmapped_what = what, mapping_.unmapped_fix = fix;
  }

  void map_optimizer() {
    if (!find("optimizer")) return;
    const std::string name = text("optimizer.optimizer", "adam");
    if (name != "adam")
      refuse("optimizer.optimizer", fmt::format("the optimizer {} has no counterpart here", name), from_ + "optimizer.optimizer=adam");
    add("optimizer.name", "torch.optim.AdamW", "optimizer");
    for (const Rename& each : kOptimizer)
      if (const std::string from = std::string("optimizer.") + each.from; const json* value = find(from))
        keep(std::string("optimizer.kwargs.") + each.to, each.to, *value, from);
    const json *beta1 = find("optimizer.adam_beta1"), *beta2 = find("optimizer.adam_beta2");
    if (beta1 && beta2) keep("optimizer.kwargs.betas", "betas", json::array({*beta1, *beta2}), "optimizer.adam_beta1");
    if (const json* clip = find("optimizer.clip_grad")) keep("max_grad_norm", "max_grad_norm", *clip, "optimizer.clip_grad");
  }

  // Constant or cosine, after a linear warm-up.
  void map_scheduler() {
    if (!find("scheduler")) return;
    const std::string style = text("scheduler.lr_decay_style", "constant");
    if (style != "constant" && style != "cosine")
      return refuse("scheduler.lr_decay_style", fmt::format("the decay '{}' has no counterpart here", style),
                    from_ + "scheduler.lr_decay_style=cosine, or constant");
    const double peak = number("optimizer.lr", 1);
    const double start = std::clamp(number("scheduler.lr_warmup_init", 0) / std::max(peak, 1e-30), kWarmUpStartMin, 1.0);
    json pieces = json::array();
    const int64_t steps = typed_.integer(from_ + "scheduler.lr_warmup_iters", 0, 0);
    if (steps > 0)
      pieces.push_back(
          {{"name", "torch.optim.lr_scheduler.LinearLR"}, {"kwargs", {{"start_factor", start}, {"end_factor", 1.0}, {"total_iters", steps}}}});
    const int64_t decay = typed_.integer(from_ + "scheduler.lr_decay_iters", 0, 0) - steps;
    if (style == "cosine" && decay > 0)
      pieces.push_back(
          {{"name", "torch.optim.lr_scheduler.CosineAnnealingLR"}, {"kwargs", {{"T_max", decay}, {"eta_min", number("optimizer.min_lr", 0)}}}});
    else
      pieces.push_back({{"name", "torch.optim.lr_scheduler.ConstantLR"}, {"kwargs", {{"factor", 1.0}, {"total_iters", 1}}}});
    if (steps > 0) pieces.push_back({{"milestones", json::array({steps})}});
    add("scheduler", std::move(pieces), "scheduler");
    mapping_.summary += fmt::format(", schedule {} after {} steps of warm-up", style, steps);
  }

  void refuse_others() {
    if (number("expert_tensor_parallel_size", 1) > 1)
      refuse("expert_tensor_parallel_size", "experts that are split over tensor ranks have no counterpart here",
             from_ + "expert_tensor_parallel_size=1");
    const double weight_decay = number("optimizer.weight_decay", 0);
    for (const char* end : {"scheduler.start_weight_decay", "scheduler.end_weight_decay"})
      if (number(end, weight_decay) != weight_decay)
        refuse(end, "a weight decay that changes during the run has no counterpart here", fmt::format("{}{}={}", from_, end, weight_decay));
  }

  const recipe::Typed& typed_;
  const std::string model_, from_;  // "policy.", "policy.megatron_cfg."
  MegatronMapping mapping_;
};

void write(nlohmann::ordered_json& root, const std::string& key, const json& value) {
  nlohmann::ordered_json* node = &root;
  for (size_t begin = 0; begin <= key.size();) {
    const size_t end = std::min(key.find('.', begin), key.size());
    if (!node->is_object()) *node = nlohmann::ordered_json::object();
    node = &(*node)[key.substr(begin, end - begin)];
    begin = end + 1;
  }
  *node = value;
}

void place_at(const std::string& key, const recipe::Origin& origin, recipe::Recipe& recipe) {
  std::erase_if(recipe.origins, [&](const auto& entry) { return entry.first.starts_with(key + "."); });
  recipe.origins[key] = origin;
}

// "torch.optim.AdamW" can be read as nothing else; "true" and "1e-5" could.
bool is_dotted_name(const std::string& text) {
  return std::isalpha(static_cast<unsigned char>(text.front())) != 0 && text.find('.') != std::string::npos &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; });
}

std::string hydra_word(const std::string& text) {
  if (!text.empty() && is_dotted_name(text)) return text;
  std::string quoted = "'";
  for (size_t i = 0; i < text.size(); ++i) {
    // Backslashes count only before a quote.
    const size_t end = std::min(text.find_first_not_of('\\', i), text.size());
    const bool before_quote = end == text.size() || text[end] == '\'';
    quoted.append(before_quote ? 2 * (end - i) : end - i, '\\');
    if (end < text.size()) quoted += text[end] == '\'' ? "\\'" : std::string(1, text[end]);
    i = end;
  }
  return quoted + "'";
}

// A value in Hydra's grammar: the keys of a map stand there without quotes.
std::string hydra_text(const json& value) {
  std::vector<std::string> parts;
  if (value.is_array())
    for (const json& item : value) parts.push_back(hydra_text(item));
  if (value.is_object())
    for (const auto& [key, item] : value.items()) parts.push_back(fmt::format("{}:{}", key, hydra_text(item)));
  if (value.is_array()) return fmt::format("[{}]", fmt::join(parts, ","));
  if (value.is_object()) return fmt::format("{{{}}}", fmt::join(parts, ","));
  return value.is_string() ? hydra_word(value.get<std::string>()) : value.dump();
}

}  // namespace

bool reads_megatron(const recipe::Typed& typed, const std::string& model) { return typed.is_true(model + ".megatron_cfg.enabled"); }

MegatronMapping map_megatron(const recipe::Typed& typed, const std::string& model) { return Mapper(typed, model).map(); }

namespace {

std::vector<MegatronMapping> mappings_of(const recipe::Recipe& recipe) {
  const json resolved = recipe.resolved;
  const recipe::Typed typed(resolved, [&](const std::string& key) { return recipe::place_of(recipe, key); });
  std::vector<MegatronMapping> mappings;
  for (const char* model : {"policy", "value", "teacher"})
    if (reads_megatron(typed, model)) mappings.push_back(map_megatron(typed, model));
  return mappings;
}

}  // namespace

void apply_mapping(const MegatronMapping& mapping, nlohmann::ordered_json& resolved) {
  for (const MappedSetting& setting : mapping.settings) write(resolved, setting.key, setting.value);
}

std::optional<recipe::Recipe> as_mapped(const recipe::Recipe& recipe) {
  const std::vector<MegatronMapping> mappings = mappings_of(recipe);
  if (mappings.empty()) return std::nullopt;
  recipe::Recipe mapped = recipe;
  for (const MegatronMapping& mapping : mappings) {
    apply_mapping(mapping, mapped.resolved);
    for (const MappedSetting& setting : mapping.settings) place_at(setting.key, recipe::find_origin(recipe, setting.source), mapped);
  }
  return mapped;
}

std::optional<recipe::Recipe> as_run(const recipe::Recipe& recipe) {
  std::optional<recipe::Recipe> mapped = as_mapped(recipe);
  if (!mapped) return std::nullopt;
  for (const MegatronMapping& mapping : mappings_of(recipe)) {
    write(mapped->resolved, mapping.model + ".megatron_cfg.enabled", false);
    const std::vector<std::string> overrides = mapping_overrides(mapping);
    mapped->overrides.insert(mapped->overrides.end(), overrides.begin(), overrides.end());
  }
  return mapped;
}

std::string as_override(const MappedSetting& setting) { return "++" + setting.key + "=" + hydra_text(setting.value); }

std::vector<std::string> mapping_overrides(const MegatronMapping& mapping) {
  std::vector<std::string> overrides = {fmt::format("{}.megatron_cfg.enabled=false", mapping.model)};
  for (const MappedSetting& setting : mapping.settings) overrides.push_back(as_override(setting));
  return overrides;
}

}  // namespace ringwright::support_matrix
