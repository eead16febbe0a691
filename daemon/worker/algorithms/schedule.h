// Learning rates as torch.optim.lr_scheduler gives them: LinearLR, CosineAnnealingLR, ConstantLR, joined by SequentialLR's milestones.
#pragma once

#include <cstdint>
#include <vector>

#include "shared/recipe/recipe.h"

namespace ringwright::worker {

class LearningRateSchedule {
 public:
  // Without pieces the rate is constant. One milestone less than pieces, rising. Throws Error RW-ALGO-001 for a piece of another name or a
  // length that is not positive, RW-ALGO-002 for milestones that do not fit.
  LearningRateSchedule(double base_lr, std::vector<recipe::SchedulerPiece> pieces, std::vector<int64_t> milestones);
  // The rate of step 0, 1, ...
  double at(int64_t step) const;
  // The schedule's shape stays, with another rate at its base.
  void set_base(double base_lr) { base_lr_ = base_lr; }

 private:
  double base_lr_;
  std::vector<recipe::SchedulerPiece> pieces_;
  std::vector<int64_t> milestones_;
};

}  // namespace ringwright::worker
