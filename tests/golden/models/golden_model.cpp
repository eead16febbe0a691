#include "tests/golden/models/golden_model.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/full_like.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "daemon/worker/algorithms/fused_nll.h"
#include "daemon/worker/models/local_attention.h"
#include "shared/model/json_file.h"
#include "tests/golden/golden_cases.h"

namespace ringwright::golden {

using namespace ringwright::worker;

GoldenModel read_golden_model(const std::filesystem::path& folder) {
  return {folder, read_json(folder / "golden.json"), read_safetensors(folder / "goldens.safetensors")};
}

LlamaModel load_model(const GoldenModel& golden, bool legacy) {
  LoadedCheckpoint loaded = load_checkpoint(golden.folder, at::kFloat);
  if (legacy) loaded.config = model::parse_model_config(read_json(golden.folder / "config.legacy.json"), "config.legacy.json");
  return LlamaModel(std::move(loaded.config), std::move(loaded.parameters));
}

at::Tensor row_positions(const at::Tensor& ids_BL) { return at::arange(ids_BL.size(1), at::kLong).unsqueeze(0).expand_as(ids_BL); }

MaskedTargets masked_targets(const at::Tensor& ids_BL, const at::Tensor& mask_BL) {
  const int64_t length = ids_BL.size(1);
  const at::Tensor ids = ids_BL.to(at::kLong), real = mask_BL.narrow(1, 1, length - 1).to(at::kBool);
  at::Tensor targets_BL = at::full_like(ids, -100);
  targets_BL.narrow(1, 0, length - 1).copy_(ids.narrow(1, 1, length - 1).masked_fill(real.logical_not(), -100));
  MaskedTargets result;
  result.targets_T = targets_BL.reshape(-1);
  result.count = real.sum().item<int64_t>();
  result.weights_T = (result.targets_T >= 0).to(at::kFloat) / static_cast<double>(result.count);
  return result;
}

at::Tensor hidden_of(const LlamaModel& model, const at::Tensor& ids_BL, const LlamaModel::LayerObserver& observer) {
  return model.forward_hidden(ids_BL.to(at::kLong), row_positions(ids_BL), local_attention, {}, 0, observer);
}

double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  return a.numel() == 0 ? 0 : (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

double relative_difference(double a, double b) { return std::abs(a - b) / std::max(std::abs(b), 1e-6); }

double norm_of(const at::Tensor& tensor) { return tensor.defined() ? tensor.detach().to(at::kDouble).norm().item<double>() : 0; }

}  // namespace ringwright::golden
