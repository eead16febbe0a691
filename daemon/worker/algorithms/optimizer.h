// AdamW and clipping as torch.optim.AdamW and torch.nn.utils.clip_grad_norm_ compute them (PyTorch 2.11; Loshchilov and Hutter, arXiv 1711.05101).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>

#include "daemon/worker/checkpoint/load.h"
#include "shared/recipe/recipe.h"

namespace ringwright::worker {

// The 2-norm over all gradients; each tensor of the map counts once, so a tied one is not counted twice. NaN and infinity show in the result.
// Parameters without a gradient count as zero.
double gradient_norm(const TensorMap& parameters);
// min(1, norm_max / (norm + 1e-6)); 1 where norm_max is 0 (no clipping).
double clip_coefficient(double norm, double norm_max);

class AdamW {
 public:
  // Keeps the tensors, not copies of them. config.lr is not used: the schedule gives each step its own.
  AdamW(TensorMap parameters, const recipe::OptimizerConfig& config);

  // One update from each parameter's grad(), multiplied by `grad_scale` (the clip coefficient) on the way: the gradients themselves stay as they are.
  // Parameters without a gradient are left alone.
  void step(double lr, double grad_scale = 1);
  // Frees all gradients.
  void zero_grad();
  int64_t step_count() const { return step_count_; }
  void set_weight_decay(double weight_decay) { config_.weight_decay = weight_decay; }

 private:
  struct Moments {
    at::Tensor mean, square;
  };
  TensorMap parameters_;
  std::map<std::string, Moments> moments_;
  recipe::OptimizerConfig config_;
  int64_t step_count_ = 0;
};

}  // namespace ringwright::worker
