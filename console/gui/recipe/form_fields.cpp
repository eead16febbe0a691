#include "console/gui/recipe/form_fields.h"

#include <fmt/format.h>

#include <array>

#include "console/gui/recipe/completion.h"
#include "console/gui/recipe/line_ends.h"

namespace ringwright::gui {
namespace {

constexpr std::array<FormField, 23> kFields = {{
    {"Model", "policy.model_name", "model", FieldKind::text},
    {"Model", "policy.precision", "precision", FieldKind::words},
    {"Batch", "policy.max_total_sequence_length", "sequence length", FieldKind::number},
    {"Batch", "policy.train_global_batch_size", "global batch", FieldKind::number},
    {"Batch", "policy.train_micro_batch_size", "micro batch", FieldKind::number},
    {"Batch", "policy.sequence_packing.enabled", "sequence packing", FieldKind::words},
    {"Batch", "policy.sequence_packing.train_mb_tokens", "tokens of a pack", FieldKind::number},
    {"Batch", "policy.dynamic_batching.enabled", "dynamic batching", FieldKind::words},
    {"Parallelism", "cluster.num_nodes", "nodes", FieldKind::number},
    {"Parallelism", "cluster.gpus_per_node", "ranks a node", FieldKind::number},
    {"Parallelism", "policy.dtensor_cfg.context_parallel_size", "context parallel", FieldKind::number},
    {"Parallelism", "policy.dtensor_cfg.tensor_parallel_size", "tensor parallel", FieldKind::number},
    {"Parallelism", "ringwright.cp.flavour", "cp flavour", FieldKind::words},
    {"Parallelism", "ringwright.cp.method", "cp method", FieldKind::words},
    {"Training", "{algorithm}.max_num_steps", "steps", FieldKind::number},
    {"Training", "{algorithm}.val_period", "validate every", FieldKind::number},
    {"Training", "{algorithm}.seed", "seed", FieldKind::number},
    {"Training", "policy.optimizer.kwargs.lr", "learning rate", FieldKind::number},
    {"Training", "policy.optimizer.kwargs.weight_decay", "weight decay", FieldKind::number},
    {"Training", "policy.max_grad_norm", "gradient norm", FieldKind::number},
    {"Data and checkpoints", "data.train.dataset_name", "data", FieldKind::text},
    {"Data and checkpoints", "checkpointing.enabled", "checkpoints", FieldKind::words},
    {"Data and checkpoints", "checkpointing.save_period", "save every", FieldKind::number},
}};

}  // namespace

std::span<const FormField> form_fields() { return kFields; }

FieldValue field_value(const FormField& field, const CheckedRecipe& checked) {
  constexpr std::string_view kAlgorithm = "{algorithm}";
  FieldValue result;
  result.key = field.key;
  const auto& flow = checked.examination.flow;
  const bool named = flow && checked.recipe->resolved.contains(flow->algorithm);
  if (result.key.starts_with(kAlgorithm)) result.key.replace(0, kAlgorithm.size(), named ? flow->algorithm : "sft");
  result.value = value_text(*checked.recipe, result.key);
  if (field.kind == FieldKind::words) result.words = words_of(result.key);
  const recipe::Origin origin = recipe::find_origin(*checked.recipe, result.key);
  if (origin.line <= 0)
    result.origin = "not set";
  else if (origin.file != checked.recipe->file.string())
    result.origin = fmt::format("{}:{}", std::filesystem::path(origin.file).filename().string(), origin.line);
  return result;
}

}  // namespace ringwright::gui
