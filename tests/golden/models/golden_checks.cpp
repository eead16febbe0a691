// Tolerances are those of the goldens' own notes: logits 1e-3 (2e-5 is reached), loss 1e-5, gradient norms 1e-4 relative.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <fmt/format.h>
#include <unistd.h>

#include <numeric>

#include "daemon/worker/algorithms/fused_nll.h"
#include "daemon/worker/checkpoint/save.h"
#include "daemon/worker/models/local_attention.h"
#include "daemon/worker/models/rope.h"
#include "shared/layout/packing.h"
#include "tests/golden/models/golden_model.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::golden {
namespace {

using namespace ringwright::worker;

constexpr double kLogitTolerance = 1e-4;
constexpr double kLossTolerance = 1e-5;
constexpr double kGradientTolerance = 1e-4;

void near(Report& report, const std::string& kind, const std::string& name, double difference, double tolerance) {
  report.check(kind, difference <= tolerance, name, fmt::format("difference {:.3g}, allowed {:.3g}", difference, tolerance));
}

void check_rope(const GoldenModel& golden, const LlamaModel& model, Report& report, const std::string& suffix) {
  const at::Tensor& cos_TD = golden.tensors.at("rope.cos");
  const int64_t length = cos_TD.size(0), half = cos_TD.size(1) / 2;
  const RopeTable table = make_rope_table(model.config(), at::arange(length, at::kLong), length);
  const std::string name = golden.folder.filename().string();
  for (int64_t side : {int64_t{0}, half}) {
    near(report, "rope" + suffix, name + " cos", largest_difference(table.cos_Th, cos_TD.narrow(1, side, half)), 1e-5);
    near(report, "rope" + suffix, name + " sin", largest_difference(table.sin_Th, golden.tensors.at("rope.sin").narrow(1, side, half)), 1e-5);
  }
  const auto frequencies = rope_frequencies(model.config(), 0);
  near(report, "rope" + suffix, name + " inv_freq",
       largest_difference(at::tensor(frequencies, at::kDouble), golden.tensors.at("rope.inv_freq_at_load")), 1e-6);
  near(report, "rope" + suffix, name + " attention factor",
       relative_difference(rope_attention_factor(model.config()), golden.numbers.at("rope_attention_factor")), 1e-6);
}

void check_norms(const LlamaModel& model, const nlohmann::json& norms, Report& report, const std::string& kind, const std::string& name) {
  report.check(kind, norms.size() == model.parameters().size(), name + " count");
  for (const auto& [parameter, norm] : norms.items())
    near(report, kind, name + " " + parameter, relative_difference(norm_of(model.parameters().at(parameter).grad()), norm.get<double>()),
         kGradientTolerance);
}

void clear_gradients(const LlamaModel& model) {
  for (const auto& [name, parameter] : model.parameters()) parameter.mutable_grad().reset();
}

std::vector<int64_t> as_vector(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.to(at::kLong).contiguous();
  return {flat.data_ptr<int64_t>(), flat.data_ptr<int64_t>() + flat.numel()};
}

}  // namespace

void check_forward(const GoldenModel& golden, const LlamaModel& model, Report& report, const std::string& suffix) {
  const at::NoGradGuard no_grad;
  const std::string name = golden.folder.filename().string();
  const at::Tensor& ids_BL = golden.tensors.at("input_ids");
  const at::Tensor mask_BL1 = golden.tensors.at("attention_mask").unsqueeze(-1);
  const auto compare = [&](const std::string& what, const at::Tensor& value_BLx, const char* key) {
    near(report, what + suffix, name, largest_difference(value_BLx * mask_BL1, golden.tensors.at(key)), kLogitTolerance);
  };
  at::Tensor first_Td;
  const at::Tensor hidden_BLd = hidden_of(model, ids_BL, [&](int64_t layer, const at::Tensor& x_Td) {
    if (layer == 0) first_Td = x_Td.clone();
  });
  compare("hidden_after_layer0", first_Td.view_as(hidden_BLd), "hidden_after_layer0");
  compare("hidden_final_normed", hidden_BLd, "hidden_final_normed");
  compare("logits", model.logits(hidden_BLd), "logits");
  const MaskedTargets targets = masked_targets(ids_BL, golden.tensors.at("attention_mask"));
  report.check("target_count" + suffix, targets.count == golden.numbers.at("target_count").get<int64_t>(), name);
  const at::Tensor logprobs_BL = token_logprobs(hidden_BLd.flatten(0, 1), model.head_weight(), targets.targets_T).view_as(ids_BL);
  near(report, "token_logprobs" + suffix, name, largest_difference(logprobs_BL.narrow(1, 0, ids_BL.size(1) - 1), golden.tensors.at("token_logprobs")),
       kLogitTolerance);
  check_rope(golden, model, report, suffix);
}

void check_gradients(const GoldenModel& golden, LlamaModel& model, Report& report, const std::string& suffix) {
  const std::string name = golden.folder.filename().string();
  clear_gradients(model);
  const MaskedTargets targets = masked_targets(golden.tensors.at("input_ids"), golden.tensors.at("attention_mask"));
  const at::Tensor hidden_Td = hidden_of(model, golden.tensors.at("input_ids")).flatten(0, 1);
  // Chunks that do not divide the tokens, so that their seams are in the comparison.
  const FusedNll nll = fused_linear_nll(hidden_Td, model.head_weight(), targets.targets_T, targets.weights_T, 40);
  nll.loss.backward();
  near(report, "loss" + suffix, name, std::abs(nll.loss.item<double>() - golden.numbers.at("cross_entropy").get<double>()), kLossTolerance);
  check_norms(model, golden.numbers.at("grad_norms"), report, "grad_norms" + suffix, name);
  near(report, "grad_norm_total" + suffix, name, relative_difference(gradient_norm(model.parameters()), golden.numbers.at("grad_norm_total")),
       kGradientTolerance);
  for (const auto& [key, value] : golden.tensors)
    if (key.starts_with("grad."))
      near(report, "grad" + suffix, name + " " + key, largest_difference(model.parameters().at(key.substr(5)).grad(), value), kGradientTolerance);
  clear_gradients(model);
}

void check_packed(const GoldenModel& golden, LlamaModel& model, Report& report, const std::string& suffix) {
  const std::string name = golden.folder.filename().string();
  const at::Tensor ids_BL = golden.tensors.at("packed.input_ids").to(at::kLong);
  layout::Mask mask;
  mask.document_offsets = as_vector(golden.tensors.at("packed.cu_seqlens"));
  const at::Tensor hidden_BLd = model.forward_hidden(ids_BL, golden.tensors.at("packed.position_ids").to(at::kLong), local_attention, mask);
  near(report, "packed.logits" + suffix, name, largest_difference(model.logits(hidden_BLd.detach()), golden.tensors.at("packed.logits")),
       kLogitTolerance);
  std::vector<int64_t> lengths(mask.document_offsets.size());
  std::adjacent_difference(mask.document_offsets.begin(), mask.document_offsets.end(), lengths.begin());
  lengths.erase(lengths.begin());
  const at::Tensor next_T = at::tensor(layout::next_token_positions(mask.document_offsets, lengths), at::kLong);
  const at::Tensor targets_T = at::where(next_T < 0, next_T, ids_BL.flatten().index_select(0, next_T.clamp_min(0)));
  const int64_t count = (next_T >= 0).sum().item<int64_t>();
  report.check("packed.target_count" + suffix, count == golden.numbers.at("packed").at("target_count").get<int64_t>(), name);
  const at::Tensor weights_T = (next_T >= 0).to(at::kFloat) / static_cast<double>(count);
  const FusedNll nll = fused_linear_nll(hidden_BLd.flatten(0, 1), model.head_weight(), targets_T, weights_T);
  nll.loss.backward();
  near(report, "packed.loss" + suffix, name,
       std::abs(nll.loss.item<double>() - golden.numbers.at("packed").at("loss_mean_over_targets_without_aux").get<double>()), kLossTolerance);
  check_norms(model, golden.numbers.at("packed").at("grad_norms"), report, "packed.grad_norms" + suffix, name);
  clear_gradients(model);
}

void check_greedy(const GoldenModel& golden, const LlamaModel& model, Report& report, const std::string& suffix) {
  const at::NoGradGuard no_grad;
  const at::Tensor wanted_BL = golden.tensors.at("greedy.ids").to(at::kLong);
  at::Tensor ids_BL = wanted_BL.narrow(1, 0, golden.numbers.at("greedy").at("prompt_len").get<int64_t>());
  while (ids_BL.size(1) < wanted_BL.size(1)) {
    const at::Tensor last_BLd = hidden_of(model, ids_BL).narrow(1, ids_BL.size(1) - 1, 1);
    ids_BL = at::cat({ids_BL, model.logits(last_BLd).argmax(-1)}, 1);
  }
  report.check("greedy" + suffix, at::equal(ids_BL, wanted_BL), golden.folder.filename().string(), "other ids");
}

void check_saved(const GoldenModel& golden, Report& report) {
  const std::string name = golden.folder.filename().string();
  const test::TemporaryFolder scratch;
  const LoadedCheckpoint loaded = load_checkpoint(golden.folder, at::kFloat);
  for (const uint64_t shard_bytes_max : {uint64_t{1} << 40, uint64_t{100'000}}) {
    const std::filesystem::path folder = scratch / std::to_string(shard_bytes_max);
    save_checkpoint(folder, loaded.config, loaded.parameters, {shard_bytes_max, loaded.dtypes, golden.folder});
    const LoadedCheckpoint again = load_checkpoint(folder, at::kFloat);
    bool equal = again.parameters.size() == loaded.parameters.size();
    for (const auto& [key, value] : loaded.parameters) equal = equal && at::equal(value, again.parameters.at(key));
    report.check("saved", equal, name, "the tensors differ after saving and loading");
    nlohmann::json described;
    for (const auto& [key, tensor] : model::index_checkpoint(folder)) {
      described[key] = {tensor.entry.dtype};
      for (int64_t size : tensor.entry.shape) described[key].push_back(size);
    }
    report.check("checkpoint_tensors", described == golden.numbers.at("checkpoint_tensors"), name, described.dump().substr(0, 300));
    report.check("saved config", again.config.raw == loaded.config.raw, name);
  }
}

}  // namespace ringwright::golden
