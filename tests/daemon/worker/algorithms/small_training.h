// A small model with a trainer of its own, and rows to train on.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "daemon/worker/algorithms/sft_trainer.h"
#include "daemon/worker/checkpoint/load.h"

namespace ringwright::worker {

inline recipe::SftConfig small_config() {
  recipe::SftConfig config;
  config.train_micro_batch_size = 2;
  config.val_micro_batch_size = 3;
  config.optimizer.lr = 1e-3;
  return config;
}

// Packs of `pack_tokens` slots; every mesh up to cp = 4 makes the same ones.
inline recipe::SftConfig packed_config(int64_t pack_tokens = 64) {
  recipe::SftConfig config = small_config();
  config.packing.enabled = true;
  config.packing.pack_tokens = pack_tokens;
  config.packing.document_divisor = 8;
  return config;
}

inline const std::filesystem::path kModels = std::filesystem::path(RINGWRIGHT_SOURCE_DIR) / "tests/goldens/models";
inline const std::filesystem::path kModel = kModels / "llama-base-untied";

// Deterministic rows of the given lengths; every third token is not trained on.
inline std::vector<Row> make_rows(const std::vector<int64_t>& lengths, int64_t vocab_size = 512, uint64_t state = 1) {
  std::vector<Row> rows;
  for (const int64_t length : lengths) {
    Row row;
    for (int64_t t = 0; t < length; ++t) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      row.ids.push_back(static_cast<int64_t>((state >> 33) % static_cast<uint64_t>(vocab_size)));
      row.trained.push_back(t % 3 != 2);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

inline std::vector<const Row*> pointers(const std::vector<Row>& rows) {
  std::vector<const Row*> result;
  for (const Row& row : rows) result.push_back(&row);
  return result;
}

inline SftTrainerOptions options_of(const std::string& flavour, DataParallelGroups data_parallel = {}) {
  SftTrainerOptions options;
  options.cp_flavour = flavour;
  options.data_parallel = std::move(data_parallel);
  return options;
}

// A model with a trainer of its own, over one rank, a CP group, or all groups of a mesh.
struct Training {
  Training(const ProcessGroup& cp_group, at::ScalarType type, const recipe::SftConfig& config, SftTrainerOptions options = {})
      : checkpoint(load_checkpoint(kModel, type)),
        model(checkpoint.config, checkpoint.parameters),
        trainer(model, config, cp_group, std::move(options)) {}
  Training(const ProcessGroups& ranks, at::ScalarType type, const std::string& flavour = "round_robin")
      : Training(ranks.group("cp"), type, flavour, {ranks.group("dp"), ranks.group("dp_cp")}) {}
  Training(const ProcessGroup& cp_group, at::ScalarType type, const std::string& flavour = "round_robin", DataParallelGroups data_parallel = {})
      : Training(cp_group, type, small_config(), options_of(flavour, std::move(data_parallel))) {}

  LoadedCheckpoint checkpoint;
  LlamaModel model;
  SftTrainer trainer;
};

inline double largest_relative_difference(const LlamaModel& a, const LlamaModel& b) {
  double largest = 0;
  for (const auto& [name, parameter] : a.parameters()) {
    const at::Tensor expected = b.parameters().at(name).grad();
    const double scale = std::max(expected.abs().max().item<double>(), 1e-12);
    largest = std::max(largest, (parameter.grad() - expected).abs().max().item<double>() / scale);
  }
  return largest;
}

}  // namespace ringwright::worker
