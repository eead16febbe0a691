#include "daemon/worker/algorithms/schedule.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <string>

#include "shared/base/error.h"

namespace ringwright::worker {
namespace {

using recipe::SchedulerPiece;

double linear(const SchedulerPiece& piece, double base_lr, int64_t step) {
  const double done = static_cast<double>(std::min(step, piece.total_iters)) / static_cast<double>(piece.total_iters);
  return base_lr * (piece.start_factor + (piece.end_factor - piece.start_factor) * done);
}

// Past t_max the cosine goes on, up again and down again, as in torch.
double cosine(const SchedulerPiece& piece, double base_lr, int64_t step) {
  const double angle = std::numbers::pi * static_cast<double>(step) / static_cast<double>(piece.t_max);
  return piece.eta_min + (base_lr - piece.eta_min) * (1 + std::cos(angle)) / 2;
}

double constant(const SchedulerPiece& piece, double base_lr, int64_t step) { return step < piece.total_iters ? base_lr * piece.factor : base_lr; }

struct Kind {
  double (*rate)(const SchedulerPiece&, double, int64_t);
  int64_t SchedulerPiece::* length;
  int64_t length_min;
  const char* length_key;
};
const std::map<std::string, Kind> kKinds = {{"LinearLR", {linear, &SchedulerPiece::total_iters, 1, "total_iters"}},
                                            {"CosineAnnealingLR", {cosine, &SchedulerPiece::t_max, 1, "T_max"}},
                                            {"ConstantLR", {constant, &SchedulerPiece::total_iters, 0, "total_iters"}}};

// A recipe names classes in full: torch.optim.lr_scheduler.LinearLR.
std::string short_name(const std::string& name) { return name.substr(name.rfind('.') + 1); }

void check_piece(const SchedulerPiece& piece) {
  const auto kind = kKinds.find(short_name(piece.name));
  if (kind == kKinds.end())
    throw Error({"RW-ALGO-001", "the scheduler '" + piece.name + "' is not supported", "policy.scheduler",
                 "LinearLR, CosineAnnealingLR or ConstantLR", "choose one of these", ExitCode::refused});
  if (const int64_t length = piece.*(kind->second.length); length < kind->second.length_min)
    throw Error({"RW-ALGO-001", "the scheduler " + piece.name + " has " + kind->second.length_key + " " + std::to_string(length), "policy.scheduler",
                 "at least " + std::to_string(kind->second.length_min), "correct " + std::string(kind->second.length_key), ExitCode::refused});
}

}  // namespace

LearningRateSchedule::LearningRateSchedule(double base_lr, std::vector<SchedulerPiece> pieces, std::vector<int64_t> milestones)
    : base_lr_(base_lr), pieces_(std::move(pieces)), milestones_(std::move(milestones)) {
  for (SchedulerPiece& piece : pieces_) check_piece(piece), piece.name = short_name(piece.name);
  const bool rising = std::is_sorted(milestones_.begin(), milestones_.end()) && (milestones_.empty() || milestones_.front() > 0);
  if (milestones_.size() + 1 != std::max<size_t>(1, pieces_.size()) || !rising)
    throw Error({"RW-ALGO-002", std::to_string(milestones_.size()) + " milestones for " + std::to_string(pieces_.size()) + " schedulers",
                 "policy.scheduler: milestones", "one milestone less than schedulers, rising", "correct the milestones", ExitCode::refused});
}

double LearningRateSchedule::at(int64_t step) const {
  if (pieces_.empty()) return base_lr_;
  const auto piece = std::upper_bound(milestones_.begin(), milestones_.end(), step) - milestones_.begin();
  const int64_t start = piece == 0 ? 0 : milestones_[static_cast<size_t>(piece) - 1];
  const SchedulerPiece& active = pieces_[static_cast<size_t>(piece)];
  return kKinds.at(active.name).rate(active, base_lr_, step - start);
}

}  // namespace ringwright::worker
