// One folder of models/: the checkpoint, and what transformers computed with it.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "daemon/worker/algorithms/optimizer.h"
#include "daemon/worker/checkpoint/load.h"
#include "daemon/worker/models/llama_model.h"
#include "shared/model/config.h"
#include "tests/golden/golden_report.h"

namespace ringwright::golden {

struct GoldenModel {
  std::filesystem::path folder;
  nlohmann::json numbers;     // golden.json
  worker::TensorMap tensors;  // goldens.safetensors
};
GoldenModel read_golden_model(const std::filesystem::path& folder);

// `legacy`: config.legacy.json instead of config.json.
worker::LlamaModel load_model(const GoldenModel& golden, bool legacy = false);

// Positions 0..L-1 in each row.
at::Tensor row_positions(const at::Tensor& ids_BL);
// Next-token targets where the token and the next one are real, -100 elsewhere, and 1 / count as weights.
struct MaskedTargets {
  at::Tensor targets_T, weights_T;
  int64_t count = 0;
};
MaskedTargets masked_targets(const at::Tensor& ids_BL, const at::Tensor& mask_BL);
// Hidden states of rows without packing.
at::Tensor hidden_of(const worker::LlamaModel& model, const at::Tensor& ids_BL, const worker::LlamaModel::LayerObserver& observer = {});

double largest_difference(const at::Tensor& a, const at::Tensor& b);
// |a - b| / max(|b|, 1e-6).
double relative_difference(double a, double b);
double norm_of(const at::Tensor& tensor);

// The golden's 50 steps on `model`, which changes; compares with the golden where `report` is given.
void train(const GoldenModel& golden, worker::LlamaModel& model, Report* report, const std::string& suffix);

// The checks by part; `suffix` distinguishes the two configuration dialects in the counts.
void check_forward(const GoldenModel& golden, const worker::LlamaModel& model, Report& report, const std::string& suffix);
void check_packed(const GoldenModel& golden, worker::LlamaModel& model, Report& report, const std::string& suffix);
void check_gradients(const GoldenModel& golden, worker::LlamaModel& model, Report& report, const std::string& suffix);
void check_greedy(const GoldenModel& golden, const worker::LlamaModel& model, Report& report, const std::string& suffix);
void check_saved(const GoldenModel& golden, Report& report);

}  // namespace ringwright::golden
